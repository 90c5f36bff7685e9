import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { waitUntil } from '@auth-account/local-stack';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { newDevice, newEmail, password } from '../../support/api/accounts.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { openSocket } from '../../support/gateway/raw-connection.ts';
import type { Answer } from '../../support/http-client.ts';
import { testEnvironment } from '../../support/test-environment.ts';

/** Only counting is under test here, so hashes are as cheap as Argon2 allows. */
const env = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1', TRUST_PROXY_HOPS: '1' };

let api: TestApi;
let strict: TestApi;
beforeAll(async () => {
  // This clock measures the waits. By the real clock, a second might be over before a slow machine's next guess.
  const now = Date.now();
  api = await startTestApi(env, { now: () => now });
  strict = await startTestApi({ ...env, REGISTER_LIMIT_PER_ADDRESS: '3' });
});
afterAll(async () => {
  await strict.close();
  await api.close();
});

interface From {
  readonly address?: string;
  readonly key?: string;
  readonly on?: TestApi;
  readonly device?: object;
}

function register(body: object, { address = '192.0.2.1', key, on = api, device = {} }: From = {}): Promise<Answer> {
  const household = { password, space_creation_mode: 'CREATE_NEW_HOME', ...body };
  const headers = { ...device, 'X-Forwarded-For': address, ...(key === undefined ? {} : { 'Idempotency-Key': key }) };
  return on.registerAccount(household, headers);
}

const logIn = (body: object, address: string, device: object = {}) =>
  api.logIn({ password, ...body }, { 'X-Forwarded-For': address, ...device });

const count = (answers: readonly Answer[], wanted: number) => answers.filter(({ status }) => status === wanted).length;

describe('a client that knows an Idempotency-Key and guesses at the password', () => {
  // guarantees: idempotency-key-is-no-oracle
  test('a client that guesses passwords with an Idempotency-Key gets as many verdicts as by logins, each a failed login', async () => {
    const [email, key] = [newEmail(), randomUUID()];
    await register({ email }, { key, address: '192.0.2.10' });
    const failedBefore = await api.metric('auth_logins_total', { outcome: 'failed' });
    const guesses: Answer[] = [];
    for (let each = 0; each < 60; each += 1) {
      guesses.push(await register({ email, password: `wrong password ${each}` }, { key, address: '192.0.2.11' }));
    }
    expect(count(guesses, 422)).toBe(5);
    expect(count(guesses, 429)).toBe(55);
    expect(guesses.find(({ status }) => status === 422)?.json.error_code).toBe('ERR-IDEMPOTENCY-KEY-REUSED');
    expect((await api.metric('auth_logins_total', { outcome: 'failed' })) - failedBefore).toBe(5);
    // A guess at the registration counts at the login too, so the next login from this network has to wait.
    expect((await logIn({ email, password: 'wrong' }, '192.0.2.11')).status).toBe(429);
  });

  // guarantees: idempotency-key-is-no-oracle
  test('a client that guesses passwords with an Idempotency-Key is refused past the limit even with the right one', async () => {
    const [email, key] = [newEmail(), randomUUID()];
    await register({ email }, { key, address: '192.0.2.12' });
    for (let each = 0; each < 5; each += 1)
      await register({ email, password: 'wrong one' }, { key, address: '192.0.2.13' });
    const right = await register({ email }, { key, address: '192.0.2.13' });
    expect([right.status, right.json.error_code]).toEqual([429, 'ERR-RATE-LIMITED']);
  });

  test('a client that guesses passwords with an Idempotency-Key does not keep the owner from the first answer', async () => {
    const [email, key] = [newEmail(), randomUUID()];
    const first = await register({ email }, { key, address: '192.0.2.14' });
    for (let each = 0; each < 40; each += 1) {
      await register({ email, password: 'wrong one' }, { key, address: `198.51.100.${each}` });
    }
    const again = await register({ email }, { key, address: '192.0.2.14' });
    expect([again.status, again.json]).toEqual([201, first.json]);
  });
});

