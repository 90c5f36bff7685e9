import { AuthError, createAuthClient } from '@auth-account/client';
import { createPushMessagePublisher } from '@auth-account/messaging';
import { failFastOptions, openRedis, redisKeys } from '@auth-account/redis';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, newEmail, password } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { type ClientFixture, openClientFixture, type TestApp } from '../../support/client/client-fixture.ts';
import { createMemoryStorage } from '../../support/client/memory-storage.ts';
import { createSharedTabs } from '../../support/client/shared-tabs.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let fixture: ClientFixture;

beforeAll(async () => {
  fixture = await openClientFixture();
});

afterAll(() => fixture.close());

const untilOpen = (app: TestApp) => eventually('the stream is open', async () => app.client.stream.isOpen());

async function withStream(): Promise<TestApp & { readonly email: string }> {
  const app = await fixture.signedIn();
  await untilOpen(app);
  return app;
}

describe('8. the stream follows the session', () => {
  test('the stream opens after the login, and lasts with each refresh', async () => {
    const app = await withStream();
    app.clock.monotonic += 3_600_000;
    await app.client.account.find();
    // After so much time the client asks whether the stream is alive.
    expect(app.sockets.steps).toEqual(['open', 'sent ping', 'sent auth']);
    expect(app.client.stream.isOpen()).toBe(true);
  });

  test('the stream is absent, and the log says so, on a platform without WebSocket', async () => {
    const { WebSocket } = globalThis;
    const log: unknown[] = [];
    Object.assign(globalThis, { WebSocket: undefined });
    const options = {
      baseUrl: fixture.api.base,
      storage: createMemoryStorage(),
      log: (entry: unknown) => log.push(entry),
    };
    const client = createAuthClient(options);
    Object.assign(globalThis, { WebSocket });
    expect(log).toEqual([expect.objectContaining({ event: 'stream_unavailable' })]);
    client.close();
  });

  test('the stream closes before a login or logout begins, and 4005 is no logout', async () => {
    const app = await withStream();
    await app.client.logIn({ email: app.email, password });
    await untilOpen(app);
    await app.client.logOut();
    expect(app.sockets.steps).toEqual(['open', 'left', 'open', 'left']);
    expect(app.events.filter(({ type }) => type === 'signed_out')).toHaveLength(1);
    expect(app.sockets.live()).toBe(0);
  });

  test('a login of another app on the same device takes the session over, and nothing is lost', async () => {
    const app = await withStream();
    const state = app.client.state();
    const device_id = state.status === 'signed_in' ? state.session.device_id : '';
    await logIn(fixture.api, app.email, { device_id });
    await eventually('the gateway has closed it', async () => app.sockets.steps.includes('closed 4005'));
    expect(app.client.state().status).toBe('signed_in');
    await expect(app.client.account.find()).rejects.toBeInstanceOf(AuthError);
    expect(app.client.state()).toEqual({ status: 'signed_out', reason: 'replaced' });
  });

  test('a session that another device has ended says so at once', async () => {
    const app = await withStream();
    const state = app.client.state();
    const id = state.status === 'signed_in' ? state.session.session_id : '';
    const headers = bearer(await logIn(fixture.api, app.email));
    await fixture.api.revokeSession({ session_id: id }, headers);
    await eventually('the app is out', async () => app.client.state().status === 'signed_out');
    expect(app.client.state()).toEqual({ status: 'signed_out', reason: 'revoked' });
  });

  test('a move to another group is a refresh and a new stream', async () => {
    const owner = await withStream();
    const app = await withStream();
    const { invite_token } = await owner.client.invites.create();
    const headers = bearer(await app.client.accessToken());
    await fixture.api.acceptInvite({ token: invite_token, leave_current_group: true }, headers);
    await eventually('the app knows', async () => app.events.some(({ type }) => type === 'group_changed'));
    await eventually('the stream is new', async () => app.sockets.steps.filter((step) => step === 'open').length === 2);
    expect(app.sockets.steps.filter((step) => step.startsWith('closed'))).toEqual(['closed 4004']);
  });

  test('a handshake that fails is asked about by HTTP, and tried again', async () => {
    const app = fixture.app();
    const email = newEmail();
    app.sockets.isRefused = true;
    await app.client.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
    await app.client.logIn({ email, password });
    await eventually('it has asked', async () => app.network.to('/api/v1/account').length >= 2);
    expect(app.client.state().status).toBe('signed_in');
    app.sockets.isRefused = false;
    await untilOpen(app);
  });

  test('one tab holds the stream for all', async () => {
    const shared = createSharedTabs();
    const storage = createMemoryStorage();
    const [one, two] = [fixture.app(shared, storage), fixture.app(shared, storage)];
    const email = newEmail();
    await one.client.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
    const { home_group_id } = await one.client.logIn({ email, password });
    await untilOpen(one);
    await eventually('the other tab knows', async () => two.client.state().status === 'signed_in');
    const redis = openRedis(
      { REDIS_URL: testEnvironment().redisUrl },
      { ...failFastOptions(), enableOfflineQueue: true },
    );
    const push = createPushMessagePublisher(redis, redisKeys(fixture.api.keyPrefix));
    await push.toGroup(home_group_id, { topic: 'inventory.item.changed', payload: { item_id: 'milk' } });
    redis.disconnect();
    for (const tab of [one, two]) {
      await eventually('both have the message', async () => tab.events.some(({ type }) => type === 'message'));
    }
    expect(two.sockets.steps).toEqual([]);
    one.client.close();
    await untilOpen(two);
  });

  test('a tab that let another one lead while it fetched a token opens no stream', async () => {
    const shared = createSharedTabs();
    const one = await fixture.signedIn(shared);
    await untilOpen(one);
    const two = fixture.app(shared, one.storage);
    await two.client.ready();
    two.clock.monotonic += 3_600_000;
    two.network.plan('/refresh', 'answer_held');
    one.client.close();
    await eventually('it leads, and its token is on the way', async () => two.network.to('/refresh').length > 0);
    const three = fixture.app(shared, one.storage);
    await three.client.ready();
    // A login closes the stream of its tab, so the third tab can lead.
    await two.client.logIn({ email: newEmail(), password }).catch(() => undefined);
    two.network.release();
    await untilOpen(three);
    await eventually('the refresh has ended', async () => two.client.account.find().then(() => true));
    expect([two.sockets.steps, three.sockets.live()]).toEqual([[], 1]);
    three.client.close();
    await untilOpen(two);
    two.client.close();
  });
});

