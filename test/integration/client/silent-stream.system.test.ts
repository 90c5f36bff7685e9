import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeviceSignal } from '@auth-account/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newEmail, password } from '../../support/api/accounts.ts';
import { type ClientFixture, openClientFixture, type TestApp } from '../../support/client/client-fixture.ts';
import { createSharedTabs } from '../../support/client/shared-tabs.ts';
import { type HoldingProxy, startHoldingProxy } from '../../support/stores/holding-proxy.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: ClientFixture;
/** A proxy before the gateway. When frozen, it silently drops every byte of the present connections. */
let path: HoldingProxy;
let base: string;
let child: ChildProcess | undefined;

beforeAll(async () => {
  fixture = await openClientFixture();
  path = await startHoldingProxy(Number(new URL(fixture.gateway.base).port));
  base = path.url.replace('redis:', 'ws:');
});

afterAll(async () => {
  // A test that ran out of time leaves its program.
  child?.kill('SIGKILL');
  await fixture.close();
  await path.close();
});

/** Creates a device signal whose values a test reports. */
function newSignal(): DeviceSignal & { report(value: boolean): void } {
  let own: (value: boolean) => void = () => undefined;
  return {
    subscribe(listener) {
      own = listener;
      return () => undefined;
    },
    report: (value) => own(value),
  };
}

const signals = { appState: newSignal(), connectivity: newSignal() };

/** Milliseconds, longer than a test waits, so that silence alone cannot cause what the test waits for. */
const quietMs = 300_000;

async function onSilentPath(): Promise<TestApp> {
  const app = fixture.app({ ...signals, quietMs });
  app.sockets.base = base;
  const email = newEmail();
  await app.client.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  await app.client.logIn({ email, password });
  await eventually('the stream is open', async () => app.client.stream.isOpen());
  path.freeze();
  return app;
}

async function backAndForth(signal: ReturnType<typeof newSignal>): Promise<void> {
  signal.report(false);
  signal.report(true);
}

test.each<[string, string, (app: TestApp) => unknown]>([
  ['the app comes to the foreground', 'ping', () => backAndForth(signals.appState)],
  ['there is a network again', 'ping', () => backAndForth(signals.connectivity)],
  [
    'a call is made after the timers stood still',
    'ping',
    async (app) => {
      app.clock.monotonic += quietMs + 1;
      await app.client.account.find();
    },
  ],
  [
    'a new token is sent',
    'auth',
    async (app) => {
      app.clock.monotonic += 3_600_000;
      await app.client.account.find();
    },
  ],
  ['it was quiet for a while', 'ping', (app) => app.giveUpWaiting()],
])('a stream that is cut in silence is opened anew once %s', async (_, asked, cause) => {
  const app = await onSilentPath();
  const seen = () => app.events.flatMap((event) => (event.type === 'stream' ? [event.status] : []));
  expect(seen()).toEqual(['open']);
  await cause(app);
  await eventually('an answer is demanded', async () => app.sockets.steps.includes(`sent ${asked}`));
  app.giveUpWaiting();
  await eventually('the app hears that it is open again', async () => seen().length === 3);
  expect(seen()).toEqual(['open', 'closed', 'open']);
  expect(app.sockets.live()).toBe(1);
  app.client.close();
});

test('a tab that comes to the foreground has the tab that holds the stream ask', async () => {
  const [held, shown] = [{ connectivity: newSignal(), appState: newSignal() }, signals];
  const shared = createSharedTabs();
  const leader = fixture.app({ ...held, ...shared, quietMs });
  leader.sockets.base = base;
  const email = newEmail();
  await leader.client.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  await leader.client.logIn({ email, password });
  await eventually('the stream is open', async () => leader.client.stream.isOpen());
  const other = fixture.app({ ...shown, ...shared, quietMs }, leader.storage);
  await other.client.ready();
  path.freeze();
  leader.sockets.steps.length = 0;
  await backAndForth(shown.appState);
  await eventually('an answer is demanded', async () => leader.sockets.steps.includes('sent ping'));
  leader.giveUpWaiting();
  await eventually('it is open again', async () => leader.client.stream.isOpen());
  expect(other.sockets.live()).toBe(0);
  leader.client.close();
  other.client.close();
});

test('a stream that answers stays open, however often it is asked', async () => {
  const app = fixture.app({ ...signals, quietMs });
  const email = newEmail();
  await app.client.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  await app.client.logIn({ email, password });
  await eventually('the stream is open', async () => app.client.stream.isOpen());
  for (let count = 1; count <= 3; count += 1) {
    await backAndForth(signals.appState);
    await eventually('it has answered', async () => app.sockets.pongs() === count);
  }
  app.giveUpWaiting();
  expect(app.sockets.steps.filter((step) => step !== 'sent ping')).toEqual(['open']);
  app.client.close();
});

const program = `
  import { createAuthClient } from '@auth-account/client';
  import { nodePlatform } from '@auth-account/client/node';
  const [baseUrl, path, directory, email, password] = process.argv.slice(1);
  const platform = nodePlatform(directory);
  class WebSocket extends platform.WebSocket {
    constructor(url, protocols) {
      super(path + new URL(url).pathname, protocols);
    }
  }
  const auth = createAuthClient({ baseUrl, ...platform, WebSocket });
  auth.subscribe(({ status }) => status === 'open' && process.send('open'));
  process.once('message', () => {
    auth.close();
    process.disconnect();
  });
  await auth.logIn({ email, password });
`;

test('a program ends when it has closed its client, though the path of the stream is cut', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'auth-account-client-'));
  const app = fixture.app({ stream: false });
  const email = newEmail();
  await app.client.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  const args = ['--input-type=module', '-e', program, fixture.api.base, base, directory, email, password];
  child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  try {
    await once(child, 'message');
    path.freeze();
    const ended = once(child, 'exit');
    child.send('close');
    expect(await ended).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
    await rm(directory, { recursive: true });
  }
});
