import { logIn, newEmail, registerAccount } from '../support/api/accounts.ts';
import { dataOf } from '../support/api/api-driver.ts';
import { linkIdentity, newPerson, type Person } from '../support/api/providers.ts';
import type { TestApi } from '../support/api/test-api.ts';
import { act } from './client-actions.ts';
import type { Course, Step } from './client-course.ts';
import { thaw } from './client-device.ts';
import type { Observed, RequestedLogout } from './client-observed.ts';
import type { VirtualTime } from './client-time.ts';
import { call, createWorld, kill, type StreamServices, start, type Tab, type World } from './client-world.ts';

/** Runs a course, and returns its events and the broken promises. Apps open streams only if `services` are given. */
export async function walk(
  api: TestApi,
  time: VirtualTime,
  course: Course,
  epoch: number,
  services?: StreamServices,
): Promise<Observed> {
  const { tabs, isSignedIn, isBound = false, steps, isExact = false } = course;
  const emails = [newEmail(), newEmail()];
  const people = emails.map((email) => newPerson({ email }));
  for (const email of emails) await registerAccount(api, email);
  if (steps.some(isByProvider)) for (const person of people) await link(api, person);
  const mayLose = tabs > 1 && !isExact;
  const world = createWorld({ api, services, time, epoch, emails, people, tabs, isBound, mayLose });
  const onUnhandled = (error: unknown) => void world.observed.violations.push(`an unhandled rejection: ${error}`);
  process.on('unhandledRejection', onUnhandled);
  try {
    await time.pass(10);
    if (isSignedIn) await take(world, quiet({ kind: 'log in', tab: 0, account: 0 }));
    for (const step of steps) await take(world, step);
    await finish(world);
  } finally {
    for (let index = 0; index < tabs; index += 1) kill(world, index);
    process.off('unhandledRejection', onUnhandled);
  }
  return world.observed;
}

const isByProvider = ({ action, strike }: Step) =>
  [action, strike?.action].some((one) => one?.kind === 'log in by a provider');

async function link(api: TestApi, person: Person): Promise<void> {
  await dataOf(linkIdentity(api, await logIn(api, person.email), person), 201);
}

const quiet = (action: Step['action']): Step => ({ action, fates: [], storage: [], strike: undefined, passMs: 10 });

async function take(world: World, { action, fates, storage, streams = [], strike, passMs }: Step): Promise<void> {
  const faultsBefore = world.device.faults;
  world.network.fates.push(...fates);
  world.device.fates.push(...storage);
  world.streams?.fates.push(...streams);
  if (strike) world.strikes.push({ left: strike.after, run: () => act(world, strike.action) });
  act(world, action);
  await world.time.pass(passMs);
  look(world, faultsBefore);
}

/** Compares each tab's state with its state before. Each fault since `faultsBefore` may have hit a new session. */
function look(world: World, faultsBefore = world.device.faults): void {
  for (const tab of world.tabs) {
    if (tab === undefined) continue;
    const state = tab.client.state();
    if (state.status === 'signed_in') lookAtSession(world, tab, state.session.session_id, faultsBefore);
    if (state.status === 'signed_out') lookAtNone(world, tab.index, state.reason);
  }
}

function lookAtSession(
  { observed, device, time }: World,
  { index, life }: Tab,
  sessionId: string,
  faultsBefore: number,
): void {
  const { doneAt, faults } = observed.asked.get(sessionId) ?? {};
  // The other tab learns of the logout a little later. A tab that was frozen must first read the storage, and that
  // may be slow.
  const isToKnow = doneAt !== undefined && time.now() > Math.max(doneAt + 100, life.thawedAt + 1_000) && !life.frozen;
  if (isToKnow && faults === device.faults) observed.violations.push('a session was there again after its logout');
  if (observed.held.get(index)?.sessionId !== sessionId) observed.held.set(index, { sessionId, faults: faultsBefore });
}

