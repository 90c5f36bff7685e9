import { aDayAheadMs } from '../phone/phone.ts';
import { newEmail } from '../phone/phone-account.ts';
import type { Words } from '../words/en.ts';
import type { Stage } from './stage.ts';
import {
  borrow,
  continueAs,
  ensureIn,
  handInvite,
  isIn,
  logInWhole,
  mailedCode,
  outageMs,
  pause,
  prepareJoin,
  refreshOnce,
  removeIdentities,
  removePasskeys,
  switchOn,
  until,
  untilOut,
  untilStreamOpen,
} from './stage-hands.ts';

export type StoryName = keyof Words['stories'];
type StepName<N extends StoryName> = keyof Words['stories'][N]['steps'];

/** Shows the caption of the next step, and waits for the time that it takes to read. */
export type Narrate<N extends StoryName> = (step: StepName<N>) => Promise<void>;

/** A story, which uses the phones the way a person would. */
export type Story<N extends StoryName> = (stage: Stage, narrate: Narrate<N>) => Promise<void>;

export const stories: { readonly [N in StoryName]: Story<N> } = {
  async moveIn({ anna }, narrate) {
    if (isIn(anna)) await anna.logOut();
    await anna.show('register');
    anna.type({ email: newEmail(anna.owner), space: 'CREATE_NEW_HOME' });
    await narrate('register');
    await anna.register();
    await narrate('deliver');
    await anna.logIn();
    await untilStreamOpen(anna);
    await narrate('stream');
  },

  async invite(stage, narrate) {
    const { anna, ben } = stage;
    await prepareJoin(stage);
    await narrate('invite');
    await handInvite(stage);
    await narrate('join');
    await ben.join();
    await narrate('moved');
    await anna.show('home');
    await untilStreamOpen(ben);
  },

  async forgot({ ben, mailbox }, narrate) {
    await ensureIn(ben);
    await ben.logOut();
    await ben.show('forgot');
    await narrate('ask');
    const { password } = ben.view.read();
    const code = await mailedCode(mailbox, ben, ben.askCode);
    await narrate('code');
    ben.type({ code, password: otherThan(password) });
    await narrate('reset');
    await ben.resetPassword();
    await narrate('logIn');
    await ben.logIn();
    await untilStreamOpen(ben);
  },

  async lost({ anna }, narrate) {
    await ensureIn(anna);
    await narrate('expired');
    anna.skipTenMinutes();
    anna.loseNextAnswer();
    const isRead = anna.show('devices');
    await until(() => !anna.view.read().losesNext);
    await narrate('again');
    await isRead;
    await narrate('good');
  },

  async offline({ ben }, narrate) {
    await ensureIn(ben);
    await narrate('offline');
    ben.setOffline(true);
    await narrate('logOut');
    await ben.logOut();
    await narrate('online');
    ben.setOffline(false);
  },

  async clock({ anna }, narrate) {
    await ensureIn(anna);
    await narrate('ahead');
    anna.setClockError(aDayAheadMs);
    await narrate('refresh');
    await refreshOnce(anna);
    await pause();
    anna.setClockError(0);
  },

  async unknownDevice(stage, narrate) {
    const { anna, ben } = stage;
    await ensureIn(anna);
    if (anna.view.read().authenticator) await anna.removeAuthenticator();
    await borrow(stage, async () => {
      await narrate('logIn');
      await ben.logIn();
      await untilStreamOpen(ben);
      await narrate('notified');
      await anna.show('devices');
      const other = anna.view.read().sessions.find(({ is_current }) => !is_current);
      await narrate('revoke');
      if (other) await anna.revoke(other.session_id);
      await untilOut(ben);
      await narrate('why');
    });
  },

  async passkey({ anna }, narrate) {
    await ensureIn(anna);
    await removePasskeys(anna);
    await narrate('add');
    await anna.addPasskey();
    if (anna.view.read().passkeys.length === 0) throw new Error('the browser has made no passkey');
    await narrate('logIn');
    await anna.logOut();
    await anna.logInByPasskey();
    await untilStreamOpen(anna);
    await narrate('remove');
    await removePasskeys(anna);
  },

  async provider({ anna, ben }, narrate) {
    await ensureIn(anna);
    if (anna.view.read().authenticator) await anna.removeAuthenticator();
    await removeIdentities(anna);
    await anna.logOut();
    await narrate('chosen');
    await continueAs(anna, anna.view.read().email);
    await until(() => anna.view.read().person?.needs === 'link');
    await narrate('link');
    await anna.linkPerson();
    await untilStreamOpen(anna);
    await narrate('again');
    await anna.logOut();
    await continueAs(anna, anna.view.read().email);
    await untilStreamOpen(anna);
    if (isIn(ben)) await ben.logOut();
    await narrate('unknownDevice');
    await continueAs(ben, newEmail(ben.owner));
    await until(() => ben.view.read().person?.needs === 'registration');
    await narrate('register');
    ben.type({ space: 'CREATE_NEW_HOME' });
    await ben.registerPerson();
    await untilStreamOpen(ben);
    await pause();
    // The phone's owner has another account.
    await ben.logOut();
  },

  async stolenPassword(stage, narrate) {
    const { anna, ben } = stage;
    await ensureIn(anna);
    await anna.show('security');
    await narrate('on');
    await switchOn(anna);
    await borrow(stage, async () => {
      await narrate('thief');
      await ben.logIn();
      await until(() => ben.view.read().isAwaitingFactor);
      await narrate('guess');
      ben.type({ code: '000000' });
      await ben.confirmCode();
      if (isIn(ben)) throw new Error('the thief has guessed the code');
      ben.giveUpLogin();
    });
    await narrate('owner');
    await anna.logOut();
    await logInWhole(anna);
  },

  async stolen({ anna, troublemaker }, narrate) {
    await ensureIn(anna);
    await narrate('copy');
    const copy = anna.copyRefreshToken() ?? '';
    await narrate('refreshTwice');
    await refreshOnce(anna);
    await refreshOnce(anna);
    await narrate('thief');
    await troublemaker.useToken(copy);
    await narrate('closed');
    await untilOut(anna);
  },

  async lostApp(stage, narrate) {
    const { anna, ben, mailbox } = stage;
    await ensureIn(anna);
    if (anna.view.read().authenticator === undefined) await switchOn(anna);
    await borrow(stage, async () => {
      await narrate('order');
      ben.type({ code: await mailedCode(mailbox, ben, ben.askRemoval) });
      await ben.orderRemoval();
      await until(() => anna.view.read().removalDue !== undefined);
    });
    await narrate('notified');
    await narrate('stop');
    await anna.stopRemoval();
    await until(() => anna.view.read().removalDue === undefined);
  },

  async gateway(stage, narrate) {
    const { anna, ben, troublemaker } = stage;
    await prepareJoin(stage);
    await handInvite(stage);
    await narrate('kill');
    await troublemaker.killGateway();
    await until(() => !anna.view.read().isStreamOpen);
    // Ben joins before the caption is shown, because the gateway may be back before the reader has read it.
    const joined = ben.join();
    await narrate('meanwhile');
    await joined;
    await narrate('back');
    await untilStreamOpen(anna, outageMs);
    await until(() => anna.view.read().group?.members.length === 2);
  },
};

/** Returns a different password. The password does not grow with each change, so that the text beside it fits. */
const otherThan = (password: string) => (password.endsWith('!') ? password.slice(0, -1) : `${password}!`);
