import { LanguageChoice, useTitle } from '@auth-account/page/speech.tsx';
import { useState } from 'react';
import { MailboxView } from './mailbox/mailbox-view.tsx';
import { PhoneFrame } from './phone/phone-frame.tsx';
import type { LiveSequence } from './sequence/follow-live.ts';
import { SequenceView } from './sequence/sequence-view.tsx';
import type { Director } from './stories/director.ts';
import type { Stage } from './stories/stage.ts';
import { StoryBar } from './stories/story-bar.tsx';
import { Speech, useWords } from './words/speech.ts';

type Tab = 'anna' | 'inside' | 'ben';

interface PlaygroundPageProps {
  readonly stage: Stage;
  readonly director: Director;
  readonly live: LiveSequence;
}

/** The whole page. */
export function PlaygroundPage(props: PlaygroundPageProps) {
  return (
    <Speech>
      <Parts {...props} />
    </Speech>
  );
}

/** On a narrow screen, tabs choose which of the three parts is shown. */
function Parts({ stage, director, live }: PlaygroundPageProps) {
  const { anna, ben, mailbox } = stage;
  const words = useWords();
  useTitle(words.title);
  const [tab, setTab] = useState<Tab>('inside');
  return (
    <>
      <header className="top">
        <h1>{words.title}</h1>
        <p>
          {words.lead}{' '}
          <a href="/docs" target="_blank" rel="noreferrer">
            {words.docs}
          </a>
        </p>
        <LanguageChoice label={words.language} />
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
    </>
  );
}