function lookAtNone({ observed }: World, tab: number, reason: string): void {
  const before = observed.held.get(tab);
  if (before === undefined) return;
  if (!observed.isLost(tab, reason) && !observed.mayEnd.has(before.sessionId))
    observed.violations.push(`an honest sign-out: ${reason}`);
  observed.held.delete(tab);
}

/** Makes everything work again, so that everything which the course left unfinished can finish. */
async function finish(world: World): Promise<void> {
  const { network, device, time, observed } = world;
  world.strikes.splice(0);
  network.fates.splice(0);
  device.fates.splice(0);
  world.streams?.fates.splice(0);
  Object.assign(device, { isLocked: false, isReadOnly: false });
  Object.assign(network, { isOn: true, refusals: 0 });
  for (const tab of world.tabs) if (tab) thaw(tab.life, time.now());
  world.tabs.forEach((_, index) => {
    start(world, index);
  });
  for (const kind of ['network', 'foreground'] as const) act(world, { kind, isOn: true, isReported: true });
  await time.pass(100_000);
  // Only the user can give up what can never be read again. A page that still has its session in memory can't refresh it.
  const isStuck = [...device.damaged.keys()].some((key) => key.includes('.session.'));
  world.tabs.forEach((_, index) => {
    if (isStuck) act(world, { kind: 'forget', tab: index });
  });
  await time.pass(600_000);
  look(world);
  world.tabs.forEach((_, index) => {
    call(world, index, 'last call', (client) => client.account.find());
  });
  await time.pass(60_000);
  look(world);
  for (const { what } of world.calls) observed.violations.push(`never ended: ${what}`);
  await compareWithServer(world);
}

async function compareWithServer(world: World): Promise<void> {
  const { tabs, observed, device, api } = world;
  const { violations } = observed;
  const states = tabs.map((tab) => tab?.client.state());
  const owned = new Set(states.map((state) => (state?.status === 'signed_in' ? state.session.session_id : undefined)));
  if (states.some((state) => state?.status === 'unknown')) violations.push('the state is unknown for ever');
  // A tab can't learn what another one wrote if the storage has refused or lost it.
  const mayDisagree = device.wipes > 0 || tabs.some((tab) => tab?.life.isRefused);
  if (owned.size > 1 && !mayDisagree) violations.push(`the tabs disagree: ${JSON.stringify(states)}`);
  lookAtStreams(world, owned);
  const isLive = async (_id: string) => (await api.collections.sessions.findOne({ _id }))?.is_revoked === false;
  for (const sessionId of owned) {
    if (sessionId && !(await isLive(sessionId))) violations.push('an app holds a session that is over');
  }
  for (const [sessionId, asked] of observed.asked) {
    const isWaiting = !owned.has(sessionId) && (await isLive(sessionId));
    if (isWaiting && !mayBeLost(asked, device.faults, observed.kills())) violations.push('a logout never arrived');
  }
}

/**
 * Asserts that a signed-in device has its session's stream, unless another has taken it over, and that others have
 * none.
 */
function lookAtStreams({ streams, tabs, observed }: World, owned: ReadonlySet<string | undefined>): void {
  if (streams === undefined) return;
  const { violations, count } = observed;
  const isToHave = (sessionId: string) => !tabs.some((tab) => tab && streams.hasStopped(tab.life, sessionId));
  for (const { sessionId } of streams.heard) if (!owned.has(sessionId)) violations.push('a stream without a session');
  const open = [...streams.heard].filter((stream) => stream.isOpen() && stream.isConnected());
  const [sessionId] = owned;
  if (owned.size > 1 || sessionId === undefined) return;
  count(open.length > 0 ? 'stream: open at the end' : 'stream: left to another at the end');
  if (open.length === 0 && isToHave(sessionId)) violations.push('no stream is open at the end');
}

/**
 * Returns true if the logout may be lost, because the storage failed to keep it and the app, which had it only in its
 * memory, was killed.
 */
function mayBeLost(
  { faults, faultsBefore, kills, doneAt }: RequestedLogout,
  faultsNow: number,
  killsNow: number,
): boolean {
  return (doneAt === undefined ? faultsBefore : faults) !== faultsNow && kills !== killsNow;
}