test('errors are for people and for programs (rule 9)', async () => {
  const app = fixture.app({ language: () => 'ru' });
  const wrong = await app.client.logIn({ email: newEmail(), password: 'wrong' }).catch((error) => error);
  expect(wrong).toBeInstanceOf(AuthError);
  expect(wrong).toMatchObject({
    code: 'ERR-INVALID-CREDENTIALS',
    status: 401,
    reaction: { type: 'CHECK_CREDENTIALS' },
    retry: 'never',
    requestId: expect.any(String),
  });
  expect(wrong.message).toMatch(/[а-я]/);
  const form = { email: 'nobody', password: 'short', space_creation_mode: 'CREATE_NEW_HOME' } as const;
  const invalid = await app.client.register(form).catch((error) => error);
  expect(invalid).toMatchObject({ code: 'ERR-VALIDATION-FAILED', status: 422, reaction: { type: 'FIX_INPUT' } });
  expect(invalid.details.length).toBeGreaterThan(1);
});

// answers: auth-js 762, https://github.com/supabase/auth-js/issues/762
// A listener that called the client inside its lock made everything hang.
// answers: supabase-js 2344, https://github.com/supabase/supabase-js/issues/2344
// A listener that called the client inside its lock made everything hang.
test('events are delivered outside any lock, and a throwing listener breaks nothing (rule 10)', async () => {
  const app = await withStream();
  const seen: string[] = [];
  app.client.subscribe(() => {
    throw new Error('of the app');
  });
  app.client.subscribe(({ type }) => {
    seen.push(type);
    // A listener may call the client.
    if (type === 'group_changed') void app.client.account.find().then(() => seen.push('called'));
  });
  await app.client.group.leave();
  await eventually('the call in the listener has succeeded', async () => seen.includes('called'));
  expect(seen).toContain('group_changed');
  // The call was sent with the new token at once. The old token would have been refused.
  expect(app.network.to('/account').filter(({ path }) => path.endsWith('/account'))).toHaveLength(1);
  expect(app.log.map(({ event }) => event)).toContain('listener_failed');
});

test('no token, email address or password is in a log line or an error (rule 11)', async () => {
  const errors: unknown[] = [];
  const noted = (work: Promise<unknown>) => work.catch((error) => errors.push(error));
  const app = await withStream();
  app.network.plan('/refresh', 'captive_portal', 'answer_lost', 'answer_lost');
  app.clock.monotonic += 3_600_000;
  await noted(app.client.account.find());
  await noted(app.client.account.find());
  await noted(app.client.logIn({ email: app.email, password: 'a wrong secret' }));
  await noted(app.client.register({ email: app.email, password, space_creation_mode: 'CREATE_NEW_HOME' }));
  await noted(app.client.invites.accept('an-invite-token'));
  await noted(app.client.invites.find('an-invite-token'));
  await noted(app.client.fetch('https://elsewhere.example.com/'));
  await app.client.logOut();
  expect(errors.length).toBeGreaterThanOrEqual(6);
  const shown = errors.map((error) => [String(error), JSON.stringify(error), (error as AuthError).stack]);
  const text = JSON.stringify([shown, app.log]);
  const tokens = app.network.sent.flatMap(({ headers, body }) => [
    headers.get('Authorization')?.slice(7) ?? '',
    (JSON.parse(body || '{}') as { readonly refresh_token?: string }).refresh_token ?? '',
  ]);
  const secrets = [...tokens, app.email, password, 'a wrong secret', 'an-invite-token'].filter(
    (secret) => secret !== '',
  );
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
});

// The last test, because the api still names the stopped gateway.
test('a gateway that stops says when to come back, and the app comes back', async () => {
  const before = fixture.gateway.base;
  const app = await withStream();
  const replaced = fixture.replaceGateway();
  await eventually('there is another gateway', async () => fixture.gateway.base !== before);
  app.sockets.base = fixture.gateway.base;
  await replaced;
  await eventually('the stream is new', async () => app.sockets.steps.filter((step) => step === 'open').length === 2);
  expect(app.sockets.steps.slice(0, 2)).toEqual(['open', 'closed 1001']);
  expect(app.client.state().status).toBe('signed_in');
});
