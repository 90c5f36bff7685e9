import { logIn, password } from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import { signIdToken } from '../support/api/providers.ts';
import { thaw } from './client-device.ts';
import { serviceUrl } from './client-network.ts';
import type { RequestedLogout } from './client-observed.ts';
import { call, kill, start, type World } from './client-world.ts';

/** Something that the app, its user, the device or somebody else does. */
export type Action =
  | { readonly kind: 'log in' | 'log in by a provider'; readonly tab: number; readonly account: number }
  | {
      readonly kind: 'log out' | 'call' | 'token' | 'kill' | 'start' | 'freeze' | 'thaw' | 'forget';
      readonly tab: number;
    }
  /** The internal service refuses the access token `refusals` times. */
  | { readonly kind: 'call a service'; readonly tab: number; readonly refusals: number }
  | {
      readonly kind: 'network' | 'foreground' | 'lock' | 'read only';
      readonly isOn: boolean;
      readonly isReported: boolean;
    }
  | { readonly kind: 'wipe' | 'end from elsewhere' | 'end by an operator' }
  /** The keys of the storage are gone, as after a restored backup. */
  | { readonly kind: 'damage'; readonly isReported: boolean }
  | { readonly kind: 'step the clock'; readonly ms: number };

type Deeds = { readonly [K in Action['kind']]: (world: World, action: Extract<Action, { kind: K }>) => unknown };

const deeds: Deeds = {
  'log in'(world, { tab, account }) {
    const what = account === 0 ? 'log in' : 'log in as another';
    const assertFair = watchOvertaking(world, what);
    call(world, tab, what, (client) =>
      client.logIn({ email: world.emails[account] ?? '', password }).catch((error) => {
        assertFair(error);
        throw error;
      }),
    );
  },
  'log in by a provider'(world, { tab, account }) {
    const what = account === 0 ? 'log in by a provider' : 'log in by a provider as another';
    call(world, tab, what, async (client) => {
      const { challenge_id, nonce } = await client.federated.challenge();
      const id_token = await world.time.busy(() => tokenOf(world, account, nonce));
      const assertFair = watchOvertaking(world, what);
      await client.federated.logInWith('office', { challenge_id, id_token }).catch((error) => {
        assertFair(error);
        throw error;
      });
    });
  },
  'log out': (world, { tab }) => logOut(world, tab),
  call: (world, { tab }) => call(world, tab, 'call', (client) => client.account.find()),
  token: (world, { tab }) => call(world, tab, 'token', (client) => client.accessToken()),
  'call a service'(world, { tab, refusals }) {
    world.network.refusals = refusals;
    call(world, tab, 'call a service', (client) => client.fetch(`${serviceUrl}/items`));
  },
  kill: (world, { tab }) => kill(world, tab),
  start: (world, { tab }) => start(world, tab),
  freeze({ tabs, streams, observed }, { tab }) {
    const { life } = tabs[tab] ?? {};
    // The real gateway does not wait for a frozen page, so courses with streams cut the path in silence instead.
    if (life === undefined || streams) return;
    life.frozen ??= [];
    observed.onFreeze();
  },
  thaw({ tabs, time }, { tab }) {
    const { life } = tabs[tab] ?? {};
    if (life) thaw(life, time.now());
  },
  network({ network, device, streams }, { isOn, isReported }) {
    network.isOn = isOn;
    streams?.onNetwork(isOn, isReported);
    if (isReported) turn(device.online, isOn);
  },
  foreground: ({ device }, { isOn }) => turn(device.active, isOn),
  lock({ device }, { isOn }) {
    device.isLocked = isOn;
  },
  'read only'({ device }, { isOn }) {
    device.isReadOnly = isOn;
  },
  wipe({ device, time, observed }) {
    // The other tab is notified of the newest token, and reads it, a few milliseconds after the write.
    const isUnread = time.now() - device.writtenAt <= 10;
    for (const { sessionId } of isUnread ? observed.held.values() : []) observed.blindSessions.add(sessionId);
    device.content.clear();
    device.faults += 1;
    device.wipes += 1;
  },
  damage({ device, observed }, { isReported }) {
    for (const { sessionId } of observed.held.values()) observed.blindSessions.add(sessionId);
    for (const key of device.content.keys()) device.damaged.set(key, isReported);
    device.faults += 1;
    device.wipes += 1;
  },
  forget: (world, { tab }) => forget(world, tab),
  'step the clock'({ clock }, { ms }) {
    clock.offMs += ms;
  },
  'end from elsewhere': (world) => world.time.busy(() => endFromElsewhere(world)),
  'end by an operator': (world) => world.time.busy(() => endByOperator(world)),
};

