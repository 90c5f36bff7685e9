import { randomBytes } from 'node:crypto';
import { createLimitKeys, failFastOptions } from '@auth-account/redis';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createSettledLimit, type SettledLimit } from '../../../services/api/src/limits/settled-limit.ts';
import { startHoldingProxy } from '../../support/holding-proxy.ts';
import { testEnvironment, uniqueName } from '../../support/test-api.ts';

const redis = new Redis(testEnvironment().redisUrl);
const secret = randomBytes(32);
const here = '192.0.2.1/32';
let prefix: string;
beforeEach(() => {
  prefix = uniqueName();
});
afterAll(() => redis.disconnect());

/** Each call is another process. Neither a window nor the time until it settles by itself ends during a test. */
const newProcess = (points: number, connection = redis, settleMs = 3_600_000) =>
  createSettledLimit({
    redis: connection,
    keys: createLimitKeys(prefix, () => secret),
    ...{ name: 'refresh', points, seconds: 3_600, settleMs },
  });

/** Returns how many of so many requests were admitted. */
async function admittedOf(limit: SettledLimit, count: number, who = here): Promise<number> {
  let admitted = 0;
  for (let request = 0; request < count; request += 1) {
    if ((await limit.count(who)) !== undefined) break;
    admitted += 1;
  }
  return admitted;
}

/** Returns what Redis has counted for each network, lowest first. */
async function counted(): Promise<number[]> {
  const keys = await redis.keys(`*${prefix}*`);
  const values = await Promise.all(keys.map((key) => redis.get(key)));
  return values.map(Number).sort((a, b) => a - b);
}

describe('where few come', () => {
  test('nothing waits for Redis, and after the settling each is counted once, with the window’s end', async () => {
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

  test('it settles by itself', async () => {
    const limit = newProcess(10_000, redis, 20);
    await limit.count(here);
    const begun = performance.now();
    while ((await counted()).length === 0 && performance.now() - begun < 60_000) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(await counted()).toEqual([1]);
  });
});

describe('where many come', () => {
  test('one process admits exactly the limit', async () => {
    const limit = newProcess(2_000);
    expect(await admittedOf(limit, 1_500)).toBe(1_500);
    await limit.settle();
    expect(await admittedOf(limit, 1_000)).toBe(500);
    expect(await limit.count(here)).toBeGreaterThan(3_000_000);
  });

  test('several admit 1 % more each at most, though none of them settles', async () => {
    const processes = Array.from({ length: 5 }, () => newProcess(2_000));
    const admitted = await Promise.all(processes.map((limit) => admittedOf(limit, 2_500)));
    const sum = admitted.reduce((total, each) => total + each, 0);
    expect(sum).toBeGreaterThanOrEqual(2_000);
    expect(sum).toBeLessThanOrEqual(2_000 + 5 * 20);
  });

  test('a network that has used half of it is counted at once, by every process that has heard so', async () => {
    const [first, second] = [newProcess(2_000), newProcess(2_000)];
    await admittedOf(first, 1_020);
    await second.count(here);
    await second.settle();
    const before = await counted();
    await second.count(here);
    expect(await counted()).toEqual([Number(before[0]) + 1]);
  });

  test('one below a thousand is exact', async () => {
    const processes = [newProcess(999), newProcess(999)];
    const admitted = await Promise.all(processes.map((limit) => admittedOf(limit, 1_200)));
    expect(admitted.reduce((total, each) => total + each, 0)).toBe(999);
  });
});

test('what a slow Redis has counted, though it did not say so in time, is not counted there again', async () => {
  const proxy = await startHoldingProxy(Number(new URL(testEnvironment().redisUrl).port));
  const behind = new Redis(proxy.url, { ...failFastOptions(200), enableOfflineQueue: true });
  behind.on('error', () => undefined);
  const limit = newProcess(1_000, behind);
  await behind.ping();
  expect(await admittedOf(limit, 7)).toBe(7);
  proxy.hold('evalsha');
  const settled = limit.settle();
  await settled;
  proxy.release();
  await limit.settle();
  expect(await counted()).toEqual([7]);
  behind.disconnect();
  await proxy.close();
});

test('while Redis is away the process counts for itself, settled or not', async () => {
  const away = new Redis({ ...failFastOptions(), port: 1, lazyConnect: true });
  away.on('error', () => undefined);
  const limit = newProcess(1_000, away);
  let admitted = 0;
  for (let round = 10; round === 10; admitted += round) {
    round = await admittedOf(limit, 10);
    await limit.settle();
  }
  expect(admitted).toBeGreaterThanOrEqual(1_000);
  expect(admitted).toBeLessThanOrEqual(1_010);
  away.disconnect();
});
