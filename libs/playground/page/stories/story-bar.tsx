import { useStore } from '@auth-account/page/store.ts';
import { useState } from 'react';
import { useWords } from '../words/speech.ts';
import type { Director } from './director.ts';
import { addressOf } from './guarantees.ts';
import type { Stage } from './stage.ts';
import { type StoryName, stories } from './stories.ts';

interface StoryBarProps {
  readonly stage: Stage;
  readonly director: Director;
  readonly onPlay: () => void;
}

/** The story that is playing or was played last. */
interface Played {
  readonly name: StoryName;
  /** Undefined before the first step and after the last one. */
  readonly step: string | undefined;
  readonly outcome: 'playing' | 'ended' | 'failed';
}

/** Buttons that play a story on the phones, and the story's captions. */
export function StoryBar({ stage, director, onPlay }: StoryBarProps) {
  const { story: words, stories: texts } = useWords();
  const [played, setPlayed] = useState<Played>();
  const isPlaying = played?.outcome === 'playing';

  async function play<N extends StoryName>(name: N): Promise<void> {
    const show = (outcome: Played['outcome'], step?: string) => setPlayed({ name, outcome, step });
    show('playing');
    onPlay();
    try {
      for (const phone of [stage.anna, stage.ben]) phone.fix();
      await stories[name](stage, (step) => {
        show('playing', String(step));
        return director.waitForReader();
      });
      show('ended');
    } catch {
      // The error is ignored, because the phones' screens show the reason.
      show('failed');
    }
  }

  return (
    <nav className="stories" aria-label={words.title}>
      <div className="story-buttons">
        {(Object.keys(stories) as StoryName[]).map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={isPlaying && played.name === name}
            title={texts[name].says}
            disabled={isPlaying && played.name !== name}
            onClick={() => {
              if (!isPlaying) void play(name);
            }}
          >
            <span aria-hidden="true">▶</span> {texts[name].name}
          </button>
        ))}
        <PaceButtons director={director} />
      </div>
      <Caption played={played} />
    </nav>
  );
}

function PaceButtons({ director: { pace, setPace } }: Pick<StoryBarProps, 'director'>) {
  const { story: words } = useWords();
  const { isPaused, isSlow } = useStore(pace);
  return (
    <span className="pace">
      <button type="button" aria-pressed={isPaused} onClick={() => setPace({ isPaused: !isPaused })}>
        <span aria-hidden="true">‖</span> <span className="pace-word">{words.pause}</span>
      </button>
      <button type="button" aria-pressed={isSlow} onClick={() => setPace({ isSlow: !isSlow })}>
        <span aria-hidden="true">½</span> <span className="pace-word">{words.slower}</span>
      </button>
    </span>
  );
}

function Caption({ played }: { readonly played: Played | undefined }) {
  const { story: words, stories: texts } = useWords();
  if (played === undefined)
    return (
      <p className="caption" role="status">
        {words.choose}
      </p>
    );
  const { name, step, outcome } = played;
  const steps: Readonly<Record<string, string>> = texts[name].steps;
  const names = Object.keys(steps);
  const notified = {
    playing: step === undefined ? words.prepares : `${names.indexOf(step) + 1}/${names.length} ${steps[step]}`,
    ended: texts[name].says,
    failed: words.failed,
  }[outcome];
  return (
    <div className="captions">
      <p className="caption" role="status">
        {notified}
        {outcome === 'playing' && <small> {words.playing}</small>}
      </p>
      <a href={addressOf(name)} target="_blank" rel="noreferrer">
        {words.guaranteed}
      </a>
    </div>
  );
}
