import { type CSSProperties, useEffect, useId, useRef, useState } from 'react';
import { useWords } from '../words/speech.ts';
import { textOf, toneOf } from './arrow-text.ts';
import { type Arrow, type Chapter, endReasonIn, lanes } from './sequence.ts';

/**
 * A request with everything that it has caused, or lines of a stream. Pressing a line shows the content that was sent.
 */
export function ChapterView({ chapter }: { readonly chapter: Chapter }) {
  const { owner, arrows, requestId } = chapter;
  const isStream = requestId.startsWith('stream-');
  const [opened, setOpened] = useState<string>();
  return (
    <ol className={`chapter ${owner ?? 'others'}`}>
      {!isStream && <li className="request-id">{requestId}</li>}
      {arrows.map((arrow) => (
        <ArrowView
          key={arrow.id}
          arrow={arrow}
          chapter={chapter}
          isOpened={arrow.id === opened}
          onPress={() => setOpened(arrow.id === opened ? undefined : arrow.id)}
        />
      ))}
    </ol>
  );
}

interface ArrowProps {
  readonly arrow: Arrow;
  readonly chapter: Chapter;
  readonly isOpened: boolean;
  readonly onPress: () => void;
}

function ArrowView({ arrow, chapter, isOpened, onPress }: ArrowProps) {
  const words = useWords();
  const id = useId();
  const content = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isOpened) content.current?.scrollIntoView({ block: 'nearest' });
  }, [isOpened]);
  const { from, to, saying, durationMs } = arrow;
  const [start, end] = [lanes.indexOf(from), lanes.indexOf(to)];
  const [left, right] = [Math.min(start, end), Math.max(start, end)];
  const style = { '--left': left + 1, '--right': right + 2, '--span': right - left + 1 } as CSSProperties;
  const direction = ['leftward', 'here', 'rightward'][Math.sign(end - start) + 1];
  const endReason = endReasonIn(chapter);
  return (
    <li>
      <button
        type="button"
        // The picture has one stop for Tab. The arrow keys reach its lines.
        tabIndex={-1}
        className={`arrow ${direction} ${placeOf(left, right, endReason !== undefined)} ${toneOf(saying, endReason)}`}
        style={style}
        aria-expanded={isOpened}
        aria-controls={id}
        onClick={onPress}
      >
        <span className="label">
          <span className="hidden">
            {words.lanes[from]} → {words.lanes[to]}:{' '}
          </span>
          {from === to && saying.kind === 'request' && `${words.inside.others}: `}
          {textOf(saying, words, endReason)}
          {durationMs !== undefined && durationMs >= 1 && <small> {Math.round(durationMs)} ms</small>}
        </span>
        <span className="line" aria-hidden="true" />
      </button>
      <div id={id} hidden={!isOpened} ref={content}>
        {isOpened && <Content arrow={arrow} chapter={chapter} />}
      </div>
    </li>
  );
}

/**
 * Returns where the label is. The label of a short arrow begins or ends at the arrow, so that a long label stays in the
 * picture.
 */
function placeOf(left: number, right: number, hasReason: boolean): string {
  const isLong = right - left > 2;
  if (isLong || (left === 0 && right === 1 && !hasReason)) return 'centred';
  return left + right < lanes.length ? 'begun' : 'ended';
}

/** The content behind an arrow: a message of the stream, or the request and its answer. */
function Content({ arrow: { saying }, chapter: { sent, answered } }: Pick<ArrowProps, 'arrow' | 'chapter'>) {
  const { inside } = useWords();
  if (saying.kind === 'frame') return <Text title={inside.message} lines={[jsonOf(saying.content)]} />;
  if (sent === undefined) return <p className="content empty">{inside.notSeen}</p>;
  const headers = Object.entries(sent.headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <>
      <Text title={inside.request} lines={[`${sent.method} ${sent.path}`, ...headers, jsonOf(sent.body)]} />
      {answered && <Text title={inside.answer} lines={[String(answered.status), jsonOf(answered.body)]} />}
    </>
  );
}

function Text({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) {
  return (
    <div className="content">
      <h3>{title}</h3>
      <pre>{lines.filter((line) => line !== '').join('\n')}</pre>
    </div>
  );
}

const jsonOf = (value: unknown) => (value === undefined ? '' : JSON.stringify(value, undefined, 2));
