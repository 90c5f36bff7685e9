import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalRedis, startRedis } from '@auth-account/local-stack';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { logIn, newEmail, newSession, password, registerAccount } from '../../support/accounts.ts';
import { createProcessGuard } from '../../support/create-process-guard.ts';
import type { Answer } from '../../support/http-client.ts';
import { startTestApi, type TestApi } from '../../support/test-api.ts';
import { untilUnchanged } from '../../support/until-unchanged.ts';

const path = '/api/v1/auth/login';
const wrong = 'wrong password';

/** Settings that make hashes as cheap as Argon2 allows, because only the counting of failures is tested here. */
const cheap = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1' };

let api: TestApi;
beforeAll(async () => {
  // This clock measures the waits. By the real clock, a second might be over before a slow machine's next try.
  const now = Date.now();
  api = await startTestApi({ ...cheap, TRUST_PROXY_HOPS: '1' }, { now: () => now });
});
afterAll(() => api.close());

function logInFrom(address: string, body: object, to = api): Promise<Answer> {
  return to.post(path, body, { 'X-Forwarded-For': address });
}

function expectRefused(answer: Answer): void {
  expect(answer.status).toBe(429);
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect(answer.json).toEqual({
    error_code: 'ERR-RATE-LIMITED',
    message: expect.any(String),
    details: { action: expect.any(String) },
  });
}

test('the sixth wrong password in a row is refused, and so is the right one, for a second', async () => {
  const { email } = await registerAccount(api);
  for (let i = 0; i < 5; i += 1) expect((await logInFrom('192.0.2.1', { email, password: wrong })).status).toBe(401);
  expectRefused(await logInFrom('192.0.2.1', { email, password: wrong }));
  const refused = await logInFrom('192.0.2.1', { email, password });
  expectRefused(refused);
  expect(refused.headers['retry-after']).toBe('1');
  expect((await logInFrom('192.0.2.2', { email, password })).status).toBe(200);
});

test('an address without an account is limited as one with an account', async () => {
  const email = newEmail();
  const answers: number[] = [];
  for (let i = 0; i < 7; i += 1) answers.push((await logInFrom('192.0.2.3', { email, password: wrong })).status);
  expect(answers).toEqual([401, 401, 401, 401, 401, 429, 429]);
});

test('the case of the email address does not make another account', async () => {
  const { email } = await registerAccount(api);
  const spellings = [email, email.toUpperCase(), email.replace('c', 'C'), email, email, email.toUpperCase()];
  const answers: number[] = [];
  for (const spelling of spellings) {
    answers.push((await logInFrom('192.0.2.4', { email: spelling, password: wrong })).status);
  }
  expect(answers).toEqual([401, 401, 401, 401, 401, 429]);
});

/** Returns the answers to 200 guesses, then to the owner, then to a stranger who knows the password. */
async function attackNewAccount(to: TestApi) {
  const device_id = randomUUID();
  const { email } = await registerAccount(to);
  expect((await logInFrom('192.0.2.5', { email, password, device_id }, to)).status).toBe(200);

  const seen: number[] = [];
  for (let batch = 0; batch < 10; batch += 1) {
    const from = (i: number) => `198.51.${batch}.${i}`;
    const tries = Array.from({ length: 20 }, (_, i) => logInFrom(from(i), { email, password: wrong }, to));
    seen.push(...(await Promise.all(tries)).map(({ status }) => status));
  }
  const owner = [
    await logInFrom('192.0.2.5', { email, password }, to),
    await logInFrom('203.0.113.1', { email, password, device_id: device_id.toUpperCase() }, to),
  ];
  const stranger = await logInFrom('203.0.113.2', { email, password, device_id: randomUUID() }, to);
  return { seen, owner, stranger };
}

