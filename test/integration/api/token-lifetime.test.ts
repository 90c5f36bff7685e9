import { waitUntil } from '@auth-account/local-stack';
import { createDenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { failFastOptions, redisKeys } from '@auth-account/redis';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { logOut, newSession, type TokenPair } from '../../support/api/accounts.ts';
import { dataOf } from '../../support/api/api-driver.ts';
import { currentGroup, refresh } from '../../support/api/groups.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import {
  type GatewayFixture,
  newDevice,
  openGatewayFixture,
  signToken,
  startTestGateway,
  type TestGateway,
} from '../../support/gateway/gateway-fixture.ts';
import { openStream, refusalOf } from '../../support/gateway/push-client.ts';
import { testEnvironment } from '../../support/test-environment.ts';

/** The setting before and after it is lowered. */
const [long, short] = [400, 60];
const good = { status: 200, code: undefined };
const invalid = { status: 401, code: 'IAD_JWT_ACCESS_INVALID' };

/** Apis on one store: with the old setting, with the new one, and with the new one and the old as the maximum. */
let before: TestApi;
let after: TestApi;
let between: TestApi;
let redis: Redis;
beforeAll(async () => {
  redis = new Redis(testEnvironment().redisUrl, { ...failFastOptions(), enableOfflineQueue: true });
  before = await startTestApi({ ACCESS_TOKEN_TTL_SECONDS: String(long) });
  const lowered = { ACCESS_TOKEN_TTL_SECONDS: String(short) };
  after = await before.beside(lowered);
  between = await before.beside({ ...lowered, ACCESS_TOKEN_MAX_TTL_SECONDS: String(long) });
  const rebuild = await createDenyList(redis, redisKeys(before.keyPrefix), denialLifetimeMs(long)).beginRebuild();
  if (!(await rebuild.complete())) throw new Error('the deny list was not completed');
});
afterAll(async () => {
  await before.close();
  redis.disconnect();
});

async function answerOf(api: TestApi, tokens: TokenPair) {
  const { status, json } = await currentGroup(api, tokens);
  return { status, code: json.error_code };
}

/** Ends the session. Returns its key in the deny list, and the seconds until the key expires. */
async function logOutOn(api: TestApi, tokens: TokenPair): Promise<{ readonly key: string; readonly seconds: number }> {
  await dataOf(logOut(api, tokens));
  const key = redisKeys(api.keyPrefix).denied(tokens.session_id);
  return { key, seconds: (await redis.pttl(key)) / 1_000 };
}

describe('a lowered ACCESS_TOKEN_TTL_SECONDS', () => {
  let fixture: GatewayFixture | undefined;
  let gateway: TestGateway | undefined;
  afterAll(async () => {
    await gateway?.close();
    await fixture?.close();
  });

  // guarantees: lower-token-lifetime
  test('a lowered ACCESS_TOKEN_TTL_SECONDS revives no revoked token, even when the deny list forgets it', async () => {
    const tokens = await newSession(before);
    expect(await answerOf(before, tokens)).toEqual(good);
    const { key, seconds } = await logOutOn(after, await refresh(after, tokens));
    expect(seconds).toBeLessThan(long);
    // As if the key had expired.
    await redis.del(key);
    expect(await answerOf(after, tokens)).toEqual(invalid);
  });

  test('a lowered ACCESS_TOKEN_TTL_SECONDS costs an app a refresh, and no session', async () => {
    const tokens = await newSession(before);
    expect(await answerOf(after, tokens)).toEqual(invalid);
    expect(await answerOf(after, await refresh(after, tokens))).toEqual(good);
  });

  // guarantees: lower-token-lifetime
  test('a lowered ACCESS_TOKEN_TTL_SECONDS opens and extends no push stream with an earlier token', async () => {
    fixture = await openGatewayFixture();
    const { env } = fixture;
    gateway = await startTestGateway(fixture, { ACCESS_TOKEN_TTL_SECONDS: String(short) });
    const isReady = async () => (await gateway?.unreadiness())?.length === 0;
    await waitUntil(isReady, { what: 'readiness', timeoutMs: 60_000 });
    const device = newDevice();
    const sign = (ttlSeconds: number) => signToken(env, device, { ttlSeconds });
    const refusal = await refusalOf(gateway.base, { ...device, token: await sign(long) });
    expect([refusal.status, refusal.body.error_code]).toEqual([401, 'IAD_JWT_ACCESS_INVALID']);

    const client = await openStream(gateway.base, { ...device, token: await sign(short) });
    expect(await client.next()).toMatchObject({ type: 'hello' });
    client.send({ type: 'auth', access_token: await sign(long) });
    expect(await client.next()).toEqual({ type: 'error', error_code: 'IAD_JWT_ACCESS_INVALID' });
    expect(client.isOpen()).toBe(true);
  });
});

// guarantees: different-token-lifetimes
test('with ACCESS_TOKEN_MAX_TTL_SECONDS earlier tokens stay valid, and their revocations outlive them', async () => {
  const tokens = await newSession(before);
  expect(await answerOf(between, tokens)).toEqual(good);
  const refreshed = await refresh(between, tokens);
  expect(refreshed).toMatchObject({ expires_in: short });
  expect((await logOutOn(between, refreshed)).seconds).toBeGreaterThan(long);
  for (const api of [before, between, after]) expect(await answerOf(api, tokens)).toEqual(invalid);
});
