import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newEmail, password } from '../../support/api/accounts.ts';
import {
  type ClientFixture,
  codeOf,
  noStream,
  openClientFixture,
  type TestApp,
} from '../../support/client/client-fixture.ts';
import { createMemoryStorage } from '../../support/client/memory-storage.ts';
import { createSharedTabs } from '../../support/client/shared-tabs.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: ClientFixture;

beforeAll(async () => {
  fixture = await openClientFixture();
});

afterAll(() => fixture.close());

const unreadable = { status: 'unknown', isUnreadable: true };
const sessionOf = (app: TestApp) => {
  const state = app.client.state();
  return state.status === 'signed_in' ? state.session.session_id : undefined;
};
/** The tests' timers hurry, so this is 30 ms. */
const hurried = { ...noStream, storageTimeoutMs: 3_000 };

// answers: react-native-keychain 458, https://github.com/oblador/react-native-keychain/issues/458
// After a restored backup, every read failed for ever.
test.each(['.session.', ''])(
  'a user whose entries %j can never be read again begins anew by `forget`',
  async (part) => {
    const app = await fixture.signedIn(noStream);
    app.storage.damage(part, false);
    const again = app.restart();
    expect(await codeOf(again.client.ready())).toBe('CLIENT_STATE_UNKNOWN');
    expect(await codeOf(again.client.logIn({ email: app.email, password }))).toBe('CLIENT_STATE_UNKNOWN');
    expect(again.client.state()).toEqual(unreadable);
    await again.client.forget();
    expect(again.client.state()).toEqual({ status: 'signed_out', reason: 'logged_out' });
    await again.client.logIn({ email: app.email, password });
    const held = sessionOf(again);
    const later = again.restart();
    expect(await later.client.ready()).toMatchObject({ status: 'signed_in', session: { session_id: held } });
    expect((await later.client.account.find()).email).toBe(app.email);
    // The events are reported a little later.
    expect(again.events.map((event) => event.type === 'signed_out' && event.reason)).toContain('logged_out');
  },
);

test('a device entry that can never be read again keeps nobody from logging in after `forget`', async () => {
  const app = await fixture.signedIn(noStream);
  await app.client.logOut();
  app.storage.damage('.device', false);
  const again = app.restart();
  expect(await again.client.ready()).toMatchObject({ status: 'signed_out' });
  expect(await codeOf(again.client.logIn({ email: app.email, password }))).toBe('CLIENT_STATE_UNKNOWN');
  await again.client.forget();
  await again.client.logIn({ email: app.email, password });
  const later = again.restart();
  await later.client.ready();
  await later.client.logOut();
  await later.client.logIn({ email: app.email, password });
});

test('a user who forgets a session that can be read is logged out, and keeps the device’s id', async () => {
  const app = await fixture.signedIn(noStream);
  const device = app.storage.content.get('auth-account.device');
  await app.client.forget();
  expect(app.client.state()).toEqual({ status: 'signed_out', reason: 'logged_out' });
  await eventually('the service knows', async () => app.network.to('/logout').length === 1);
  expect(app.storage.content.get('auth-account.device')).toBe(device);
});

test('a storage that says its content is lost for good signs the user out, with the reason', async () => {
  const app = await fixture.signedIn(noStream);
  app.storage.damage('', true);
  const again = app.restart();
  const lost = { status: 'signed_out', reason: 'storage_lost' };
  expect(await again.client.ready()).toEqual(lost);
  expect(again.events).toEqual([
    { type: 'state', state: lost },
    { type: 'signed_out', reason: 'storage_lost' },
  ]);
  await again.client.logIn({ email: app.email, password });
  const later = again.restart();
  expect((await later.client.ready()).status).toBe('signed_in');
});

test('a session in memory outlives the loss of the storage’s content', async () => {
  const { email, restart, storage } = await fixture.signedIn(noStream);
  const app = restart();
  await app.client.ready();
  storage.damage('', true);
  app.clock.monotonic += 3_600_000;
  expect((await app.client.account.find()).email).toBe(email);
  const again = app.restart();
  expect((await again.client.ready()).status).toBe('signed_in');
});

test('an app whose storage never works lives in memory after `forget`', async () => {
  const storage = createMemoryStorage();
  storage.isLocked = true;
  const app = fixture.app(noStream, storage);
  expect(await codeOf(app.client.ready())).toBe('CLIENT_STATE_UNKNOWN');
  await app.client.forget();
  const email = newEmail();
  await app.client.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  await app.client.logIn({ email, password });
  app.clock.monotonic += 3_600_000;
  expect((await app.client.account.find()).email).toBe(email);
});

test('a session that was forgotten while the storage was locked stays forgotten when it opens', async () => {
  const app = await fixture.signedIn(noStream);
  app.storage.isLocked = true;
  const again = app.restart();
  expect(await codeOf(again.client.ready())).toBe('CLIENT_STATE_UNKNOWN');
  await again.client.forget();
  app.storage.isLocked = false;
  expect((await again.client.ready()).status).toBe('signed_out');
  await eventually('it is written', async () => !JSON.stringify([...app.storage.content]).includes('refresh_token'));
  const later = again.restart();
  expect((await later.client.ready()).status).toBe('signed_out');
  await later.client.logIn({ email: app.email, password });
  expect((await later.restart().client.ready()).status).toBe('signed_in');
});

