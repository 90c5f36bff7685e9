import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Timers } from '@auth-account/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newEmail, password } from '../../support/api/accounts.ts';
import { type ClientFixture, codeOf, noStream, openClientFixture } from '../../support/client/client-fixture.ts';
import { createMemoryStorage } from '../../support/client/memory-storage.ts';
import { createSharedTabs } from '../../support/client/shared-tabs.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: ClientFixture;

beforeAll(async () => {
  fixture = await openClientFixture();
});

afterAll(() => fixture.close());

test('a fetch that ignores its signal is given up in time', async () => {
  const app = await fixture.signedIn(noStream);
  let sent = 0;
  const fetch = () => {
    sent += 1;
    return new Promise<never>(() => undefined);
  };
  const again = app.restart({ fetch });
  const code = codeOf(again.client.account.find());
  for (const tries of [1, 2]) {
    await eventually('a refresh hangs', async () => sent === tries);
    again.giveUpWaiting();
  }
  expect(await code).toBe('CLIENT_TIMEOUT');
});

test("an app's log that throws breaks nothing", async () => {
  const entries: string[] = [];
  const app = await fixture.signedIn({
    ...noStream,
    log({ event }) {
      entries.push(event);
      throw new Error('of the app');
    },
  });
  app.network.plan('/account', 'request_lost');
  expect(await codeOf(app.client.account.find())).toBe('CLIENT_NETWORK');
  expect(entries).toContain('call_failed');
});

/** Timers that run when the test says so. */
function heldTimers(): Timers & { readonly pending: ReadonlySet<() => void> } {
  const pending = new Set<() => void>();
  return {
    pending,
    after(_ms, work) {
      const run = () => {
        pending.delete(run);
        work();
      };
      pending.add(run);
      return () => pending.delete(run);
    },
  };
}

test('a client that was closed while its logout is under way plans nothing any more', async () => {
  const timers = heldTimers();
  const app = await fixture.signedIn({ ...noStream, timers });
  // After this call, the login has looked for pending logouts.
  await app.client.account.find();
  app.network.plan('/logout', 'hangs');
  await app.client.logOut();
  await eventually('the logout is sent', async () => app.network.to('/logout').length === 1);
  app.client.close();
  for (const run of [...timers.pending]) run();
  await eventually('it has failed', async () => app.log.some(({ code }) => code === 'CLIENT_TIMEOUT'));
  await new Promise((resolve) => setImmediate(resolve));
  // A program on Node would run for as long as it has timers.
  expect(timers.pending.size).toBe(0);
});

test('a logout while the storage cannot be read is reported at once, and the session behind it never', async () => {
  const app = await fixture.signedIn(noStream);
  app.storage.isLocked = true;
  const again = app.restart();
  expect(await codeOf(again.client.ready())).toBe('CLIENT_STATE_UNKNOWN');
  expect(await codeOf(again.client.logOut())).toBe('CLIENT_STATE_UNKNOWN');
  const expected = [
    { type: 'state', state: { status: 'unknown', isUnreadable: true } },
    { type: 'state', state: { status: 'signed_out', reason: 'logged_out' } },
    { type: 'signed_out', reason: 'logged_out' },
  ];
  expect(again.events).toEqual(expected);
  app.storage.isLocked = false;
  await eventually('the service knows', async () => again.network.to('/logout').length === 1);
  expect(again.events).toEqual(expected);
});

test('two tabs that start for the first time are one device', async () => {
  const shared = createSharedTabs();
  const storage = createMemoryStorage();
  const tabs = [fixture.app({ ...noStream, ...shared }, storage), fixture.app({ ...noStream, ...shared }, storage)];
  await Promise.all(tabs.map(({ client }) => client.account.passwordReset.request({ email: newEmail() })));
  const secrets = tabs.flatMap(({ network }) =>
    network.to('/password-reset').map(({ headers }) => headers.get('X-Device-Secret')),
  );
  expect(secrets).toEqual([expect.stringMatching(/^[\w-]{36}$/), secrets[0]]);
});

test('a logout that the storage refused does not end what was opened after it in another tab', async () => {
  const shared = { ...noStream, ...createSharedTabs() };
  const one = await fixture.signedIn(shared);
  let isRefused = false;
  const unless = <T>(write: () => Promise<T>) => (isRefused ? Promise.reject(new Error('refused')) : write());
  const two = fixture.app(shared, {
    ...one.storage,
    set: (key, value) => unless(() => one.storage.set(key, value)),
    remove: (key) => unless(() => one.storage.remove(key)),
  });
  await two.client.ready();
  isRefused = true;
  await two.client.logOut();
  // Each attempt to write increases the counter of the client's record.
  for (let time = 1; time <= 5; time += 1) await two.client.ready();
  one.storage.content.clear();
  const { session_id } = await one.client.logIn({ email: one.email, password });
  isRefused = false;
  await two.client.ready();
  await eventually('the other tab has it too', async () => two.client.state().status === 'signed_in');
  expect(two.client.state()).toMatchObject({ session: { session_id } });
  expect((await one.client.account.find()).email).toBe(one.email);
});

const onServer = `
import { createAuthClient } from '@auth-account/client';
import { browserPlatform } from '@auth-account/client/browser';
const auth = createAuthClient({ baseUrl: 'https://auth.example.com', ...browserPlatform() });
const { code } = await auth.ready().catch((error) => error);
console.log(auth.state().status, code);
`;

test('on a server that renders a page, the state is unknown, and nothing keeps the process alive', async () => {
  const cwd = join(import.meta.dirname, '../..');
  const options = { cwd, timeout: 60_000 };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', onServer], options);
  expect(stdout.trim()).toBe('unknown CLIENT_STATE_UNKNOWN');
});