test('the owner can log in after 200 failures of an attacker: from a known network, or on a known device', async () => {
  // Here the daily limit keeps strangers out, because a delay might end before the stranger tries.
  const ofADay = { LOGIN_ACCOUNT_FREE_FAILURES: '1000', LOGIN_ACCOUNT_FAILURES_PER_DAY: '50' };
  const strict = await startTestApi({ ...cheap, ...ofADay, TRUST_PROXY_HOPS: '1' });
  try {
    const insured = () => strict.metric('auth_login_limits_insured_total');
    const { seen, owner, stranger } = await untilUnchanged(insured, () => attackNewAccount(strict));
    expect(seen).toHaveLength(200);
    expect(seen.filter((status) => status === 401).length).toBeLessThanOrEqual(100);
    expect(seen.every((status) => status === 401 || status === 429)).toBe(true);

    expect(owner.map(({ status }) => status)).toEqual([200, 200]);
    expectRefused(stranger);
  } finally {
    await strict.close();
  }
});

test('a device id that the service has given is known once the app has logged in with it', async () => {
  const { email, device_id } = await newSession(api);
  await logIn(api, email, { device_id });
  for (let i = 0; i < 6; i += 1) await logInFrom('192.0.2.6', { email, password: wrong });
  expectRefused(await logInFrom('192.0.2.6', { email, password }));
  expect((await logInFrom('192.0.2.6', { email, password, device_id })).status).toBe(200);
});

describe('the network of a client', () => {
  async function statusesOf(addresses: readonly string[]): Promise<number[]> {
    const email = newEmail();
    const statuses: number[] = [];
    for (const address of addresses) statuses.push((await logInFrom(address, { email, password: wrong })).status);
    return statuses;
  }
  const sixth = [401, 401, 401, 401, 401, 429];

  test('a client is counted by the last hop that is trusted, whatever it writes before that', async () => {
    expect(await statusesOf([1, 2, 3, 4, 5, 6].map((i) => `10.0.0.${i}, 192.0.2.7`))).toEqual(sixth);
  });

  test('a client is counted by its /64 of IPv6', async () => {
    expect(await statusesOf([1, 2, 3, 4, 5, 6].map((i) => `2001:db8:0:1:${i}::${i}`))).toEqual(sixth);
    expect(await statusesOf([1, 2, 3, 4, 5, 6].map((i) => `2001:db8:0:${i}::1`))).toEqual(Array(6).fill(401));
  });

  test('a client is counted by its IPv4 address, also if that is written as IPv6', async () => {
    const both = ['192.0.2.8', '::ffff:192.0.2.8'];
    expect(await statusesOf([...both, ...both, ...both])).toEqual(sixth);
  });

  test('clients with unreadable addresses are counted as one', async () => {
    expect(await statusesOf(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `unknown-${name}`))).toEqual(sixth);
  });

  test('a client is counted by its connection if no proxy is trusted', async () => {
    const now = Date.now();
    const direct = await startTestApi(cheap, { now: () => now });
    try {
      const email = newEmail();
      const statuses: number[] = [];
      for (let i = 0; i < 6; i += 1) {
        const headers = { 'X-Forwarded-For': `192.0.2.${i}` };
        statuses.push((await direct.post(path, { email, password: wrong }, headers)).status);
      }
      expect(statuses).toEqual(sixth);
    } finally {
      await direct.close();
    }
  });
});

describe('the totals of a network', () => {
  let strict: TestApi | undefined;
  afterAll(() => strict?.close());

  test('the totals of a network are for logins, registrations and refreshes apart, and for that network alone', async () => {
    strict = await startTestApi({
      ...cheap,
      TRUST_PROXY_HOPS: '1',
      LOGIN_LIMIT_PER_ADDRESS: '3',
      REGISTER_LIMIT_PER_ADDRESS: '2',
      REFRESH_LIMIT_PER_ADDRESS: '4',
    });
    const on = strict;
    const from = (address: string) => ({
      post: (to: string, body: unknown) => on.post(to, body, { 'X-Forwarded-For': address }),
    });
    const here = from('192.0.2.9');
    const first = await registerAccount(here);
    await registerAccount(here);
    const register = { email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME' };
    const refused = await here.post('/api/v1/auth/register', register);
    expectRefused(refused);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_500);
    expect((await from('192.0.2.10').post('/api/v1/auth/register', register)).status).toBe(201);
    // A malformed request gets 422, because the schema is checked first.
    expect((await here.post('/api/v1/auth/register', {})).status).toBe(422);

    const tokens = await logIn(here, first.email);
    await logIn(here, first.email);
    await logIn(here, first.email);
    expectRefused(await here.post(path, { email: first.email, password }));
    let { refresh_token } = tokens;
    for (let i = 0; i < 4; i += 1) {
      const answer = await here.post('/api/v1/auth/refresh', { refresh_token });
      expect(answer.status).toBe(200);
      refresh_token = answer.json.data.refresh_token;
    }
    expectRefused(await here.post('/api/v1/auth/refresh', { refresh_token }));
    // The token of the refused refresh still works from another network.
    expect((await from('192.0.2.10').post('/api/v1/auth/refresh', { refresh_token })).status).toBe(200);
  });
});

