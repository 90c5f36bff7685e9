import { createHook } from 'node:async_hooks';
import { createSecretKey, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { waitUntil } from '@auth-account/local-stack';
import { createLimitKeys, failFastOptions } from '@auth-account/redis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createSettledLimit, type SettledLimit } from '../../../services/api/src/limits/settled-limit.ts';
import { type HoldingProxy, startHoldingProxy } from '../../support/stores/holding-proxy.ts';
import { withSentRedisCommands } from '../../support/stores/sent-redis-commands.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';

const redis = new Redis(testEnvironment().redisUrl);
const secret = createSecretKey(randomBytes(32));
const here = '192.0.2.1/32';
let prefix: string;
// Before Redis is connected, a limit would count in its process.
beforeAll(() => redis.ping());
beforeEach(() => {
  prefix = uniqueName();
});
afterAll(() => redis.disconnect());

/** Connections and proxies that the test has opened. */
const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

function connect(connection: Redis): Redis {
  opened.push(() => connection.disconnect());
  return connection;
}

/** Connects through a proxy that can hold answers. With `timeoutMs`, commands time out. */
async function connectBehind(timeoutMs?: number): Promise<{ behind: Redis; proxy: HoldingProxy }> {
  const proxy = await startHoldingProxy(Number(new URL(testEnvironment().redisUrl).port));
  opened.push(() => proxy.close());
  const options = timeoutMs === undefined ? {} : { ...failFastOptions(timeoutMs), enableOfflineQueue: true };
  return { proxy, behind: connect(new Redis(proxy.url, options)) };
}

const patience = { timeoutMs: 60_000, intervalMs: 5 };
const untilHeld = (proxy: HoldingProxy) =>
  waitUntil(async () => proxy.held() === 1, { what: 'the settling', ...patience });

/** Each call stands for another process. Most tests are over before a window ends or the limit settles by itself. */
const newProcess = (points: number, connection = redis, settleMs = 3_600_000, seconds = 3_600) =>
  createSettledLimit({
    redis: connection,
    keys: createLimitKeys(prefix, () => secret),
    ...{ name: 'refresh', points, seconds, settleMs },
  });

/** Requests that come at once. */
const accountLru = 50;

/** Returns how many of `count` requests were admitted. Ends early if some were not. */
async function admittedOf(limit: SettledLimit, count: number, who = here): Promise<number> {
  let admitted = 0;
  for (let sent = 0; sent < count && admitted === sent; ) {
    const requests = Math.min(accountLru, count - sent);
    const answers = await Promise.all(Array.from({ length: requests }, () => limit.count(who)));
    admitted += answers.filter((waitMs) => waitMs === undefined).length;
    sent += requests;
  }
  return admitted;
}

/** Returns what Redis has counted for each network, lowest first. */
async function counted(): Promise<number[]> {
  const keys = await redis.keys(`*${prefix}*`);
  const values = await Promise.all(keys.map((key) => redis.get(key)));
  return values.map(Number).sort((a, b) => a - b);
}

describe('networks with few requests', () => {
  test('requests of networks with few of them do not wait for Redis, and a settling counts each once, with the window’s end', async () => {
    const limit = newProcess(10_000);
    const networks = Array.from({ length: 600 }, (_, place) => `198.51.${place >> 8}.${place & 255}/32`);
    for (const [place, who] of networks.entries())
      expect(await admittedOf(limit, 1 + (place % 3), who)).toBe(1 + (place % 3));
    expect(await counted()).toEqual([]);
    await limit.settle();
    expect(await counted()).toEqual([1, 2, 3].flatMap((count) => Array(200).fill(count)));
    for (const key of (await redis.keys(`*${prefix}*`)).slice(0, 20)) {
      const endsInMs = await redis.pttl(key);
      expect(endsInMs).toBeGreaterThan(3_000_000);
      expect(endsInMs).toBeLessThanOrEqual(3_600_000);
    }
    await limit.settle();
    expect((await counted()).length).toBe(600);
  });

  test('a network below half of the limit after a settling is counted in the process again', async () => {
    const limit = newProcess(2_000);
    expect(await admittedOf(limit, 20)).toBe(20);
    await limit.settle();
    expect(await admittedOf(limit, 20)).toBe(20);
    expect(await counted()).toEqual([20]);
  });

  test('a settling sends nothing to Redis if nothing waits, and one command for as many networks as fit into it', async () => {
    const limit = newProcess(10_000);
    for (let place = 0; place < 256; place += 1) await limit.count(`198.51.100.${place}/32`);
    const commands = await withSentRedisCommands(async (sent) => {
      await limit.settle();
      await limit.settle();
      return sent.map(({ name }) => name);
    });
    expect(commands).toEqual(['eval']);
  });

  test('no more than ten thousand networks wait: the next one is counted at once', async () => {
    const limit = newProcess(10_000);
    for (let place = 0; place < 10_000; place += 1) await limit.count(`${place}`);
    expect(await counted()).toEqual([]);
    await limit.count('one more', 2);
    await limit.count('0');
    expect(await counted()).toEqual([2]);
  });
});

/** Returns the milliseconds of each timer that is set during the work. */
async function timersOf(work: () => Promise<unknown>): Promise<number[]> {
  const timers: number[] = [];
  const init = (_id: number, type: string, _trigger: number, resource: object) => {
    if (type === 'Timeout' && '_idleTimeout' in resource) timers.push(Number(resource._idleTimeout));
  };
  const hook = createHook({ init }).enable();
  await work().finally(() => hook.disable());
  return timers;
}

describe('settlings by the limit itself', () => {
  /** No other timer of the test has this length. */
  const settleMs = 23;
  const sumOf = async () => (await counted()).reduce((sum, each) => sum + each, 0);
  const untilCounted = (sum: number) =>
    waitUntil(async () => (await sumOf()) === sum, { what: `a sum of ${sum}`, ...patience });

  test('a limit settles by itself, by one timer, whenever requests wait, and sets no timer where none does', async () => {
    const limit = newProcess(10_000, redis, settleMs);
    for (const round of [1, 2, 3]) {
      const whileCounting = await timersOf(async () => {
        for (let request = 0; request < 5; request += 1) await limit.count(here);
      });
      expect(whileCounting.filter((ms) => ms === settleMs).length).toBe(1);
      await untilCounted(round * 5);
      // Waits for the settlement's answer before the next round.
      await limit.settle();
    }
    expect(await timersOf(() => delay(5 * settleMs))).not.toContain(settleMs);
  });

  test('a limit settles once more for requests that came while it settled', async () => {
    const { proxy, behind } = await connectBehind();
    const limit = newProcess(10_000, behind, settleMs);
    await behind.ping();
    proxy.hold('eval');
    await limit.count(here);
    await untilHeld(proxy);
    await limit.count(here);
    proxy.release();
    await untilCounted(2);
  });
});

describe('networks with many requests', () => {
  test('one process admits exactly the limit', async () => {
    const limit = newProcess(2_000);
    expect(await admittedOf(limit, 1_500)).toBe(1_500);
    await limit.settle();
    expect(await admittedOf(limit, 1_000)).toBe(500);
    expect(await limit.count(here)).toBeGreaterThan(3_000_000);
  });

  test('several processes admit 1 % more each at most, though none of them settles', async () => {
    const processes = Array.from({ length: 5 }, () => newProcess(2_000));
    const admitted = await Promise.all(processes.map((limit) => admittedOf(limit, 2_500)));
    const sum = admitted.reduce((total, each) => total + each, 0);
    expect(sum).toBeGreaterThanOrEqual(2_000);
    expect(sum).toBeLessThanOrEqual(2_000 + 5 * 20);
  });

  test('networks that have used half of the limit are counted at once, by every process that has learned that', async () => {
    const [first, second] = [newProcess(2_000), newProcess(2_000)];
    const networks = [here, '192.0.2.2/32'];
    for (const who of networks) await first.count(who, 999);
    await first.settle();
    for (const who of networks) await second.count(who);
    await second.settle();
    expect(await counted()).toEqual([1_000, 1_000]);
    await delay(20);
    for (const who of networks) await second.count(who);
    expect(await counted()).toEqual([1_001, 1_001]);
  });

  test('networks that have used half of the limit wait again when their window has ended', async () => {
    const limit = newProcess(1_000, redis, 3_600_000, 1);
    const used = async () => {
      await limit.count(here, 500);
      await limit.settle();
      await limit.count(here);
      return (await counted()).includes(501);
    };
    // On a machine that stalls, the window of a second may end before it is looked at.
    await waitUntil(used, { what: 'a window of which half is used', ...patience });
    const waitsAgain = async () => {
      for (const key of await redis.keys(`*${prefix}*`)) await redis.del(key);
      await limit.count(here);
      return (await counted()).length === 0;
    };
    await waitUntil(waitsAgain, { what: 'the end of the window', ...patience });
  });

  test('requests that are being settled count towards those that may wait', async () => {
    const { proxy, behind } = await connectBehind();
    const limit = newProcess(2_000, behind);
    await behind.ping();
    await admittedOf(limit, 20);
    proxy.hold('eval');
    const settled = limit.settle();
    await untilHeld(proxy);
    const next = limit.count(here);
    proxy.release();
    await Promise.all([settled, next]);
    expect(await counted()).toEqual([21]);
  });

  test('a network that Redis has refused stays refused, though Redis is away when the others are settled', async () => {
    const behind = connect(redis.duplicate());
    const limit = newProcess(1_000, behind);
    await behind.ping();
    expect(await admittedOf(limit, 2_000)).toBe(1_010);
    behind.disconnect();
    await limit.settle();
    expect(await limit.count(here)).toBeGreaterThan(3_000_000);
  });

  test('a limit below a thousand is exact', async () => {
    const processes = [newProcess(999), newProcess(999)];
    const admitted = await Promise.all(processes.map((limit) => admittedOf(limit, 1_200)));
    expect(admitted.reduce((total, each) => total + each, 0)).toBe(999);
  });
});

test('requests that a slow Redis has counted without answering in time are not counted there again', async () => {
  const { proxy, behind } = await connectBehind(200);
  behind.on('error', () => undefined);
  const limit = newProcess(1_000, behind);
  await waitUntil(() => behind.ping().then(Boolean, () => false), { what: 'the connection', ...patience });
  expect(await admittedOf(limit, 7)).toBe(7);
  proxy.hold('eval');
  await limit.settle();
  await untilHeld(proxy);
  await waitUntil(async () => (await counted()).join() === '7', { what: 'the count in Redis', ...patience });
  proxy.release();
  await limit.settle();
  expect(await counted()).toEqual([7]);
});

test('while Redis is away the process counts for itself, settled or not', async () => {
  const away = connect(new Redis({ ...failFastOptions(), port: 1, lazyConnect: true }));
  away.on('error', () => undefined);
  const limit = newProcess(1_000, away);
  let admitted = 0;
  for (let round = 10; round === 10; admitted += round) {
    round = await admittedOf(limit, 10);
    await limit.settle();
  }
  expect(admitted).toBeGreaterThanOrEqual(1_000);
  expect(admitted).toBeLessThanOrEqual(1_010);
});
