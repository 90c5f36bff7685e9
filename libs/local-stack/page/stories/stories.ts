import { codeIn, type Mailbox } from '../mailbox/mailbox.ts';
import { aDayAheadMs, type Phone } from '../phone/phone.ts';
import { newAddress } from '../phone/phone-account.ts';
import type { Words } from '../words/en.ts';
import { sleep } from './director.ts';

export interface Stage {
  readonly anna: Phone;
  readonly ben: Phone;
  readonly mailbox: Mailbox;
  readonly troublemaker: Troublemaker;
}

/** Actions that neither phone would do. */
export interface Troublemaker {
  /** Presents somebody else's refresh token. */
  useToken(refreshToken: string): Promise<void>;
  /** Kills the push gateway. The local stack starts it again. */
  killGateway(): Promise<void>;
}

export type StoryName = keyof Words['stories'];
type StepName<N extends StoryName> = keyof Words['stories'][N]['steps'];

/** Shows the caption of the next step, and waits for the time that it takes to read. */
export type Tell<N extends StoryName> = (step: StepName<N>) => Promise<void>;

/** A story, which uses the phones the way a person would. */
export type Story<N extends StoryName> = (stage: Stage, tell: Tell<N>) => Promise<void>;

const shortPauseMs = 500;
const pause = () => sleep(shortPauseMs);

/**
 * Limit for the time between the end of a gateway and a stream to the new one, in milliseconds. It is long because the
 * client's pauses grow (docs/push.md).
 */
const outageMs = 60_000;

/**
 * Waits until the phone shows the expected state. After `mostMs` it gives up, because the story has taken another
 * course.
 */
async function until(isThere: () => boolean, mostMs = 20_000): Promise<void> {
  for (let waited = 0; !isThere(); waited += 100) {
    if (waited > mostMs) throw new Error('the story has gone another way');
    await sleep(100);
  }
}

const isIn = (phone: Phone) => phone.view.read().state.status === 'signed_in';
const untilOut = (phone: Phone) => until(() => !isIn(phone));
const untilStreamOpen = (phone: Phone, mostMs?: number) => until(() => phone.view.read().isStreamOpen, mostMs);
const groupOf = (phone: Phone) => phone.view.read().group?.home_group_id;

async function ensureIn(phone: Phone): Promise<void> {
  if (isIn(phone)) return;
  if (phone.view.read().hasAccount) {
    await phone.show('log_in');
  } else {
    await phone.show('register');
    await phone.register();
  }
  await logInWhole(phone);
  await pause();
}

/** Logs in, with the second factor if it is on. */
async function logInWhole(phone: Phone): Promise<void> {
  await phone.logIn();
  if (phone.view.read().isHalfIn) await enterCode(phone);
  await untilStreamOpen(phone);
}

async function enterCode(phone: Phone): Promise<void> {
  await phone.takeCode();
  await phone.confirmCode();
}

async function removePasskeys(phone: Phone): Promise<void> {
  await phone.show('security');
  for (const { passkey_id } of phone.view.read().passkeys) await phone.removePasskey(passkey_id);
}

/** Lets somebody use Ben's phone with Anna's address and password, and gives Ben his phone back afterwards. */
async function borrow({ anna, ben }: Stage, use: () => Promise<void>): Promise<void> {
  if (isIn(ben)) await ben.logOut();
  const { email, password } = ben.view.read();
  const own = anna.view.read();
  await ben.show('log_in');
  try {
    ben.type({ email: own.email, password: own.password });
    await use();
  } finally {
    ben.type({ email, password });
  }
}

/** Prepares Ben: he is logged in, has an invite from Anna, and is in a household of his own. */
async function prepareJoin({ anna, ben }: Stage): Promise<void> {
  await ensureIn(anna);
  await ensureIn(ben);
  await ben.show('home');
  await anna.show('home');
  if (groupOf(ben) === groupOf(anna)) await ben.client.group.leave();
}

async function handInvite({ anna, ben }: Stage): Promise<void> {
  await anna.createInvite();
  ben.type({ inviteToken: anna.view.read().invite ?? '' });
}

/** Refreshes the phone's tokens by making them expire and sending a request. */
async function refreshOnce(phone: Phone): Promise<void> {
  phone.skipTenMinutes();
  await phone.show('devices');
}

