import { type LocalRedis, startRedis } from '@auth-account/local-stack';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { newDevice, newEmail, newSession, password, registerAccount } from '../../support/api/accounts.ts';
import { withHeaders } from '../../support/api/api-driver.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import type { Answer } from '../../support/http-client.ts';
import { type GuardedFolder, openGuardedFolder } from '../../support/processes/guarded-folder.ts';

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

function logInFrom(address: string, body: object): Promise<Answer> {
  return api.logIn(body, { 'X-Forwarded-For': address });
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

// guarantees: login-tells-nothing
test('an email address without an account is limited as one with an account', async () => {
  const email = newEmail();
  const answers: number[] = [];
  for (let i = 0; i < 7; i += 1) answers.push((await logInFrom('192.0.2.3', { email, password: wrong })).status);
  expect(answers).toEqual([401, 401, 401, 401, 401, 429, 429]);
});

test('a device is known by its secret once it has logged in, and by no id', async () => {
  const device = newDevice();
  const { email, device_id } = await newSession(withHeaders(api, device));
  for (let i = 0; i < 6; i += 1) await logInFrom('192.0.2.6', { email, password: wrong });
  expectRefused(await logInFrom('192.0.2.6', { email, password }));
  expectRefused(await logInFrom('192.0.2.6', { email, password, device_id }));
  const known = { 'X-Forwarded-For': '192.0.2.6', ...device };
  expect((await api.logIn({ email, password }, known)).status).toBe(200);
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

  test('a client is counted by its connection if no proxy is trusted', async () => {
    const now = Date.now();
    const direct = await startTestApi(cheap, { now: () => now });
    try {
      const email = newEmail();
      const statuses: number[] = [];
      for (let i = 0; i < 6; i += 1) {
        const headers = { 'X-Forwarded-For': `192.0.2.${i}` };
        statuses.push((await direct.logIn({ email, password: wrong }, headers)).status);
      }
      expect(statuses).toEqual(sixth);
    } finally {
      await direct.close();
    }
  });
});

describe('the limits of logins and a failing Redis', () => {
  let redis: LocalRedis;
  let own: TestApi;
  let folder: GuardedFolder;
  beforeAll(async () => {
    folder = await openGuardedFolder('limits');
    redis = await startRedis({ dir: folder.dir, log: () => undefined, onSpawn: folder.watch });
    own = await startTestApi({ ...cheap, REDIS_URL: redis.url }, { waits: {} });
  });
  afterAll(async () => {
    await own.close();
    await redis.kill();
    await folder.close();
  });

  // guarantees: redis-memory-bounded
  test('a full Redis locks nobody out: each process counts for itself', async () => {
    const session = await newSession(own);
    const client = new Redis(redis.url);
    await client.config('SET', 'maxmemory', '1');
    try {
      const wrongTries: number[] = [];
      const email = newEmail();
      while (wrongTries.length < 12) wrongTries.push((await own.logIn({ email, password: wrong })).status);
      expect(wrongTries).toEqual([...Array<number>(10).fill(401), 429, 429]);
      const codes: number[] = [];
      while (codes.length < 6) codes.push((await own.requestPasswordReset({ email })).status);
      expect(codes).toEqual([...Array<number>(5).fill(202), 429]);
      expect((await own.logIn({ email: session.email, password })).status).toBe(200);
    } finally {
      await client.config('SET', 'maxmemory', '0');
      client.disconnect();
    }
  });

  // If a limit waited for Redis without end, no answer would come before SIGCONT or the restart.
  test('a hanging Redis delays a login by no more than its limits wait, and one that is away by nothing', async () => {
    await newSession(own); // makes sure that the connection to Redis is ready
    const session = await newSession(own);
    const logInAgain = (on = own) => on.logIn({ email: session.email, password });
    const insured = () => own.metric('auth_login_limits_insured_total');
    const insuredBefore = await insured();
    process.kill(redis.pid() ?? 0, 'SIGSTOP');
    try {
      const hanging = await logInAgain();
      const refreshed = await own.refreshTokens({ refresh_token: session.refresh_token });
      expect([hanging.status, refreshed.status]).toEqual([200, 200]);
      expect(await insured()).toBeGreaterThan(insuredBefore);
    } finally {
      process.kill(redis.pid() ?? 0, 'SIGCONT');
    }

    // This api would wait for Redis for an hour.
    const patient = await own.beside();
    try {
      await redis.kill();
      expect((await logInAgain(patient)).status).toBe(200);
    } finally {
      await patient.close();
    }
    expect((await logInAgain()).status).toBe(200);
    const statuses: number[] = [];
    const email = newEmail();
    for (let i = 0; i < 20; i += 1) statuses.push((await own.logIn({ email, password: wrong })).status);
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(statuses.slice(10)).toEqual(Array(10).fill(429));
    expect(await insured()).toBeGreaterThan(insuredBefore + 20);
    await redis.start();
  });
});
