import { useEffect, useState } from 'react';
import { MailboxView } from './mailbox/mailbox-view.tsx';
import { PhoneFrame } from './phone/phone-frame.tsx';
import type { LiveSequence } from './sequence/follow-live.ts';
import { SequenceView } from './sequence/sequence-view.tsx';
import { useStore } from './store.ts';
import type { Director } from './stories/director.ts';
import type { Stage } from './stories/stage.ts';
import { StoryBar } from './stories/story-bar.tsx';
import { choose, type Language, language, languages, Speech } from './words/speech.ts';

type Tab = 'anna' | 'inside' | 'ben';

interface PlaygroundPageProps {
  readonly stage: Stage;
  readonly director: Director;
  readonly live: LiveSequence;
}

/** The whole page. On a narrow screen, tabs choose which of its three parts is shown. */
export function PlaygroundPage({ stage, director, live }: PlaygroundPageProps) {
  const { anna, ben, mailbox } = stage;
  const chosen = useStore(language);
  const words = languages[chosen];
  const [tab, setTab] = useState<Tab>('inside');
  useEffect(() => {
    document.documentElement.lang = chosen;
    document.title = words.title;
  }, [chosen, words]);
  return (
    <Speech value={words}>
      <header className="top">
        <h1>{words.title}</h1>
        <p>
          {words.lead}{' '}
          <a href="/docs" target="_blank" rel="noreferrer">
            {words.docs}
          </a>
        </p>
        <LanguageChoice chosen={chosen} label={words.language} />
      </header>
      <StoryBar stage={stage} director={director} onPlay={() => setTab('inside')} />
      <div className="part-tabs">
        {(Object.keys(words.tabs) as Tab[]).map((name) => (
          <button key={name} type="button" aria-pressed={tab === name} onClick={() => setTab(name)}>
            {words.tabs[name]}
          </button>
        ))}
      </div>
      <main className={`stage shows-${tab}`}>
        <PhoneFrame phone={anna} other={ben} />
        <div className="middle">
          <SequenceView live={live} />
          <MailboxView mailbox={mailbox} phones={[anna, ben]} />
        </div>
        <PhoneFrame phone={ben} other={anna} />
      </main>
    </Speech>
  );
}

function LanguageChoice({ chosen, label }: { readonly chosen: Language; readonly label: string }) {
  return (
    <fieldset className="language">
      <legend className="hidden">{label}</legend>
      {(Object.keys(languages) as Language[]).map((each) => (
        <button key={each} type="button" lang={each} aria-pressed={each === chosen} onClick={() => choose(each)}>
          {each}
        </button>
      ))}
    </fieldset>
  );
}
