import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { thisBuild } from '@auth-account/lifecycle/this-build';
import { waitUntil } from '@auth-account/local-stack';
import { createProcessReporter, createRefusalNotes, readProcessReports } from '@auth-account/messaging/process-reports';
import { redisKeys } from '@auth-account/redis';
import { loadKeyFile } from '@auth-account/tokens';
import { publicKeySet } from '@auth-account/verifier/access-token';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { newSession } from '../../support/api/accounts.ts';
import { beginLogin, codeAt, completeLogin, guardedAccount } from '../../support/api/second-factor.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { newSigningKey } from '../../support/api/token-forger.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway/gateway-fixture.ts';
import { openStream, refusalOf } from '../../support/gateway/push-client.ts';
import { authctlJson } from '../../support/processes/authctl.ts';
import { recordLog } from '../../support/recorded-log.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { startTestWorker } from '../../support/worker/worker-service.ts';

let right: TestApi;
let env: Readonly<Record<string, string>>;
let dir: string;
let redis: Redis;
beforeAll(async () => {
  right = await startTestApi();
  env = right.env;
  dir = testEnvironment().keysDir;
  redis = new Redis(env.REDIS_URL ?? '');
});
afterAll(async () => {
  redis.disconnect();
  await right.close();
});

/** Services that a test has started beside the first api. */
const started: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of started.splice(0)) await each.close();
});

async function startGateway(settings: Record<string, string> = {}, now: () => number = Date.now): Promise<TestGateway> {
  const gateway = await startTestGateway({ env }, settings, { now });
  started.push(gateway);
  return gateway;
}

async function startApi(settings: Record<string, string>, ...rest: [object?, ReturnType<typeof recordLog>['logger']?]) {
  const api = await right.beside(settings, ...rest);
  started.push(api);
  return api;
}

/** Returns the findings about processes, once as many have reported as run. */
async function examine(): Promise<Map<string, { status: string; detail: string; fix?: string }[]>> {
  const keys = redisKeys(right.keyPrefix);
  const areThere = async () => (await readProcessReports(redis, keys)).length === 1 + started.length;
  await waitUntil(areThere, { what: 'the reports', timeoutMs: 60_000, intervalMs: 20 });
  const doctorEnv = { ...env, ACCESS_TOKEN_KEYS_FILE: undefined };
  const run = await authctlJson(['doctor'], { env: doctorEnv }, 1).catch(() =>
    authctlJson(['doctor'], { env: doctorEnv }),
  );
  const found = new Map<string, { status: string; detail: string }[]>();
  for (const { check, ...finding } of run.checks) {
    const name = check.replace(/ of (\S+) .*/, ' of $1');
    found.set(name, [...(found.get(name) ?? []), finding]);
  }
  return found;
}

/** Returns the status with which the gateway answers the handshake of a new session of the api. */
async function handshake(api: TestApi, gateway: TestGateway): Promise<number> {
  const { session_id: sessionId, access_token: token } = await newSession(api);
  return (await refusalOf(gateway.base, { sessionId, token })).status;
}

test('the doctor finds agreeing processes well, and knows the keys and the clock of each', async () => {
  started.push(await startTestWorker(env));
  await startGateway();
  const found = await examine();
  for (const service of ['api', 'push-gateway', 'worker']) {
    expect(found.get(`clock of ${service}`)).toMatchObject([{ status: 'ok' }]);
    expect(found.get(`settings of ${service}`)).toMatchObject([{ status: 'ok' }]);
  }
  for (const check of ['access keys of api', 'access keys of push-gateway', 'server keys of worker']) {
    expect(found.get(check)).toMatchObject([{ status: 'ok' }]);
  }
});

