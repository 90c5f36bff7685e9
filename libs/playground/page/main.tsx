import { language } from '@auth-account/page/speech.tsx';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createMailbox } from './mailbox/mailbox.ts';
import { createPhone } from './phone/phone.ts';
import type { Owner } from './phone/traffic.ts';
import { PlaygroundPage } from './playground-page.tsx';
import { followLive } from './sequence/follow-live.ts';
import { createDirector, readingTimeIn } from './stories/director.ts';
import { createTroublemaker } from './stories/troublemaker.ts';
import { texts } from './words/speech.ts';

const mailbox = createMailbox();
const live = followLive(mailbox.readAgain);
mailbox.readAgain();

const phoneOf = (owner: Owner) =>
  createPhone({
    owner,
    deviceName: () => {
      const words = texts[language.read()];
      return words.deviceOf(words.owners[owner]);
    },
    language: language.read,
    onTraffic: live.addTraffic,
  });

const stage = {
  ...{ anna: phoneOf('anna'), ben: phoneOf('ben'), mailbox },
  troublemaker: createTroublemaker(live.addTraffic),
};

const place = document.getElementById('page');
if (place === null) throw new Error('the page has no place for the playground');
createRoot(place).render(
  <StrictMode>
    <PlaygroundPage stage={stage} director={createDirector(readingTimeIn(location.search))} live={live} />
  </StrictMode>,
);
