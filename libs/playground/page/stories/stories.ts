import { codeIn, type Mailbox } from '../mailbox/mailbox.ts';
import { aDayAheadMs, type Phone } from '../phone/phone.ts';
import { newAddress } from '../phone/phone-account.ts';
import type { Words } from '../words/en.ts';

export interface Stage {
  readonly anna: Phone;
  readonly ben: Phone;
  readonly mailbox: Mailbox;
}

export type StoryName = Exclude<keyof Words['stories'], 'title' | 'choose' | 'playing' | 'failed'>;

/** A story uses the phones as a person does, with pauses so that one can follow. */
export type Story = (stage: Stage) => Promise<void>;

const pauseMs = 900;

const pause = (ms = pauseMs) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Waits for what the phone shows next. Gives up after 20 s: the story has gone another way. */
async function until(isThere: () => boolean): Promise<void> {
  for (let waited = 0; !isThere(); waited += 100) {
    if (waited > 20_000) throw new Error('the story has gone another way');
    await pause(100);
  }
}

const isIn = (phone: Phone) => phone.view.read().state.status === 'signed_in';

async function ensureIn(phone: Phone): Promise<void> {
  if (isIn(phone)) return;
  if (phone.view.read().hasAccount) {
    await phone.show('log_in');
    await phone.logIn();
  } else {
    await moveIn(phone);
  }
  await until(() => phone.view.read().isStreamOpen);
  await pause();
}

async function moveIn(phone: Phone): Promise<void> {
  if (isIn(phone)) await phone.logOut();
  await phone.show('register');
  phone.type({ email: newAddress(phone.owner), space: 'CREATE_NEW_HOME' });
  await pause();
  await phone.register();
  await pause();
  await phone.logIn();
  await until(() => phone.view.read().isStreamOpen);
}

export const stories: Readonly<Record<StoryName, Story>> = {
  moveIn: ({ anna }) => moveIn(anna),

  async invite({ anna, ben }) {
    await ensureIn(anna);
    await anna.show('home');
    await anna.createInvite();
    await pause();
    await ensureIn(ben);
    const groupOf = ({ view }: Phone) => view.read().group?.home_group_id;
    if (groupOf(ben) === groupOf(anna)) await ben.client.group.leave();
    await ben.show('home');
    ben.type({ inviteToken: anna.view.read().invite ?? '' });
    await pause();
    await ben.join();
    await pause();
    await anna.show('home');
  },

  async forgot({ ben, mailbox }) {
    await ensureIn(ben);
    await ben.logOut();
    await ben.show('forgot');
    await pause();
    const { email } = ben.view.read();
    const codes = () => mailbox.mails.read().filter((mail) => mail.to === email && codeIn(mail) !== undefined);
    const before = codes().length;
    await ben.askCode();
    await until(() => codes().length > before);
    await pause();
    const [newest] = codes();
    ben.type({ code: (newest && codeIn(newest)) ?? '', password: `${ben.view.read().password}!` });
    await pause();
    await ben.resetPassword();
    await pause();
    await ben.logIn();
  },

  async lost({ anna }) {
    await ensureIn(anna);
    anna.skipTenMinutes();
    anna.loseNextAnswer();
    await pause();
    await anna.show('devices');
  },

  async offline({ ben }) {
    await ensureIn(ben);
    ben.setOffline(true);
    await pause();
    await ben.logOut();
    await pause(2 * pauseMs);
    ben.setOffline(false);
  },

  async clock({ anna }) {
    await ensureIn(anna);
    anna.setClockError(aDayAheadMs);
    await pause();
    anna.skipTenMinutes();
    await anna.show('devices');
    await pause(2 * pauseMs);
    anna.setClockError(0);
  },

  async stranger({ anna, ben }) {
    await ensureIn(anna);
    if (isIn(ben)) await ben.logOut();
    const { email, password } = ben.view.read();
    const own = anna.view.read();
    await ben.show('log_in');
    ben.type({ email: own.email, password: own.password });
    await pause();
    await ben.logIn();
    await until(() => ben.view.read().isStreamOpen);
    await pause(2 * pauseMs);
    await anna.show('devices');
    await pause();
    const other = anna.view.read().sessions.find(({ is_current }) => !is_current);
    if (other) await anna.revoke(other.session_id);
    await until(() => !isIn(ben));
    ben.type({ email, password });
  },
};
