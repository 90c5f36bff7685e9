import { type AuthClient, AuthError, type AuthEvent, type AuthStorage, createAuthClient } from '@auth-account/client';
import { type Account, account } from '@auth-account/client/account';
import { browserPasskeys } from '@auth-account/client/browser-passkeys';
import { type Federated, federated } from '@auth-account/client/federated';
import { type Household, household } from '@auth-account/client/household';
import { type Passkeys, passkeys } from '@auth-account/client/passkeys';
import { type SecondFactor, secondFactor } from '@auth-account/client/second-factor';
import { type Sessions, sessions } from '@auth-account/client/sessions';
import { type StepUp, stepUp } from '@auth-account/client/step-up';
import { createStore, type Store } from '@auth-account/page/store.ts';
import { readAccount, writeAccount } from './phone-account.ts';
import { type FactorDeeds, factorDeedsOf } from './phone-factors.ts';
import { createPhoneNetwork } from './phone-network.ts';
import { type PeopleDeeds, peopleDeedsOf } from './phone-people.ts';
import type { PhoneView, Run, Screen, SetView, ViewStore } from './phone-view.ts';
import type { OnTraffic, Owner } from './traffic.ts';
import { noTrouble, troublesOf } from './troubles.ts';

type PhoneClient = AuthClient & Account & Federated & Household & Passkeys & SecondFactor & Sessions & StepUp;

/**
 * A phone with the app on it. Its methods are the actions of a user. They show errors on the phone and do not throw
 * them.
 */
export interface Phone extends FactorDeeds, PeopleDeeds {
  readonly owner: Owner;
  readonly view: Pick<Store<PhoneView>, 'read' | 'subscribe'>;
  readonly client: PhoneClient;
  show(screen: Screen): Promise<void>;
  type(entries: Partial<Pick<PhoneView, 'email' | 'password' | 'code' | 'inviteToken' | 'space'>>): void;
  register(): Promise<void>;
  logIn(): Promise<void>;
  logOut(): Promise<void>;
  askCode(): Promise<void>;
  resetPassword(): Promise<void>;
  createInvite(): Promise<void>;
  join(): Promise<void>;
  revoke(sessionId: string): Promise<void>;
  dismiss(): void;
  setOffline(isOffline: boolean): void;
  setCaptive(isCaptive: boolean): void;
  loseNextAnswer(): void;
  silenceStream(): void;
  setClockError(ms: number): void;
  /** Ends all faults. */
  fix(): void;
  /** Makes the phone believe that ten minutes have passed, so that its access token has expired. */
  skipTenMinutes(): void;
  /** Returns the refresh token in the phone's storage, as a thief would get it by copying the storage. */
  copyRefreshToken(): string | undefined;
}

export interface PhoneOptions {
  readonly owner: Owner;
  readonly deviceName: () => string;
  readonly language: () => string;
  readonly onTraffic: OnTraffic;
}

const tenMinutes = 600_000;

/** Clock error that a story or a switch sets, in milliseconds. */
export const aDayAheadMs = 86_400_000;

/** The storage of the phones. It lives as long as the tab. A duplicated tab has the same phones. */
const phoneStorage: AuthStorage = {
  get: async (key) => sessionStorage.getItem(key),
  set: async (key, value) => sessionStorage.setItem(key, value),
  remove: async (key) => sessionStorage.removeItem(key),
};

/**
 * Returns the stored refresh token. The client keeps its record in two slots, and the slot with the higher number is
 * valid.
 */
function storedRefreshToken(owner: Owner): string | undefined {
  const records = [0, 1].map((slot) => JSON.parse(sessionStorage.getItem(`${owner}.session.${slot}`) ?? '{"n":-1}'));
  const [newest] = records.toSorted((one, other) => other.n - one.n);
  return newest.session?.refresh_token;
}

function firstView(owner: Owner): PhoneView {
  const { email, password, exists, authenticator } = readAccount(owner);
  return {
    ...{ state: { status: 'unknown' }, screen: exists ? 'log_in' : 'register', hasAccount: exists },
    ...{ email, password, code: '', inviteToken: '', space: 'CREATE_NEW_HOME', challengeId: undefined, authenticator },
    ...{ group: undefined, invite: undefined, sessions: [], passkeys: [], identities: [], enrolment: undefined },
    ...{ isAwaitingFactor: false, removalDue: undefined, providerPage: undefined, person: undefined },
    ...{ isBusy: false, isStreamOpen: false, notice: undefined, ...noTrouble },
  };
}

export function createPhone(options: PhoneOptions): Phone {
  const { owner } = options;
  const view = createStore<PhoneView>(firstView(owner));
  const set = (changes: Partial<PhoneView>) => view.change((now) => ({ ...now, ...changes }));
  const network = createPhoneNetwork({ owner, onTraffic: options.onTraffic, onLost: () => set({ losesNext: false }) });
  let skippedMs = 0;
  const client = createAuthClient({
    groups: [account, federated, household, passkeys(browserPasskeys()), secondFactor, sessions, stepUp],
    baseUrl: location.origin,
    storage: phoneStorage,
    ...network.platform,
    prefix: owner,
    language: options.language,
    device: { name: options.deviceName(), platform: 'web' },
    now: () => Date.now() + view.read().clockErrorMs,
    monotonic: () => performance.now() + skippedMs,
  });
  const { run, readAgain } = createWork(client, view, set);
  client.subscribe((event) => {
    if (event.type === 'second_factor') set({ removalDue: client.secondFactor.removal()?.due_at });
    if (event.type === 'federated') set({ person: client.federated.waiting() });
    followEvent(event, view, set, readAgain);
  });

  return {
    owner,
    view,
    client,
    type(entries) {
      const { email, exists, authenticator } = readAccount(owner);
      const hasAccount = exists && email === (entries.email ?? view.read().email);
      set({ ...entries, hasAccount, authenticator: hasAccount ? authenticator : undefined });
    },
    dismiss: () => set({ notice: undefined }),
    async show(screen) {
      set({ screen, notice: undefined });
      if (view.read().state.status === 'signed_in') await run(readAgain);
    },
    ...deedsOf({ owner, client, view, set, run, readAgain }),
    ...factorDeedsOf({ owner, client, deviceName: options.deviceName, view, set, run, readAgain }),
    ...peopleDeedsOf({ client, view, set, run, readAgain }),
    ...troublesOf(network, view, set),
    skipTenMinutes() {
      skippedMs += tenMinutes;
    },
    copyRefreshToken: () => storedRefreshToken(owner),
  };
}

