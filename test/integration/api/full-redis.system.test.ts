import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Route, type RouteName, routes } from '@auth-account/contracts';
import { type LocalRedis, startRedis } from '@auth-account/local-stack';
import { createDenyList, type DenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { type RedisKeys, redisKeys } from '@auth-account/redis';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createLimits, type Limits } from '../../../services/api/src/limits/limits.ts';
import { type LimitSettings, limitConfig } from '../../../services/api/src/limits/limits-table.ts';
import type { RequestOrigin } from '../../../services/api/src/request/request-origin.ts';
import { logOut, newSession, registerAccount } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { goodRequests, sendTo } from '../../support/api/good-requests.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { startTestConsole } from '../../support/console/console-fixture.ts';
import { newDevice, signToken, startTestGateway } from '../../support/gateway/gateway-fixture.ts';
import { refusalOf } from '../../support/gateway/push-client.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { startReceiver } from '../../support/worker/worker-receiver.ts';
import { startTestWorker } from '../../support/worker/worker-service.ts';

let server: LocalRedis;
let redis: Redis;
let api: TestApi;
let keys: RedisKeys;
let denyList: DenyList;
const dir = mkdtempSync(join(tmpdir(), 'full-redis-'));

beforeAll(async () => {
  server = await startRedis({ dir, log: () => undefined });
  redis = new Redis(server.url);
  redis.on('error', () => undefined);
  api = await startTestApi({ REDIS_URL: server.url });
  keys = redisKeys(api.keyPrefix);
  denyList = createDenyList(redis, keys, denialLifetimeMs(600));
});
afterAll(async () => {
  try {
    await api.close();
  } finally {
    redis.disconnect();
    await server.stop();
    rmSync(dir, { recursive: true });
  }
});

/** Resources that the test has opened. They end when Redis has memory again. */
const opened: { close(): Promise<unknown> }[] = [];
function closing<T extends { close(): Promise<unknown> }>(part: T): T {
  opened.push(part);
  return part;
}
afterEach(async () => {
  await freeMemory();
  for (const part of opened.splice(0).reverse()) await part.close();
});

/** Fills Redis's memory, so that it answers `OOM` to every command that could need memory. */
async function fill(): Promise<void> {
  await redis.config('SET', 'maxmemory', '1mb');
  await expect(redis.set('more', '1')).rejects.toThrow('OOM');
}

async function freeMemory(): Promise<void> {
  await redis.config('SET', 'maxmemory', '0');
}

async function completeList(): Promise<void> {
  const isDone = await (await denyList.beginRebuild()).complete();
  expect(isDone).toBe(true);
}

/** Routes that read only Redis. They also answer 503 while it is away. */
const ofRedis: readonly RouteName[] = ['readRevocations'];

// guarantees: full-redis-sessions
test.each(Object.keys(routes) as RouteName[])('%s answers while Redis is full, as while it is away', async (name) => {
  await freeMemory();
  await completeList();
  const request = await goodRequests[name](api);
  await fill();
  const answer = await sendTo(name, api, request);
  const unavailable = [503, 'ERR-DEPENDENCY-UNAVAILABLE'];
  const { success }: Route = routes[name];
  const good = [success.created === undefined ? success.status : 201, undefined];
  expect([answer.status, answer.json?.error_code]).toEqual(ofRedis.includes(name) ? unavailable : good);
});

test('the console shows no personal data while Redis is full, because nobody would count it, and says so', async () => {
  const console = await startTestConsole({ REDIS_URL: server.url });
  closing(console);
  const client = await console.signIn('support');
  await fill();
  const found = await client.post('/api/find', { text: randomUUID() }, 'ticket 7');
  expect([found.status, found.json.error.code]).toEqual([503, 'unavailable']);
  await freeMemory();
  expect((await client.post('/api/find', { text: randomUUID() }, 'ticket 7')).status).toBe(404);
});

// guarantees: full-redis-sessions
test('a session that ends while Redis is full is refused at once, its close is published, and no list hides it', async () => {
  await freeMemory();
  await completeList();
  const session = await newSession(api);
  const find = () => api.findAccount(bearer(session));
  expect((await find()).status).toBe(200);
  const heard: string[] = [];
  const listening = redis.duplicate();
  closing({ close: async () => listening.disconnect() });
  listening.on('message', (_channel, text) => void heard.push(text));
  listening.on('error', () => undefined);
  await listening.subscribe(keys.commands);
  await fill();
  const out = await logOut(api, session);
  expect(out.status).toBe(200);
  expect((await find()).status).toBe(401);
  await expect(denyList.find([session.session_id])).rejects.toThrow('not complete');
  await eventually('the close', () => heard.some((text) => text.includes(session.session_id)));
});

