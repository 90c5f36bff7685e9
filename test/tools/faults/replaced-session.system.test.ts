import { randomUUID } from 'node:crypto';
import { newDeviceTopic } from '@auth-account/contracts';
import { waitUntil } from '@auth-account/local-stack';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { logIn, logOut } from '../../support/api/accounts.ts';
import { startTestStack, type TestStack } from '../../support/processes/test-stack.ts';
import { type App, createApp, createDevice, createWorld } from './load/app.ts';
import { heldBy } from './load/credentials.ts';
import { createHistory } from './load/history.ts';
import { onFrame, openStream } from './load/push.ts';
import { logInAgain, logIn as logInAsApp, logOutAll } from './load/sessions.ts';
import { register } from './load/spaces.ts';

let stack: TestStack;
let app: App;
/** The history's notes. */
let notes: { readonly what: string; readonly code?: unknown }[];

beforeAll(async () => {
  stack = await startTestStack();
});
afterAll(() => stack.close());

/** Creates an app of the load that is logged in and has its stream open. */
beforeEach(async () => {
  notes = [];
  const note = (what: string, detail: object) => void notes.push({ ...detail, what });
  const processes = { apis: [stack.apiUrl], gateways: [stack.pushUrl] };
  const world = await createWorld({ history: { ...createHistory(), note }, ...processes });
  app = createApp(world, 1, { random: () => 0.5, timeoutMs: 20_000 });
  await register(world, app.person);
  await logInAsApp(app);
  await openStream(app);
  expect(app.device).toMatchObject({ stream: expect.anything(), session: { state: 'live' } });
});

/** Logs the app's user in by another client. */
function logInElsewhere(fields: object) {
  const { email, password } = heldBy(app.person);
  return logIn(stack, email, { password, ...fields });
}

/** Returns the codes with which the app's streams closed, and the violations. */
async function observed() {
  const { history } = app.world;
  await history.close();
  const closes = notes.filter(({ what }) => what === 'stream closed');
  return { codes: closes.map(({ code }) => code), violations: history.violations.map(({ what }) => what) };
}

// guarantees: login-closes-streams
test('an app that logs in again gets 4005 on its old stream, and goes on with its new session', async () => {
  const { session: former, stream } = app.device;
  await logInAgain(app);
  await waitUntil(async () => stream?.isOpen() === false, { what: 'the old stream to close', timeoutMs: 60_000 });
  expect(former?.state).toBe('ended');
  expect(app.device.session).toMatchObject({ state: 'live', deviceId: app.device.deviceId });
  await openStream(app);
  expect(app.device.stream?.isOpen()).toBe(true);
  expect(await observed()).toEqual({ codes: [4005], violations: [] });
});

test('an app receives the notification of a login on another device of its user', async () => {
  await logInElsewhere({ device_id: randomUUID() });
  const isReported = async () => notes.some(({ what }) => what === 'a new device seen');
  await waitUntil(isReported, { what: 'the notification', timeoutMs: 60_000, intervalMs: 50 });
  expect(await observed()).toEqual({ codes: [], violations: [] });
});

test.each([
  ['of somebody else', 'an app was notified of a new device that is not another one of its user'],
  ['of its user', undefined],
])('only a notification about a device of another user is a violation: a device %s', async (whose, violation) => {
  const { session } = app.device;
  if (session === undefined) throw new Error('the app is not logged in');
  const userId = whose === 'of its user' ? session.userId : randomUUID();
  const other = { ...session, sessionId: randomUUID(), userId };
  app.world.ledger.sessions.set(other.sessionId, other);
  const message = { type: 'message', topic: newDeviceTopic, payload: { session_id: other.sessionId } } as const;
  onFrame(app, session, { ...message, id: 'made-up', timestamp: new Date().toISOString() });
  expect((await observed()).violations).toEqual(violation === undefined ? [] : [violation]);
});

test.each([
  ['live', 'ended'],
  ['unsure', 'unsure'],
] as const)('after a logout of all by an ended session, which was %s, others are %s', async (own, others) => {
  const device = createDevice();
  const person = { ...app.person, devices: [app.device, device] };
  await logInAsApp({ ...app, person, device });
  const [{ session: first }, { session: other }] = [app.device, device];
  if (first === undefined || other === undefined) throw new Error('the apps are not logged in');
  first.state = own;
  await logOut(stack, { access_token: first.accessToken, refresh_token: first.refreshToken });
  await logOutAll({ ...app, person });
  expect([first.state, other.state]).toEqual(['ended', others]);
});

test('a close with 4005 is a violation if the app did nothing', async () => {
  await logInElsewhere({ device_id: app.device.deviceId });
  await waitUntil(async () => app.device.stream === undefined, { what: 'its stream to close', timeoutMs: 60_000 });
  expect(await observed()).toEqual({ codes: [4005], violations: ['the stream of a live session was ended'] });
});
