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
export type Notify<N extends StoryName> = (step: StepName<N>) => Promise<void>;

/** A story, which uses the phones the way a person would. */
export type Story<N extends StoryName> = (stage: Stage, notify: Notify<N>) => Promise<void>;

export const stories: { readonly [N in StoryName]: Story<N> } = {
  async moveIn({ anna }, notify) {
    if (isIn(anna)) await anna.logOut();
    await anna.show('register');
    anna.type({ email: newEmail(anna.owner), space: 'CREATE_NEW_HOME' });
    await notify('register');
    await anna.register();
    await notify('deliver');
    await anna.logIn();
    await untilStreamOpen(anna);
    await notify('stream');
  },

  async invite(stage, notify) {
    const { anna, ben } = stage;
    await prepareJoin(stage);
    await notify('invite');
    await handInvite(stage);
    await notify('join');
    await ben.join();
    await notify('moved');
    await anna.show('home');
    await untilStreamOpen(ben);
  },

  async forgot({ ben, mailbox }, notify) {
    await ensureIn(ben);
    await ben.logOut();
    await ben.show('forgot');
    await notify('ask');
    const { password } = ben.view.read();
    const code = await mailedCode(mailbox, ben, ben.askCode);
    await notify('code');
    ben.type({ code, password: otherThan(password) });
    await notify('reset');
    await ben.resetPassword();
    await notify('logIn');
    await ben.logIn();
    await untilStreamOpen(ben);
  },

  async lost({ anna }, notify) {
    await ensureIn(anna);
    await notify('expired');
    anna.skipTenMinutes();
    anna.loseNextAnswer();
    const isRead = anna.show('devices');
    await until(() => !anna.view.read().losesNext);
    await notify('again');
    await isRead;
    await notify('good');
  },

  async offline({ ben }, notify) {
    await ensureIn(ben);
    await notify('offline');
    ben.setOffline(true);
    await notify('logOut');
    await ben.logOut();
    await notify('online');
    ben.setOffline(false);
  },

  async clock({ anna }, notify) {
    await ensureIn(anna);
    await notify('ahead');
    anna.setClockError(aDayAheadMs);
    await notify('refresh');
    await refreshOnce(anna);
    await pause();
    anna.setClockError(0);
  },

  async unknownDevice(stage, notify) {
    const { anna, ben } = stage;
    await ensureIn(anna);
    if (anna.view.read().authenticator) await anna.removeAuthenticator();
    await borrow(stage, async () => {
      await notify('logIn');
      await ben.logIn();
      await untilStreamOpen(ben);
      await notify('notified');
      await anna.show('devices');
      const other = anna.view.read().sessions.find(({ is_current }) => !is_current);
      await notify('revoke');
      if (other) await anna.revoke(other.session_id);
      await untilOut(ben);
      await notify('why');
    });
  },

  async passkey({ anna }, notify) {
    await ensureIn(anna);
    await removePasskeys(anna);
    await notify('add');
    await anna.addPasskey();
    if (anna.view.read().passkeys.length === 0) throw new Error('the browser has made no passkey');
    await notify('logIn');
    await anna.logOut();
    await anna.logInByPasskey();
    await untilStreamOpen(anna);
    await notify('remove');
    await removePasskeys(anna);
  },

  async provider({ anna, ben }, notify) {
    await ensureIn(anna);
    if (anna.view.read().authenticator) await anna.removeAuthenticator();
    await removeIdentities(anna);
    await anna.logOut();
    await notify('chosen');
    await continueAs(anna, anna.view.read().email);
    await until(() => anna.view.read().person?.needs === 'link');
    await notify('link');
    await anna.linkPerson();
    await untilStreamOpen(anna);
    await notify('again');
    await anna.logOut();
    await continueAs(anna, anna.view.read().email);
    await untilStreamOpen(anna);
    if (isIn(ben)) await ben.logOut();
    await notify('unknownDevice');
    await continueAs(ben, newEmail(ben.owner));
    await until(() => ben.view.read().person?.needs === 'registration');
    await notify('register');
    ben.type({ space: 'CREATE_NEW_HOME' });
    await ben.registerPerson();
    await untilStreamOpen(ben);
    await pause();
    // The phone's owner has another account.
    await ben.logOut();
  },

  async stolenPassword(stage, notify) {
    const { anna, ben } = stage;
    await ensureIn(anna);
    await anna.show('security');
    await notify('on');
    await switchOn(anna);
    await borrow(stage, async () => {
      await notify('thief');
      await ben.logIn();
      await until(() => ben.view.read().isAwaitingFactor);
      await notify('guess');
      ben.type({ code: '000000' });
      await ben.confirmCode();
      if (isIn(ben)) throw new Error('the thief has guessed the code');
      ben.giveUpLogin();
    });
    await notify('owner');
    await anna.logOut();
    await logInWhole(anna);
  },

  async stolen({ anna, troublemaker }, notify) {
    await ensureIn(anna);
    await notify('copy');
    const copy = anna.copyRefreshToken() ?? '';
    await notify('refreshTwice');
    await refreshOnce(anna);
    await refreshOnce(anna);
    await notify('thief');
    await troublemaker.useToken(copy);
    await notify('closed');
    await untilOut(anna);
  },

  async lostApp(stage, notify) {
    const { anna, ben, mailbox } = stage;
    await ensureIn(anna);
    if (anna.view.read().authenticator === undefined) await switchOn(anna);
    await borrow(stage, async () => {
      await notify('order');
      ben.type({ code: await mailedCode(mailbox, ben, ben.askRemoval) });
      await ben.orderRemoval();
      await until(() => anna.view.read().removalDue !== undefined);
    });
    await notify('notified');
    await notify('stop');
    await anna.stopRemoval();
    await until(() => anna.view.read().removalDue === undefined);
  },

  async gateway(stage, notify) {
    const { anna, ben, troublemaker } = stage;
    await prepareJoin(stage);
    await handInvite(stage);
    await notify('kill');
    await troublemaker.killGateway();
    await until(() => !anna.view.read().isStreamOpen);
    // Ben joins before the caption is shown, because the gateway may be back before the reader has read it.
    const joined = ben.join();
    await notify('meanwhile');
    await joined;
    await notify('back');
    await untilStreamOpen(anna, outageMs);
    await until(() => anna.view.read().group?.members.length === 2);
  },
};

/** Returns a different password. The password does not grow with each change, so that the text beside it fits. */
const otherThan = (password: string) => (password.endsWith('!') ? password.slice(0, -1) : `${password}!`);