test('the gateway opens no stream while Redis is full, as while it is away', async () => {
  await freeMemory();
  await completeList();
  const gateway = closing(await startTestGateway(api));
  await eventually('readiness', async () => (await gateway.unreadiness()).length === 0);
  await fill();
  const device = newDevice();
  const refusal = await refusalOf(gateway.base, { ...device, token: await signToken(api.env, device) });
  expect(refusal).toMatchObject({ status: 503, body: { error_code: 'ERR-DEPENDENCY-UNAVAILABLE' } });
});

test('the worker repairs the deny list and delivers events once Redis has memory', async () => {
  await freeMemory();
  const receiver = closing(await startReceiver('analytics'));
  closing(await startTestWorker({ ...api.env, EVENT_SUBSCRIBERS: JSON.stringify([receiver.subscriber]) }));
  await eventually('the list', () => denyList.isComplete());
  const session = await newSession(api);
  await fill();
  const { user_id } = await registerAccount(api);
  const out = await logOut(api, session);
  expect(out.status).toBe(200);
  await freeMemory();
  await eventually('the list', () => denyList.isComplete());
  expect(await denyList.find([session.session_id])).toEqual([{ kind: 'revoked', reason: 'LOGOUT_CONFIRMED' }]);
  await receiver.waitFor(user_id);
});

// guarantees: counts-after-failover
test('a failover to a replica gives back the verdicts that it lacks, and no others', async () => {
  await freeMemory();
  const replica = await startRedis({
    dir: join(dir, 'replica'),
    log: () => undefined,
    extraArgs: ['--replicaof', '127.0.0.1', String(server.port), '--repl-diskless-sync-delay', '0'],
  });
  const onReplica = new Redis(replica.url);
  closing({ close: async () => onReplica.disconnect() });
  closing({ close: () => replica.stop() });
  const settings = Object.fromEntries(Object.keys(limitConfig).map((name) => [name, 1_000_000]));
  const secret = createSecretKey(randomBytes(32));
  const insured: unknown[] = [];
  const limitsAt = (redis: Redis) =>
    createLimits({
      redis,
      keyPrefix: 'failover',
      secret: () => secret,
      settings: settings as unknown as LimitSettings,
      onRefused: () => undefined,
      now: Date.now,
      onInsured: () => void insured.push(redis),
    });
  const account = { email: 'cook@example.com' };
  let networks = 0;
  const anywhere = (): RequestOrigin => ({ requestId: 'r', network: `198.18.${networks >> 8}.${networks++ & 255}` });
  const tries = {
    password: async (limits: Limits) => (await limits.logIn(account.email, anywhere())).fail(),
    factor: (limits: Limits) => limits.secondFactor({ account, isGuess: true }, anywhere()),
  };
  /** Tries until a limit refuses. Returns the number of verdicts, of so many at most. */
  async function verdicts(of: keyof typeof tries, limits: Limits, max = 1_000): Promise<number> {
    for (let count = 0; count < max; count += 1) {
      const isRefused = await tries[of](limits).then(
        () => false,
        ({ code }) => code === 'ERR-RATE-LIMITED',
      );
      if (isRefused) return count;
    }
    return max;
  }
  const limits = limitsAt(redis);
  expect([await verdicts('password', limits, 50), await verdicts('factor', limits, 2)]).toEqual([50, 2]);
  await eventually('the replica has them', async () => (await redis.wait(1, 1_000)) === 1);
  // The replica receives nothing more, because it cannot log in.
  await onReplica.config('SET', 'masterauth', 'wrong');
  await redis.call('CLIENT', 'KILL', 'TYPE', 'replica');
  expect([await verdicts('password', limits), await verdicts('factor', limits)]).toEqual([20, 3]);
  await onReplica.replicaof('NO', 'ONE');
  const after = limitsAt(onReplica);
  expect([await verdicts('password', after), await verdicts('factor', after)]).toEqual([20, 3]);
  expect(insured).toEqual([]);
});
