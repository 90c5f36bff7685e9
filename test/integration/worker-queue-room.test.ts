import { type EventQueue, openEventQueue, redisKeys } from '@auth-account/messaging';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createQueueRoom } from '../../services/worker/src/deliver/queue-room.ts';
import { uniqueName } from '../support/test-api.ts';

let redis: Redis;
let queues: Map<string, EventQueue>;
let analytics: EventQueue;
beforeAll(() => {
  redis = new Redis(process.env.TEST_REDIS_URL ?? '');
  const keys = redisKeys(uniqueName());
  analytics = openEventQueue('analytics', redis, keys);
  queues = new Map([
    ['analytics', analytics],
    ['billing', openEventQueue('billing', redis, keys)],
  ]);
});
const clear = () => redis.del(...['wait', 'paused', 'delayed'].map((list) => analytics.toKey(list)));
beforeEach(clear);
afterAll(async () => {
  await clear();
  for (const queue of queues.values()) await queue.close();
  redis.disconnect();
});

const push = (list: 'wait' | 'paused', jobs: number) => redis.rpush(analytics.toKey(list), ...Array(jobs).fill('job'));
const delay = (jobs: number) =>
  redis.zadd(analytics.toKey('delayed'), ...Array.from({ length: jobs }, (_, job) => [job, `job-${job}`]).flat());

test.each([
  ['5,000 wait', () => push('wait', 1), () => push('wait', 4_999)],
  ['5,000 wait in a queue that is paused', () => push('paused', 1), () => push('wait', 4_999)],
  ['20,000 wait, most of them for their next attempt', () => push('wait', 1), () => delay(19_999)],
])('a queue in which %s has no more room, and others have', async (_what, addOne, fill) => {
  const room = createQueueRoom({ queues, redis, now: () => new Date() });
  await fill();
  expect([...(await room.look())]).toEqual(['analytics', 'billing']);
  await addOne();
  expect([...(await room.look())]).toEqual(['billing']);
});

test('what was found is good for a second', async () => {
  let now = 0;
  const room = createQueueRoom({ queues, redis, now: () => new Date(now) });
  expect([...(await room.recent())]).toEqual(['analytics', 'billing']);
  await push('wait', 5_000);
  now = 999;
  expect([...(await room.recent())]).toEqual(['analytics', 'billing']);
  now = 1_000;
  expect([...(await room.recent())]).toEqual(['billing']);
});

test('without a queue it only asks whether Redis is there', async () => {
  const gone = new Redis(process.env.TEST_REDIS_URL ?? '', { enableOfflineQueue: false, lazyConnect: true });
  const now = () => new Date();
  expect([...(await createQueueRoom({ queues: new Map(), redis, now }).look())]).toEqual([]);
  await expect(createQueueRoom({ queues: new Map(), redis: gone, now }).look()).rejects.toThrow('writeable');
  gone.disconnect();
});