test('the doctor lists running versions side by side, and says which is too old for the data', async () => {
  const { version, generation } = thisBuild;
  const [one] = (await examine()).get('versions') ?? [];
  expect(one).toEqual({ status: 'ok', detail: expect.stringMatching(/^\S+ \(generation \d+\): api \S+$/) });
  expect(one?.detail.startsWith(`${version} (generation ${generation})`)).toBe(true);

  const later = { version: '9.0.0', generation: generation + 1, beside: 0, needs: generation + 1 };
  await startApi({}, { build: later });
  const [found] = (await examine()).get('versions') ?? [];
  expect(found).toMatchObject({
    status: 'warning',
    detail: expect.stringMatching(/^\S+ \(generation \d+\): api \S+; 9\.0\.0 \(generation \d+\): api \S+$/),
  });

  await storesOf(right.collections).upgrades.note(later, 'completed_at');
  const [refused] = (await examine()).get('versions') ?? [];
  await right.collections.upgrades.deleteOne({ _id: later.generation });
  const detail = expect.stringMatching(
    / must not run on data that needs generation .*: run version 9\.0\.0 or later; /,
  );
  expect(refused).toMatchObject({ status: 'failed', detail, fix: expect.stringContaining('Upgrade') });
});

test('a process that has stopped is no longer examined', async () => {
  const gateway = await startTestGateway({ env });
  await gateway.close();
  expect((await examine()).get('clock of push-gateway')).toBeUndefined();
});

test('an api whose host’s clock is 90 s ahead opens streams, and the doctor names it', async () => {
  const gateway = await startGateway();
  const ahead = await startApi({}, { hostNow: () => Date.now() + 90_000 });
  const { session_id: sessionId, access_token: token } = await newSession(ahead);
  (await openStream(gateway.base, { sessionId, token })).terminate();
  const found = await examine();
  expect(found.get('clock of api')).toContainEqual(expect.objectContaining({ status: 'failed' }));
  expect(found.get('token clock of api')).toMatchObject([{ status: 'ok' }]);
  expect(await ahead.metric('auth_clock_ahead_seconds', { store: 'mongodb' })).toBeGreaterThan(60);
  expect(await ahead.metric('auth_clock_ahead_seconds', { store: 'redis' })).toBeGreaterThan(60);
});

test('an api that dates tokens 90 s ahead of the gateways gets no stream, and the doctor and a metric say why', async () => {
  const gateway = await startGateway();
  const ahead = await startApi({}, { now: () => Date.now() + 90_000 });
  expect(await handshake(ahead, gateway)).toBe(401);
  expect(await gateway.metric('auth_access_tokens_total', { result: 'early' })).toBe(1);
  const clocks = (await examine()).get('clock of api');
  expect(clocks).toContainEqual(
    expect.objectContaining({ status: 'failed', fix: expect.stringContaining('NTP'), detail: expect.any(String) }),
  );
});

test('a gateway whose clock is 90 s behind opens no stream, and the doctor and a metric say why', async () => {
  const gateway = await startGateway({}, () => Date.now() - 90_000);
  expect(await handshake(right, gateway)).toBe(401);
  expect(await gateway.metric('auth_access_tokens_total', { result: 'early' })).toBe(1);
  expect(await gateway.metric('auth_clock_ahead_seconds', { store: 'redis' })).toBeLessThan(-60);
  expect((await examine()).get('clock of push-gateway')).toMatchObject([{ status: 'failed' }]);
});

test('a gateway with a stale key file opens no stream, and the doctor and a metric say why', async () => {
  const file = join(dir, 'stale-public-keys.json');
  await writeFile(file, JSON.stringify(publicKeySet({ keys: [newSigningKey('ES256', 'stale')] })));
  const gateway = await startGateway({ ACCESS_TOKEN_KEYS_FILE: file });
  expect(await handshake(right, gateway)).toBe(401);
  expect(await gateway.metric('auth_access_tokens_total', { result: 'key' })).toBe(1);
  const { keys } = await loadKeyFile(env.ACCESS_TOKEN_KEYS_FILE ?? '');
  expect((await examine()).get('access keys of push-gateway')).toMatchObject([
    { status: 'failed', detail: expect.stringContaining(`stale: does not know ${keys[0].kid} of api`) },
  ]);
});

