import { aDayAheadMs } from '../phone/phone.ts';
import { newAddress } from '../phone/phone-account.ts';
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
export type Tell<N extends StoryName> = (step: StepName<N>) => Promise<void>;

/** A story, which uses the phones the way a person would. */
export type Story<N extends StoryName> = (stage: Stage, tell: Tell<N>) => Promise<void>;

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
    const { password } = ben.view.read();
    const code = await mailedCode(mailbox, ben, ben.askCode);
    await tell('code');
    ben.type({ code, password: otherThan(password) });
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

  async provider({ anna, ben }, tell) {
    await ensureIn(anna);
    if (anna.view.read().authenticator) await anna.removeAuthenticator();
    await removeIdentities(anna);
    await anna.logOut();
    await tell('chosen');
    await continueAs(anna, anna.view.read().email);
    await until(() => anna.view.read().person?.needs === 'link');
    await tell('link');
    await anna.linkPerson();
    await untilStreamOpen(anna);
    await tell('again');
    await anna.logOut();
    await continueAs(anna, anna.view.read().email);
    await untilStreamOpen(anna);
    if (isIn(ben)) await ben.logOut();
    await tell('stranger');
    await continueAs(ben, newAddress(ben.owner));
    await until(() => ben.view.read().person?.needs === 'registration');
    await tell('register');
    ben.type({ space: 'CREATE_NEW_HOME' });
    await ben.registerPerson();
    await untilStreamOpen(ben);
    await pause();
    // The phone's owner has another account.
    await ben.logOut();
  },

  async stolenPassword(stage, tell) {
    const { anna, ben } = stage;
    await ensureIn(anna);
    await anna.show('security');
    await tell('on');
    await switchOn(anna);
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

  async lostApp(stage, tell) {
    const { anna, ben, mailbox } = stage;
    await ensureIn(anna);
    if (anna.view.read().authenticator === undefined) await switchOn(anna);
    await borrow(stage, async () => {
      await tell('order');
      ben.type({ code: await mailedCode(mailbox, ben, ben.askRemoval) });
      await ben.orderRemoval();
      await until(() => anna.view.read().removalDue !== undefined);
    });
    await tell('told');
    await tell('stop');
    await anna.stopRemoval();
    await until(() => anna.view.read().removalDue === undefined);
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
