import { type CSSProperties, useEffect, useRef } from 'react';
import { useStore } from '../store.ts';
import type { Words } from '../words/en.ts';
import { useWords } from '../words/speech.ts';
import type { LiveSequence } from './follow-live.ts';
import { type Arrow, type Chapter, lanes, type Saying } from './sequence.ts';

/** The picture between the phones: each line is something that has just happened. */
export function SequenceView({ live }: { readonly live: LiveSequence }) {
  const sequence = useStore(live.sequence);
  const isLive = useStore(live.isLive);
  const { inside, lanes: names } = useWords();
  const picture = useRef<HTMLDivElement>(null);
  const count = sequence.reduce((sum, { arrows }) => sum + arrows.length, 0);
  useEffect(() => {
    if (count > 0) picture.current?.scrollTo({ top: picture.current.scrollHeight });
  }, [count]);
  return (
    <section className="inside" aria-labelledby="inside-title">
      <header className="inside-head">
        <h2 id="inside-title">{inside.title}</h2>
        <span className={isLive ? 'live on' : 'live'}>{isLive ? inside.live : inside.notLive}</span>
        <button type="button" onClick={live.clear}>
          {inside.clear}
        </button>
      </header>
      <div className="lanes" aria-hidden="true">
        {lanes.map((lane) => (
          <span key={lane} className={`lane ${lane}`}>
            {names[lane]}
          </span>
        ))}
      </div>
      {/* Not read out: a story makes thirty lines. Its caption is. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <div className="picture" ref={picture} role="log" aria-live="off" aria-labelledby="inside-title" tabIndex={0}>
        {sequence.length === 0 && <p className="empty">{inside.empty}</p>}
        {sequence.map((chapter) => (
          <ChapterView key={chapter.requestId} chapter={chapter} />
        ))}
      </div>
    </section>
  );
}

function ChapterView({ chapter: { owner, arrows, requestId } }: { readonly chapter: Chapter }) {
  const isStream = requestId.startsWith('stream-');
  return (
    <ol className={`chapter ${owner ?? 'others'}`}>
      {!isStream && <li className="request-id">{requestId}</li>}
      {arrows.map((arrow) => (
        <ArrowView key={arrow.id} arrow={arrow} />
      ))}
    </ol>
  );
}

function ArrowView({ arrow }: { readonly arrow: Arrow }) {
  const words = useWords();
  const { from, to, saying, durationMs } = arrow;
  const [start, end] = [lanes.indexOf(from), lanes.indexOf(to)];
  const [left, right] = [Math.min(start, end), Math.max(start, end)];
  const style = { '--left': left + 1, '--right': right + 2, '--span': right - left + 1 } as CSSProperties;
  const direction = ['leftward', 'here', 'rightward'][Math.sign(end - start) + 1];
  return (
    <li className={`arrow ${direction} ${placeOf(left, right)} ${toneOf(saying)}`} style={style}>
      <span className="label">
        <span className="hidden">
          {words.lanes[from]} → {words.lanes[to]}:{' '}
        </span>
        {from === to && saying.kind === 'request' && `${words.inside.others}: `}
        {textOf(saying, words)}
        {durationMs !== undefined && durationMs >= 1 && <small> {Math.round(durationMs)} ms</small>}
      </span>
      <span className="line" aria-hidden="true" />
    </li>
  );
}

/** The label of a short arrow begins or ends with it, so that a long one stays in the picture. */
function placeOf(left: number, right: number): string {
  const isLong = right - left > 2;
  if (isLong || (left === 0 && right === 1)) return 'centred';
  return left + right < lanes.length ? 'begun' : 'ended';
}

function toneOf(saying: Saying): string {
  if (saying.kind === 'answer') return saying.status < 400 ? 'good' : 'bad';
  if (saying.kind === 'lost' || saying.kind === 'unsent' || saying.kind === 'kept') return 'bad';
  if (saying.kind === 'transaction') return saying.isCommitted ? 'strong' : 'bad';
  if (saying.kind === 'deliver' && saying.hasFailed) return 'bad';
  return saying.kind;
}

/** Without the version, and without the names of things. */
function shortPath(path: string): string {
  return path.replace('/api/v1', '').replace(/\/[^/]*\d[^/]{8,}/g, '/…');
}

/** `find users, insert outbox × 2`. */
function listOf(commands: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const command of commands) counts.set(command, (counts.get(command) ?? 0) + 1);
  return Array.from(counts, ([command, count]) => (count > 1 ? `${command} × ${count}` : command)).join(', ');
}

const eventPrefix = /^service\.auth\.events\./;

function textOf(saying: Saying, { sayings }: Words): string {
  switch (saying.kind) {
    case 'request':
      return `${saying.method} ${shortPath(saying.path)}`;
    case 'answer':
      return String(saying.status);
    case 'transaction':
      return (saying.isCommitted ? sayings.transaction : sayings.rolledBack)(listOf(saying.commands));
    case 'commands':
      return listOf(saying.commands);
    case 'deliver':
      return deliveryText(saying, sayings);
    case 'close':
      return sayings.close(saying.reason);
    case 'stream_closed':
      return sayings.stream_closed(saying.code, saying.reason);
    case 'frame':
      return sayings.frame(saying.frame);
    default:
      return sayings[saying.kind];
  }
}

function deliveryText(
  { by, event, attempt, hasFailed }: Extract<Saying, { readonly kind: 'deliver' }>,
  sayings: Words['sayings'],
): string {
  const what = sayings.by[by];
  const name = event.replace(eventPrefix, '');
  if (hasFailed) return sayings.failed(what, name);
  return attempt > 1 ? sayings.again(what, name, attempt) : sayings.deliver(what, name);
}
