import { urgentTopic } from '@auth-account/contracts/events';
import { type EventQueue, openEventQueue } from '@auth-account/messaging';
import { redisKeys } from '@auth-account/redis';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createQueueCapacity } from '../../../services/worker/src/delivery/queue-capacity.ts';
import { uniqueName } from '../../support/test-environment.ts';

const names = ['analytics', 'billing', 'catering'];

let redis: Redis;
let queues: Map<string, EventQueue>;
beforeAll(() => {
  redis = new Redis(process.env.TEST_REDIS_URL ?? '');
  const keys = redisKeys(uniqueName());
  queues = new Map(names.map((name) => [name, openEventQueue(name, redis, keys)]));
});
const listOf = (all: typeof queues) => [...all.values()].map((queue) => ({ queue }));
const keyOf = (name: string, list: string) => queues.get(name)?.toKey(list) ?? '';
const clear = () => redis.del(...names.flatMap((name) => ['wait', 'delayed', 'code'].map((list) => keyOf(name, list))));
beforeEach(clear);
afterAll(async () => {
  await clear();
  for (const queue of queues.values()) await queue.close();
  redis.disconnect();
});

const push = (jobs: number, name = 'analytics') => redis.rpush(keyOf(name, 'wait'), ...Array(jobs).fill('job'));
const delay = (jobs: number) =>
  redis.zadd(keyOf('analytics', 'delayed'), ...Array.from({ length: jobs }, (_, job) => [job, `job-${job}`]).flat());

// guarantees: queue-bounded
test.each([
  ['5,000 wait', () => push(1), () => push(4_999)],
  ['20,000 wait, most of them for their next attempt', () => push(1), () => delay(19_999)],
])('a queue in which %s has no more capacity, and other queues have', async (_what, addOne, fill) => {
  const capacity = createQueueCapacity({ queues: listOf(queues), redis, now: () => new Date() });
  await fill();
  expect([...(await capacity.read()).forAll]).toEqual(names);
  await addOne();
  expect([...(await capacity.read()).forAll]).toEqual(['billing', 'catering']);
});

test.each(names)('each queue is counted by itself: %s is full', async (full) => {
  const capacity = createQueueCapacity({ queues: listOf(queues), redis, now: () => new Date() });
  await push(5_000, full);
  expect([...(await capacity.read()).forAll]).toEqual(names.filter((name) => name !== full));
});

test.each([
  ['5,000 wait', () => push(5_000), () => push(5_000)],
  ['20,000 wait, most of them for their next attempt', () => delay(20_000), () => delay(40_000)],
])(
  'a queue in which %s has capacity for requests for codes, until there are twice as many',
  async (_what, fill, fillMore) => {
    const capacity = createQueueCapacity({ queues: listOf(queues), redis, now: () => new Date() });
    await fill();
    expect([...(await capacity.read()).forAll]).toEqual(['billing', 'catering']);
    expect([...(await capacity.read()).forUrgent]).toEqual(names);
    await fillMore();
    expect([...(await capacity.read()).forUrgent]).toEqual(['billing', 'catering']);
  },
);

// guarantees: codes-leave-room
test('a queue with a thousand requests for codes at its head has no more capacity for them than for other events', async () => {
  const capacity = createQueueCapacity({ queues: listOf(queues), redis, now: () => new Date() });
  await redis.hset(keyOf('analytics', 'code'), 'name', urgentTopic);
  const codes = (count: number) => redis.rpush(keyOf('analytics', 'wait'), ...Array(count).fill('code'));
  await push(5_000);
  await codes(999);
  expect([...(await capacity.read()).forUrgent]).toEqual(names);
  await codes(1);
  expect([...(await capacity.read()).forUrgent]).toEqual(['billing', 'catering']);
  await redis.ltrim(keyOf('analytics', 'wait'), -4_999, -1);
  expect([...(await capacity.read()).forUrgent]).toEqual(names);
});

test('a queue that cannot be counted is an error', async () => {
  await redis.set(keyOf('billing', 'wait'), 'no list');
  const capacity = createQueueCapacity({ queues: listOf(queues), redis, now: () => new Date() });
  await expect(capacity.read()).rejects.toThrow('WRONGTYPE');
});

test('a count of the queues is good for a second', async () => {
  const begin = 1_000_000;
  let now = begin;
  const capacity = createQueueCapacity({ queues: listOf(queues), redis, now: () => new Date(now) });
  expect([...(await capacity.recent()).forAll]).toEqual(names);
  await push(5_000);
  now = begin + 999;
  expect([...(await capacity.recent()).forAll]).toEqual(names);
  now = begin + 1_000;
  expect([...(await capacity.recent()).forAll]).toEqual(['billing', 'catering']);
});

test('a count without queues only asks whether Redis is there', async () => {
  const gone = new Redis(process.env.TEST_REDIS_URL ?? '', { enableOfflineQueue: false, lazyConnect: true });
  const now = () => new Date();
  expect((await createQueueCapacity({ queues: [], redis, now }).read()).forAll.size).toBe(0);
  await expect(createQueueCapacity({ queues: [], redis: gone, now }).read()).rejects.toThrow('writeable');
  gone.disconnect();
});
