import { useState } from 'react';
import { useWords } from '../words/speech.ts';
import { type Stage, type StoryName, stories } from './stories.ts';

/** Buttons that play a story on the phones. */
export function StoryBar({ stage, onPlay }: { readonly stage: Stage; readonly onPlay: () => void }) {
  const { stories: words } = useWords();
  const [playing, setPlaying] = useState<StoryName>();
  const [last, setLast] = useState<StoryName>();
  async function play(name: StoryName): Promise<void> {
    setPlaying(name);
    setLast(name);
    onPlay();
    try {
      await stories[name](stage);
    } finally {
      setPlaying(undefined);
    }
  }
  return (
    <nav className="stories" aria-label={words.title}>
      <div className="story-buttons">
        {(Object.keys(stories) as StoryName[]).map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={playing === name}
            disabled={playing !== undefined && playing !== name}
            onClick={() => {
              if (playing === undefined) void play(name);
            }}
          >
            <span aria-hidden="true">▶</span> {words[name].name}
          </button>
        ))}
      </div>
      <p className="caption" role="status">
        {last && words[last].says}
        {playing && ` (${words.playing})`}
      </p>
    </nav>
  );
}