function createWork(client: PhoneClient, view: ViewStore, set: SetView) {
  let running = Promise.resolve();
  /** Runs one action at a time, like the buttons of a phone. */
  function run(work: () => Promise<void>): Promise<void> {
    const run = running.then(() => runNow(work));
    running = run.catch(() => undefined);
    return run;
  }
  /** Runs an action, and shows an error if it fails. */
  async function runNow(work: () => Promise<void>): Promise<void> {
    set({ isBusy: true, notice: undefined });
    try {
      await work();
    } catch (error) {
      set({ notice: { kind: 'error', text: textOf(error) } });
    } finally {
      set({ isBusy: false });
    }
  }
  async function readAgain(): Promise<void> {
    const { state, screen } = view.read();
    if (state.status !== 'signed_in') return;
    if (screen === 'devices') set({ sessions: (await client.sessions.list()).sessions });
    else if (screen === 'security') {
      await client.secondFactor.find();
      const [{ passkeys }, { identities }] = [await client.passkeys.list(), await client.federated.identities()];
      set({ passkeys, identities });
    } else set({ group: await client.group.find() });
  }
  return { run, readAgain };
}

function textOf(error: unknown): string {
  if (error instanceof AuthError) return error.message;
  throw error;
}

function followEvent(event: AuthEvent, view: ViewStore, set: SetView, readAgain: () => Promise<void>): void {
  // If the data can't be read now, they are read when the stream opens again.
  const readQuietly = () => void readAgain().catch(() => undefined);
  switch (event.type) {
    case 'state': {
      const { state } = event;
      const isIn = state.status === 'signed_in';
      const wasIn = view.read().state.status === 'signed_in';
      set({ state, ...(isIn && { screen: 'home' }), ...(state.status === 'signed_out' && signedOutView) });
      if (wasIn && state.status === 'signed_out') set({ screen: 'log_in' });
      return;
    }
    case 'signed_out':
      set({ notice: { kind: 'signed_out', reason: event.reason } });
      return;
    case 'second_factor':
      if (event.status !== 'removal') set({ isAwaitingFactor: event.status === 'waiting', code: '' });
      return;
    case 'new_device':
      set({ notice: { kind: 'new_device', device: event.device } });
      return;
    case 'group_changed':
      readQuietly();
      return;
    case 'stream':
      set({ isStreamOpen: event.status === 'open', ...(event.status === 'open' && { isHalfOpen: false }) });
      // The stream opens after a login too.
      if (event.status === 'open') readQuietly();
      return;
    default:
  }
}

const signedOutView = {
  ...{ group: undefined, sessions: [], passkeys: [], identities: [], invite: undefined, enrolment: undefined },
  ...{ code: '', isStreamOpen: false },
} as const;

interface DeedsDeps {
  readonly owner: Owner;
  readonly client: PhoneClient;
  readonly view: ViewStore;
  readonly set: SetView;
  readonly run: Run;
  readonly readAgain: () => Promise<void>;
}

function deedsOf({ owner, client, view, set, run, readAgain }: DeedsDeps) {
  const now = view.read;
  const keep = () => {
    const { email, password } = now();
    const stored = readAccount(owner);
    // A new password leaves the second factor on.
    const authenticator = stored.email === email ? stored.authenticator : undefined;
    writeAccount(owner, { email, password, exists: true, authenticator });
    set({ hasAccount: true, authenticator });
  };
  return {
    register: () =>
      run(async () => {
        const { email, password, space, inviteToken } = now();
        const invite = space === 'JOIN_EXISTING' ? { invite_token: inviteToken } : {};
        await client.register({ email, password, space_creation_mode: space, ...invite });
        keep();
        set({ screen: 'log_in', notice: { kind: 'registered' } });
      }),
    logIn: () =>
      run(async () => {
        const { email, password } = now();
        await client.logIn({ email, password });
      }),
    logOut: () => run(() => client.logOut()),
    askCode: () =>
      run(async () => {
        const { challenge_id } = await client.account.passwordReset.request({ email: now().email });
        set({ challengeId: challenge_id, code: '', notice: { kind: 'code_sent' } });
      }),
    resetPassword: () =>
      run(async () => {
        const { challengeId: challenge_id = '', code, password: new_password } = now();
        await client.account.passwordReset.confirm({ challenge_id, code, new_password });
        keep();
        set({ challengeId: undefined, code: '', screen: 'log_in', notice: { kind: 'password_reset' } });
      }),
    createInvite: () =>
      run(async () => {
        const { invite_token } = await client.invites.create();
        set({ invite: invite_token });
      }),
    join: () =>
      run(async () => {
        await client.invites.accept(now().inviteToken.trim(), { leave_current_group: true });
        set({ inviteToken: '' });
      }),
    revoke: (sessionId: string) =>
      run(async () => {
        await client.sessions.revoke(sessionId);
        await readAgain();
      }),
  };
}