test('a session that was forgotten, but cannot be removed, stays forgotten', async () => {
  const app = await fixture.signedIn(noStream);
  app.clock.monotonic += 3_600_000;
  await app.client.account.find();
  const { get, set, remove } = app.storage;
  let isBroken = true;
  const unless = <T>(isRefused: boolean, work: () => Promise<T>) =>
    isBroken && isRefused ? Promise.reject(new Error('it fails')) : work();
  const isNewest = (key: string) => key.endsWith('.session.0');
  app.storage.get = (key) => unless(true, () => get(key));
  app.storage.set = (key, value) => unless(isNewest(key), () => set(key, value));
  app.storage.remove = (key) => unless(isNewest(key), () => remove(key));
  const again = app.restart();
  expect(await codeOf(again.client.ready())).toBe('CLIENT_STATE_UNKNOWN');
  await again.client.forget();
  isBroken = false;
  await again.client.logIn({ email: newEmail(), password }).catch(() => undefined);
  expect(again.client.state().status).toBe('signed_out');
  expect((await again.restart().client.ready()).status).toBe('signed_out');
});

test('a read that began before `forget` brings no session back', async () => {
  const app = await fixture.signedIn(noStream);
  app.storage.hangs = true;
  const again = app.restart();
  const ready = again.client.ready();
  await eventually('both slots are being read', async () => app.storage.held() === 2);
  const forgotten = again.client.forget();
  app.storage.release();
  await Promise.all([ready, forgotten]);
  expect((await again.client.ready()).status).toBe('signed_out');
  expect(again.events).toEqual([
    { type: 'state', state: { status: 'signed_out', reason: 'logged_out' } },
    { type: 'signed_out', reason: 'logged_out' },
  ]);
});

test('`forget` in one tab ends the session in the other', async () => {
  const shared = { ...noStream, ...createSharedTabs() };
  const one = await fixture.signedIn(shared);
  const broken = createMemoryStorage();
  broken.isLocked = true;
  const two = fixture.app(shared, {
    ...one.storage,
    get: (key) => (broken.isLocked ? broken.get(key) : one.storage.get(key)),
  });
  expect(await codeOf(two.client.ready())).toBe('CLIENT_STATE_UNKNOWN');
  await two.client.forget();
  broken.isLocked = false;
  await eventually('the other tab knows', async () => one.client.state().status === 'signed_out');
  expect((await two.client.ready()).status).toBe('signed_out');
});

test('a read that never settles is given up, and the next one finds the session', async () => {
  const app = await fixture.signedIn(hurried);
  const { session_id } = (app.client.state() as { session: { session_id: string } }).session;
  app.storage.hangs = true;
  const again = app.restart();
  const calls = [again.client.ready(), again.client.account.find(), again.client.logIn({ email: app.email, password })];
  const codes = await Promise.all(calls.map(codeOf));
  expect(codes).toEqual(calls.map(() => 'CLIENT_STATE_UNKNOWN'));
  expect(again.client.state()).toEqual(unreadable);
  // The calls that hang stay so. Only later ones are answered.
  app.storage.hangs = false;
  expect(await again.client.ready()).toMatchObject({ status: 'signed_in', session: { session_id } });
  app.storage.release();
  expect((await again.client.account.find()).email).toBe(app.email);
});

test('a write that never settles delays a renewal, and ends no session', async () => {
  const app = await fixture.signedIn(hurried);
  const { set } = app.storage;
  let isHung = true;
  app.storage.set = (key, value) => (isHung ? new Promise(() => undefined) : set(key, value));
  app.clock.monotonic += 3_600_000;
  expect((await app.client.account.find()).email).toBe(app.email);
  isHung = false;
  app.clock.monotonic += 3_600_000;
  await app.client.account.find();
  const again = app.restart();
  expect((await again.client.account.find()).email).toBe(app.email);
});

test('a write that lands after it was given up does not undo a later one', async () => {
  const app = await fixture.signedIn(hurried);
  const { set } = app.storage;
  const late: (() => void)[] = [];
  let isHung = true;
  app.storage.set = async (key, value) => {
    if (isHung && key.includes('.session.')) await new Promise<void>((resolve) => late.push(resolve));
    return set(key, value);
  };
  const refresh = async () => {
    app.clock.monotonic += 3_600_000;
    await app.client.account.find();
  };
  await refresh();
  isHung = false;
  for (const _time of [1, 2, 3, 4]) await refresh();
  const newest = [...app.storage.content];
  expect(late.length).toBeGreaterThan(0);
  for (const land of late) land();
  await eventually('the later one is there', async () => isDeepStrictEqual([...app.storage.content], newest));
  await app.client.account.find();
  expect([...app.storage.content]).toEqual(newest);
});

test('locks that refuse keep no tab from its session and its stream', async () => {
  const locks = { request: () => Promise.reject(new DOMException('no', 'SecurityError')) };
  const app = await fixture.signedIn({ locks });
  await eventually('the stream is open', async () => app.client.stream.isOpen());
});

test('locks that ignore their signal keep no tab from working', async () => {
  const lockMs = 45_000;
  const timers = {
    after(ms: number, work: () => void) {
      const timer = setTimeout(work, ms === lockMs ? 1 : ms);
      return () => clearTimeout(timer);
    },
  };
  const locks = { request: () => new Promise<never>(() => undefined) };
  const app = await fixture.signedIn({ ...noStream, locks, timers });
  expect((await app.client.account.find()).email).toBe(app.email);
});
