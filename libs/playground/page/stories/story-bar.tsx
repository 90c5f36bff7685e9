import { useState } from 'react';
import { useWords } from '../words/speech.ts';
import { type Stage, type StoryName, stories } from './stories.ts';

/** Buttons that play a story on the phones. */
export function StoryBar({ stage, onPlay }: { readonly stage: Stage; readonly onPlay: () => void }) {
  const { stories: words } = useWords();
  const [playing, setPlaying] = useState<StoryName>();
  const [last, setLast] = useState<StoryName>();
  const [hasFailed, setHasFailed] = useState(false);
  async function play(name: StoryName): Promise<void> {
    setPlaying(name);
    setLast(name);
    setHasFailed(false);
    onPlay();
    try {
      for (const phone of [stage.anna, stage.ben]) phone.mend();
      await stories[name](stage);
    } catch {
      // What the phones show says why.
      setHasFailed(true);
    } finally {
      setPlaying(undefined);
    }
  }
  const told = last === undefined ? words.choose : words[last].says;
  const caption = hasFailed ? words.failed : told;
  return (
    <nav className="stories" aria-label={words.title}>
      <div className="story-buttons">
        {(Object.keys(stories) as StoryName[]).map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={playing === name}
            title={words[name].says}
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
        {caption}
        {playing && ` (${words.playing})`}
      </p>
    </nav>
  );
}
