import { useStore } from '@auth-account/page/store.ts';
import { type KeyboardEvent, type RefObject, useEffect, useRef } from 'react';
import { useWords } from '../words/speech.ts';
import { ChapterView } from './chapter-view.tsx';
import type { LiveSequence } from './follow-live.ts';
import { lanes, type Sequence } from './sequence.ts';

/** The picture between the phones. Each line is something that has just happened. */
export function SequenceView({ live }: { readonly live: LiveSequence }) {
  const sequence = useStore(live.sequence);
  const isLive = useStore(live.isLive);
  const { inside, lanes: names } = useWords();
  const picture = useRef<HTMLDivElement>(null);
  const onScroll = useFollowedEnd(picture, sequence);
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
      {/* Not read out, because a story makes thirty lines. The story's caption is read out. */}
      <div
        className="picture"
        ref={picture}
        role="log"
        aria-live="off"
        aria-labelledby="inside-title"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling part must be reachable by keyboard
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={moveAmongLines}
      >
        {sequence.length === 0 && <p className="empty">{inside.empty}</p>}
        {sequence.map((chapter) => (
          <ChapterView key={chapter.requestId} chapter={chapter} />
        ))}
      </div>
    </section>
  );
}

/** Distance from the picture's end, in pixels, within which the view still follows new lines. */
const nearEnd = 40;

/** Keeps the newest lines in view until the reader scrolls away or opens a line. */
function useFollowedEnd(picture: RefObject<HTMLDivElement | null>, sequence: Sequence): () => void {
  const isFollowing = useRef(true);
  useEffect(() => {
    const view = picture.current;
    if (view === null || sequence.length === 0) return;
    const showEnd = () => {
      const isReading = view.querySelector('[aria-expanded="true"]') !== null;
      if (isFollowing.current && !isReading) view.scrollTo({ top: view.scrollHeight });
    };
    // The picture gets smaller if a caption is longer or a mail appears.
    const resized = new ResizeObserver(showEnd);
    resized.observe(view);
    showEnd();
    return () => resized.disconnect();
  }, [picture, sequence]);
  return () => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = picture.current ?? {};
    isFollowing.current = scrollHeight - scrollTop - clientHeight < nearEnd;
  };
}

const stepsByKey: Readonly<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1 };

/** Moves from line to line with the up and down keys. Enter, the button's own key, opens a line. */
function moveAmongLines(event: KeyboardEvent<HTMLDivElement>): void {
  const step = stepsByKey[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const lines = [...event.currentTarget.querySelectorAll<HTMLElement>('.arrow')];
  const now = lines.indexOf(document.activeElement as HTMLElement);
  // If the focus is on the picture itself, up and down both lead to its newest line.
  lines.at(now === -1 ? -1 : Math.min(Math.max(now + step, 0), lines.length - 1))?.focus();
}