describe('the limits of logins and a failing Redis', () => {
  let dir: string;
  let redis: LocalRedis;
  let own: TestApi;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'auth-account-limits-'));
    const guard = createProcessGuard(dir);
    redis = await startRedis({ dir, log: () => undefined, onSpawn: guard.watch });
    own = await startTestApi({ ...cheap, REDIS_URL: redis.url }, { limitTimeoutMs: 250 });
  });
  afterAll(async () => {
    await own.close();
    await redis.kill();
    await rm(dir, { recursive: true, force: true });
  });

  test('a full Redis locks nobody out: each process counts for itself', async () => {
    const session = await newSession(own);
    const client = new Redis(redis.url);
    await client.config('SET', 'maxmemory', '1');
    try {
      const wrongTries: number[] = [];
      const email = newEmail();
      while (wrongTries.length < 12) wrongTries.push((await own.post(path, { email, password: wrong })).status);
      expect(wrongTries).toEqual([...Array<number>(10).fill(401), 429, 429]);
      const codes: number[] = [];
      while (codes.length < 6) codes.push((await own.post('/api/v1/auth/password-reset', { email })).status);
      expect(codes).toEqual([...Array<number>(5).fill(202), 429]);
      expect((await own.post(path, { email: session.email, password })).status).toBe(200);
    } finally {
      await client.config('SET', 'maxmemory', '0');
      client.disconnect();
    }
  });

  // If a limit waited for Redis without end, no answer would come before SIGCONT or the restart.
  test('a hanging Redis delays a login by no more than its limits wait, and one that is away by nothing', async () => {
    await newSession(own); // makes sure that the connection to Redis is ready
    const session = await newSession(own);
    const logInAgain = (on = own) => on.post(path, { email: session.email, password });
    const insured = () => own.metric('auth_login_limits_insured_total');
    const insuredBefore = await insured();
    process.kill(redis.pid() ?? 0, 'SIGSTOP');
    try {
      const hanging = await logInAgain();
      const refreshed = await own.post('/api/v1/auth/refresh', { refresh_token: session.refresh_token });
      expect([hanging.status, refreshed.status]).toEqual([200, 200]);
      expect(await insured()).toBeGreaterThan(insuredBefore);
    } finally {
      process.kill(redis.pid() ?? 0, 'SIGCONT');
    }

    // This api would wait for Redis for an hour.
    const names = { MONGODB_DATABASE: own.database, KEY_PREFIX: own.keyPrefix, REDIS_URL: redis.url };
    const patient = await startTestApi({ ...cheap, ...names }, { limitTimeoutMs: 3_600_000 });
    try {
      await redis.kill();
      expect((await logInAgain(patient)).status).toBe(200);
    } finally {
      await patient.close({ keepData: true });
    }
    expect((await logInAgain()).status).toBe(200);
    const statuses: number[] = [];
    const email = newEmail();
    for (let i = 0; i < 20; i += 1) statuses.push((await own.post(path, { email, password: wrong })).status);
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(statuses.slice(10)).toEqual(Array(10).fill(429));
    expect(await insured()).toBeGreaterThan(insuredBefore + 20);
    await redis.start();
  });
});