describe('a new account', () => {
  const wrong = 'wrong password';
  const failFrom = async (email: string, network: string, times: number) => {
    for (let each = 0; each < times; each += 1) await logIn({ email, password: wrong }, `${network}.${each}`);
  };

  // guarantees: registration-place-known
  test('a new account knows the network of its registration: failures elsewhere do not lock its owner out', async () => {
    const email = newEmail();
    await failFrom(email, '198.51.100', 40);
    await register({ email }, { address: '192.0.2.20' });
    await failFrom(email, '203.0.113', 40);
    expect((await logIn({ email }, '192.0.2.20')).status).toBe(200);
  });

  test('a new account knows the device of its registration by its secret', async () => {
    const [email, device] = [newEmail(), newDevice()];
    await failFrom(email, '198.51.100', 40);
    expect((await register({ email }, { address: '192.0.2.21', device })).status).toBe(201);
    await failFrom(email, '203.0.113', 40);
    expect((await logIn({ email }, '192.0.2.22', device)).status).toBe(200);
  });

  // guarantees: registration-place-known
  test('a new account is not limited for what failed at its email address before, from anywhere', async () => {
    const email = newEmail();
    await failFrom(email, '198.51.100', 40);
    await register({ email }, { address: '192.0.2.23' });
    expect((await logIn({ email }, '192.0.2.24')).status).toBe(200);
  });
});

describe('the limit of a network', () => {
  test('the limit of a network counts replays too, and is checked before them', async () => {
    const [email, key] = [newEmail(), randomUUID()];
    const answers: Answer[] = [];
    for (let each = 0; each < 5; each += 1) {
      answers.push(await register({ email }, { key, address: '192.0.2.30', on: strict }));
    }
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 429, 429]);
  });

  test('the limit of a network is checked first: a client past it does not learn that an email address is taken', async () => {
    const email = newEmail();
    for (let each = 0; each < 3; each += 1) await register({ email }, { address: '192.0.2.31', on: strict });
    expect((await register({ email }, { address: '192.0.2.31', on: strict })).status).toBe(429);
    expect((await register({ email }, { address: '192.0.2.32', on: strict })).status).toBe(409);
  });

  // guarantees: limited-network-without-redis
  test('a client past the limit of its network causes no more commands to Redis', async () => {
    const limited = await startTestApi({ ...env, REGISTER_LIMIT_PER_ADDRESS: '3', LOGIN_LIMIT_PER_ADDRESS: '3' });
    const watch = await watchRedis(`{${limited.keyPrefix}}:limit`);
    await watch.count();
    try {
      const ask = async () => {
        const address = '192.0.2.33';
        const login = { email: newEmail(), password };
        const registered = await register({ email: newEmail() }, { address, on: limited });
        const loggedIn = await limited.logIn(login, { 'X-Forwarded-For': address });
        return [registered.status, loggedIn.status];
      };
      for (let each = 0; each < 3; each += 1) expect(await ask()).toEqual([201, 401]);
      expect(await ask()).toEqual([429, 429]);
      expect(await watch.count()).toBeGreaterThan(8);
      const before = await watch.count();
      const more = await Promise.all(Array.from({ length: 40 }, ask));
      expect(more.flat()).toEqual(Array(80).fill(429));
      expect(await watch.count()).toBe(before);
    } finally {
      watch.close();
      await limited.close();
    }
  });
});

/**
 * Counts the commands that contain the text. MONITOR has its own socket, because ioredis fails if a line comes in one
 * packet with MONITOR's answer: it takes the line for the answer to a command.
 */
async function watchRedis(text: string) {
  const redis = new Redis(testEnvironment().redisUrl);
  const monitor = openSocket(testEnvironment().redisUrl);
  let commands = 0;
  let last = '';
  createInterface(monitor).on('line', (line) => {
    if (line.includes('"echo"')) last = line;
    else if (line.includes(text)) commands += 1;
  });
  monitor.write('MONITOR\r\n');
  return {
    async count() {
      // When the mark has been seen, everything that was sent before it has been seen too.
      const mark = randomUUID();
      const isSeen = async () => {
        // Sent again and again, because the first may have come before MONITOR.
        await redis.echo(mark);
        return last.includes(mark);
      };
      await waitUntil(isSeen, { what: 'the last command', timeoutMs: 60_000, intervalMs: 5 });
      return commands;
    },
    close() {
      monitor.destroy();
      redis.disconnect();
    },
  };
}