test.each([
  ['issuer', 'TOKEN_ISSUER', 'https://other.example'],
  ['audience', 'TOKEN_AUDIENCE', 'another-app'],
  ['long', 'ACCESS_TOKEN_TTL_SECONDS', '60'],
])(
  'a gateway with another setting (%s) opens no stream, and the doctor and a metric say why',
  async (result, name, value) => {
    const gateway = await startGateway({ [name]: value });
    expect(await handshake(right, gateway)).toBe(401);
    expect(await gateway.metric('auth_access_tokens_total', { result })).toBe(1);
    expect((await examine()).get('settings of push-gateway')).toMatchObject([
      { status: 'failed', detail: expect.stringContaining(value) },
    ]);
  },
);

test('the doctor names the processes that a provider has refused since it last took their key', async () => {
  const notes = createRefusalNotes(Date.now);
  const reporter = createProcessReporter({
    ...{
      redis,
      keys: redisKeys(right.keyPrefix),
      service: 'worker',
      build: thisBuild,
      now: Date.now,
      hostNow: Date.now,
    },
    settings: () => ({ keys: {}, refused_by: notes.report() }),
    onMeasured: () => undefined,
  });
  started.push({ close: reporter.remove });
  notes.note('apple', 'wrong_client');
  notes.note('apple', 'unavailable');
  await reporter.write();
  const findings = async () =>
    [...(await examine())].flatMap(([check, found]) => (check.startsWith('apple at worker') ? found : []));
  const fix = expect.stringContaining('private_key');
  expect(await findings()).toMatchObject([{ status: 'failed', detail: expect.stringMatching(/wrong_client$/), fix }]);
  notes.note('apple', 'wrong_code');
  await reporter.write();
  expect(await findings()).toEqual([]);
});

test('a server key that seals seeds is lost: recovery codes count, and log, metrics and doctor name the key', async () => {
  const { kid } = (await loadKeyFile(env.SERVER_KEYS_FILE ?? '')).keys[0];
  const [present, former] = [await guardedAccount(right), await guardedAccount(right)];
  await right.collections.users.updateOne({ _id: former.user_id }, { $unset: { 'totp.recovery_key': true } });
  const SERVER_KEYS_FILE = join(dir, 'other-server-keys.json');
  const k = randomBytes(32).toString('base64url');
  await writeFile(SERVER_KEYS_FILE, JSON.stringify({ keys: [{ kty: 'oct', kid: 'other', k }] }));
  const log = recordLog('api');
  const api = await startApi({ SERVER_KEYS_FILE }, {}, log.logger);
  const worker = await startTestWorker({ ...env, SERVER_KEYS_FILE });
  started.push(worker);

  const logIn = async ({ email }: { email: string }, method: string, code: string | undefined) =>
    (await completeLogin(api, await beginLogin(api, email), { method, code })).status;
  expect(await logIn(present, 'totp', codeAt(present.secret, Date.now()))).toBe(503);
  expect(log.lines).toContainEqual(expect.objectContaining({ key: 'server', kid }));
  expect(await api.metric('auth_missing_keys_total', { key: 'server' })).toBe(1);
  expect(await logIn(present, 'recovery_code', present.recovery_codes[0])).toBe(200);
  expect(await logIn(former, 'recovery_code', former.recovery_codes[0])).toBe(503);

  const isCounted = async () => (await worker.metric('auth_secrets_without_key')) === 2;
  await waitUntil(isCounted, { what: 'the count of the worker', timeoutMs: 60_000, intervalMs: 50 });
  const [finding] = (await examine()).get('server keys in use') ?? [];
  expect(finding).toMatchObject({ status: 'failed', detail: expect.stringContaining(`${kid} of 2 seeds`) });
});

test('a recovery code of an account of an earlier release outlives the server key once its app was used', async () => {
  const account = await guardedAccount(right);
  const filter = { _id: account.user_id };
  const before = (await right.collections.users.findOne(filter))?.totp?.recovery_key;
  await right.collections.users.updateOne(filter, { $unset: { 'totp.recovery_key': true } });
  const code = codeAt(account.secret, Date.now(), 1);
  expect(await completeLogin(right, await beginLogin(right, account.email), { method: 'totp', code })).toMatchObject({
    status: 200,
  });
  expect((await right.collections.users.findOne(filter))?.totp?.recovery_key).toEqual(before);
});
