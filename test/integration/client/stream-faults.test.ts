import type { AuthClientOptions, DeviceSignal } from '@auth-account/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newEmail, password } from '../../support/api/accounts.ts';
import { type ClientFixture, openClientFixture, type TestApp } from '../../support/client/client-fixture.ts';
import { createHurriedTimers } from '../../support/client/hurried-timers.ts';
import { createMemoryStorage } from '../../support/client/memory-storage.ts';
import { createSharedTabs } from '../../support/client/shared-tabs.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: ClientFixture;

beforeAll(async () => {
  fixture = await openClientFixture();
});

afterAll(() => fixture.close());

const untilOpen = (app: TestApp) => eventually('the stream is open', async () => app.client.stream.isOpen());

/** Opens two tabs of a page. The first tab has the stream. */
async function twoTabs(options: Partial<AuthClientOptions> = {}): Promise<[TestApp, TestApp]> {
  const shared = createSharedTabs();
  const storage = createMemoryStorage();
  const [one, two] = [fixture.app({ ...shared, ...options }, storage), fixture.app(shared, storage)];
  const email = newEmail();
  await one.client.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  await one.client.logIn({ email, password });
  await untilOpen(one);
  await eventually('the other tab knows', async () => two.client.state().status === 'signed_in');
  return [one, two];
}

test('a hidden tab whose stream has ended leaves it to the others', async () => {
  let report: (value: boolean) => void = () => undefined;
  const appState: DeviceSignal = {
    subscribe(listener) {
      report = listener;
      return () => undefined;
    },
  };
  const [one, two] = await twoTabs({ appState });
  report(false);
  one.sockets.cut();
  await untilOpen(two);
  expect(one.client.stream.isOpen()).toBe(false);
});

test('a stream lasts longer with the token that another tab has got', async () => {
  const [one, two] = await twoTabs();
  for (const tab of [one, two]) tab.clock.monotonic += 3_600_000;
  await two.client.account.find();
  one.giveUpWaiting();
  await eventually('it is sent', async () => one.sockets.steps.includes('sent auth'));
  expect(one.network.to('/refresh')).toHaveLength(0);
  expect(one.client.stream.isOpen()).toBe(true);
});

test("a portal's 401 to the request why a stream has ended does not end it for good", async () => {
  const app = await fixture.signedIn();
  await untilOpen(app);
  app.sockets.isRefused = true;
  app.network.plan('/account', 'foreign_401');
  app.sockets.cut();
  await eventually('it has asked twice', async () => {
    app.clock.monotonic += 360_000;
    return app.network.to('/account').length >= 2;
  });
  app.sockets.isRefused = false;
  await untilOpen(app);
});

test('while a gateway is away its apps ask the api for the reason late and seldom, or when somebody opens the app', async () => {
  let report: (value: boolean) => void = () => undefined;
  const appState: DeviceSignal = {
    subscribe(listener) {
      report = listener;
      return () => undefined;
    },
  };
  const app = await fixture.signedIn({ appState });
  await untilOpen(app);
  const asked = () => app.network.to('/account').length;
  const fail = async (times: number) => {
    const wanted = app.sockets.handshakes + times;
    await eventually('handshakes have failed', async () => {
      // Pauses of more than 5 s.
      app.giveUpWaiting();
      return app.sockets.handshakes >= wanted;
    });
  };
  const before = asked();
  app.sockets.isRefused = true;
  app.sockets.cut();
  await fail(6);
  expect(asked()).toBe(before);
  app.clock.monotonic += 90_000;
  await fail(6);
  expect(asked()).toBe(before + 1);
  app.clock.monotonic += 360_000;
  await fail(6);
  expect(asked()).toBe(before + 2);
  report(false);
  report(true);
  await fail(6);
  expect(asked()).toBe(before + 3);
});

test('a handshake with too many cookies is reported, and tried again only much later', async () => {
  const hurried = createHurriedTimers();
  const pauses: number[] = [];
  const timers: typeof hurried = {
    ...hurried,
    after(ms, work) {
      pauses.push(ms);
      return hurried.after(ms, work);
    },
  };
  const app = fixture.app({ timers });
  const email = newEmail();
  // A browser sends its cookies with a handshake, and with a request that includes credentials.
  app.sockets.cookie = app.network.cookie = `crumbs=${'x'.repeat(20_000)}`;
  await app.client.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  await app.client.logIn({ email, password });
  const answers = () => app.log.filter(({ event, status }) => event === 'stream_refused' && status === 431).length;
  const waits = () => pauses.filter((ms) => ms >= 270_000 && ms <= 300_000).length;
  for (const times of [1, 2]) {
    await eventually('it waits for long', async () => waits() === times);
    expect([answers(), app.sockets.handshakes]).toEqual([times, times + 2]);
    timers.runLong();
  }
  expect(app.events.filter(({ type }) => type === 'stream_refused')).toEqual([
    { type: 'stream_refused', reason: 'headers_too_large' },
  ]);
  await eventually('it waits again', async () => waits() === 3);
  app.sockets.cookie = app.network.cookie = 'crumbs=few';
  timers.runLong();
  await untilOpen(app);
});

test('a stream that always ends at once comes back after growing pauses', async () => {
  const pauses: number[] = [];
  /** A stream that says hello, and closes because the token has expired. */
  class Faulty {
    onopen = null;
    onmessage: ((event: { data: unknown }) => void) | null = null;
    onclose: ((event: { code: number; reason: string }) => void) | null = null;
    onerror = null;
    constructor() {
      setTimeout(() => this.onmessage?.({ data: '{"type":"hello"}' }), 1);
      setTimeout(() => this.onclose?.({ code: 4002, reason: 'TOKEN_EXPIRED' }), 2);
    }
    send = () => undefined;
    close = () => undefined;
  }
  const timers = {
    after(ms: number, work: () => void) {
      // The connection's other timers are longer.
      if (ms < 9_000) pauses.push(ms);
      const timer = setTimeout(work, ms < 9_000 ? 0 : ms);
      return () => clearTimeout(timer);
    },
  };
  const app = await fixture.signedIn({ WebSocket: Faulty, timers });
  await eventually('it has come back', async () => app.network.to('/refresh').length >= 3);
  app.client.close();
  expect(pauses.length).toBeGreaterThanOrEqual(2);
});