export const stories: { readonly [N in StoryName]: Story<N> } = {
  async moveIn({ anna }, tell) {
    if (isIn(anna)) await anna.logOut();
    await anna.show('register');
    anna.type({ email: newAddress(anna.owner), space: 'CREATE_NEW_HOME' });
    await tell('register');
    await anna.register();
    await tell('deliver');
    await anna.logIn();
    await untilStreamOpen(anna);
    await tell('stream');
  },

  async invite(stage, tell) {
    const { anna, ben } = stage;
    await prepareJoin(stage);
    await tell('invite');
    await handInvite(stage);
    await tell('join');
    await ben.join();
    await tell('moved');
    await anna.show('home');
    await untilStreamOpen(ben);
  },

  async forgot({ ben, mailbox }, tell) {
    await ensureIn(ben);
    await ben.logOut();
    await ben.show('forgot');
    await tell('ask');
    const { email, password } = ben.view.read();
    const codes = () => mailbox.mails.read().filter((mail) => mail.to === email && codeIn(mail) !== undefined);
    const before = codes().length;
    await ben.askCode();
    await until(() => codes().length > before);
    await tell('code');
    const [newest] = codes();
    ben.type({ code: (newest && codeIn(newest)) ?? '', password: otherThan(password) });
    await tell('reset');
    await ben.resetPassword();
    await tell('logIn');
    await ben.logIn();
    await untilStreamOpen(ben);
  },

  async lost({ anna }, tell) {
    await ensureIn(anna);
    await tell('expired');
    anna.skipTenMinutes();
    anna.loseNextAnswer();
    const isRead = anna.show('devices');
    await until(() => !anna.view.read().losesNext);
    await tell('again');
    await isRead;
    await tell('good');
  },

  async offline({ ben }, tell) {
    await ensureIn(ben);
    await tell('offline');
    ben.setOffline(true);
    await tell('logOut');
    await ben.logOut();
    await tell('online');
    ben.setOffline(false);
  },

  async clock({ anna }, tell) {
    await ensureIn(anna);
    await tell('ahead');
    anna.setClockError(aDayAheadMs);
    await tell('refresh');
    await refreshOnce(anna);
    await pause();
    anna.setClockError(0);
  },

  async stranger(stage, tell) {
    const { anna, ben } = stage;
    await ensureIn(anna);
    if (anna.view.read().authenticator) await anna.removeAuthenticator();
    await borrow(stage, async () => {
      await tell('logIn');
      await ben.logIn();
      await untilStreamOpen(ben);
      await tell('told');
      await anna.show('devices');
      const other = anna.view.read().sessions.find(({ is_current }) => !is_current);
      await tell('revoke');
      if (other) await anna.revoke(other.session_id);
      await untilOut(ben);
      await tell('why');
    });
  },

  async passkey({ anna }, tell) {
    await ensureIn(anna);
    await removePasskeys(anna);
    await tell('add');
    await anna.addPasskey();
    if (anna.view.read().passkeys.length === 0) throw new Error('the browser has made no passkey');
    await tell('logIn');
    await anna.logOut();
    await anna.logInByPasskey();
    await untilStreamOpen(anna);
    await tell('remove');
    await removePasskeys(anna);
  },

  async stolenPassword(stage, tell) {
    const { anna, ben } = stage;
    await ensureIn(anna);
    await anna.show('security');
    await tell('on');
    await anna.addAuthenticator();
    await enterCode(anna);
    await borrow(stage, async () => {
      await tell('thief');
      await ben.logIn();
      await until(() => ben.view.read().isHalfIn);
      await tell('guess');
      ben.type({ code: '000000' });
      await ben.confirmCode();
      if (isIn(ben)) throw new Error('the thief has guessed the code');
      ben.giveUpLogin();
    });
    await tell('owner');
    await anna.logOut();
    await logInWhole(anna);
  },

  async stolen({ anna, troublemaker }, tell) {
    await ensureIn(anna);
    await tell('copy');
    const copy = anna.copyRefreshToken() ?? '';
    await tell('spend');
    await refreshOnce(anna);
    await refreshOnce(anna);
    await tell('thief');
    await troublemaker.useToken(copy);
    await tell('closed');
    await untilOut(anna);
  },

  async gateway(stage, tell) {
    const { anna, ben, troublemaker } = stage;
    await prepareJoin(stage);
    await handInvite(stage);
    await tell('kill');
    await troublemaker.killGateway();
    await until(() => !anna.view.read().isStreamOpen);
    // Ben joins before the caption is shown, because the gateway may be back before the reader has read it.
    const joined = ben.join();
    await tell('meanwhile');
    await joined;
    await tell('back');
    await untilStreamOpen(anna, outageMs);
    await until(() => anna.view.read().group?.members.length === 2);
  },
};

/** Returns a different password. The password does not grow with each change, so that the text beside it has room. */
const otherThan = (password: string) => (password.endsWith('!') ? password.slice(0, -1) : `${password}!`);