/** Returns what the provider's app on the device gets for its user: an ID token that is valid for ten minutes. */
function tokenOf({ people, epoch, time }: World, account: number, nonce: string): Promise<string> {
  const iat = Math.floor((epoch + time.now()) / 1_000);
  return signIdToken('office', { ...people[account], nonce, iat, exp: iat + 600 });
}

/**
 * Returns an assertion about the login's error: `CLIENT_SUPERSEDED` needs a cause, such as a logout, another user's
 * login, or a fault of the storage or the app.
 */
function watchOvertaking({ observed, device, calls }: World, what: string): (error: unknown) => void {
  const isAlone = [...calls].every((one) => one.what === what || !/^log /.test(one.what));
  const before = observed.overtakings();
  return (error) => {
    const isOvertaken = (error as { code?: string }).code === 'CLIENT_SUPERSEDED';
    // If the storage has failed, the tabs may act like two devices.
    const isFair = isAlone && device.faults === 0 && before === observed.overtakings();
    if (isOvertaken && isFair) observed.violations.push('a login was overtaken by none');
  };
}

export function act(world: World, action: Action): void {
  if (/^(log out|kill|freeze|wipe|damage|forget)$/.test(action.kind) || ('account' in action && action.account !== 0))
    world.observed.onOvertaking();
  world.observed.note(JSON.stringify(action));
  world.observed.count(`did: ${action.kind}`);
  const ofWorld = 'tab' in action ? { ...action, tab: action.tab % world.tabs.length } : action;
  (deeds[action.kind] as (world: World, action: Action) => unknown)(world, ofWorld);
}

function turn(of: World['device']['online'], isOn: boolean): void {
  of.isOn = isOn;
  for (const listener of [...of.listeners]) listener(isOn);
}

function logOut(world: World, tab: number): void {
  const { observed, device } = world;
  const state = world.tabs[tab]?.client.state();
  for (const { sessionId } of observed.held.values()) observed.mayEnd.add(sessionId);
  const faultsBefore = observed.held.get(tab)?.faults ?? 0;
  const asked: RequestedLogout = { faults: device.faults, faultsBefore, kills: observed.kills() };
  if (state?.status === 'signed_in') {
    observed.mayEnd.add(state.session.session_id);
    if (!observed.asked.has(state.session.session_id)) observed.asked.set(state.session.session_id, asked);
  }
  call(world, tab, 'log out', async (client) => {
    await client.logOut();
    asked.doneAt = world.time.now();
  });
}

/** Lets the user begin anew. Because nothing notifies the service, it may keep the session. */
function forget(world: World, tab: number): void {
  if (world.tabs[tab]?.client.state().status === 'unknown') {
    heldSessions(world);
    call(world, tab, 'forget', (client) => client.forget());
  } else logOut(world, tab);
}

function heldSessions({ observed }: World): ReadonlySet<string> {
  const held = new Set([...observed.held.values()].map(({ sessionId }) => sessionId));
  for (const sessionId of held) observed.mayEnd.add(sessionId);
  return held;
}

/** Lets the worker end the sessions, as after an operator's order. */
async function endByOperator(world: World): Promise<void> {
  for (const sessionId of heldSessions(world)) await world.services?.forceLogout(sessionId);
  await world.streams?.settle();
}

/** Ends this device's sessions from another device of the user. */
async function endFromElsewhere(world: World): Promise<void> {
  const held = heldSessions(world);
  for (const email of world.emails) {
    const other = await logIn(world.api, email);
    for (const sessionId of held) {
      await world.api.revokeSession({ session_id: sessionId }, bearer(other));
    }
  }
  await world.streams?.settle();
}
