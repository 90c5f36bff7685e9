import { setImmediate as nextTurn } from 'node:timers/promises';
import { redisKeys } from '@auth-account/redis';
import { expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import {
  addEvents,
  consumedJobOptions,
  eventIdOf,
  eventJobId,
  eventJobOptions,
  openEventQueue,
  reliableWorkerOptions,
  replayedAtOf,
  subscriberQueueName,
} from './queues.ts';

const id = '0190a3b4-c5d6-7000-8000-000000000002';

test('each subscriber of a topic has a queue of its own', () => {
  expect(subscriberQueueName('a.topic', 'billing')).toBe('a.topic.billing');
});

test('a job’s id names the event and, for a replay, its time', () => {
  const at = new Date(1_763_712_000_000);
  expect([eventJobId(id), eventJobId(id, at)]).toEqual([id, `${id}.1763712000000`]);
  expect([eventIdOf(id), eventIdOf(`${id}.1763712000000`)]).toEqual([id, id]);
  expect([replayedAtOf(id), replayedAtOf(`${id}.1763712000000`)]).toEqual([undefined, at]);
  expect([eventIdOf('a.1.b'), replayedAtOf('a.1.b')]).toEqual(['a.1.b', undefined]);
});

test('a job ends by its own attempts, never by workers that crashed with it', () => {
  expect(reliableWorkerOptions.maxStalledCount).toBe(Number.MAX_SAFE_INTEGER);
  expect(reliableWorkerOptions.stalledInterval).toBeLessThan(reliableWorkerOptions.lockDuration);
});

test('webhook jobs are retried with pauses of the worker, consumer jobs for about a day with BullMQ’s', () => {
  expect(eventJobOptions).toEqual({
    attempts: 1_000_000,
    backoff: { type: 'custom' },
    removeOnComplete: { age: 86_400, count: 20_000 },
    removeOnFail: { age: 604_800, count: 20_000 },
    stackTraceLimit: 1,
  });
  const { attempts, backoff } = consumedJobOptions;
  const maxMs = Array.from({ length: attempts - 1 }, (_, made) => backoff.delay * 2 ** (made + 1)).reduce(
    (a, b) => a + b,
  );
  // With full jitter, a pause is half of its limit on average. The pauses add up to about a day.
  expect([backoff.type, backoff.jitter]).toEqual(['exponential', 1]);
  expect(maxMs / 2 / 3_600_000).toBeGreaterThan(18);
  expect(maxMs / 2 / 3_600_000).toBeLessThan(60);
});

test('a new queue sends no command to Redis', async () => {
  const options = { lazyConnect: true, enableOfflineQueue: false, retryStrategy: () => null };
  const redis = new Redis({ host: '127.0.0.1', port: 1, ...options });
  redis.on('error', () => undefined);
  const queue = openEventQueue('a.topic.billing', redis, redisKeys('test'));
  queue.on('error', () => undefined);
  // A command would have made the client try to connect by now.
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
  expect(redis.status).toBe('wait');
  redis.disconnect();
});

test('an empty list of jobs sends no command to Redis', async () => {
  const redis = new Redis({ host: '127.0.0.1', port: 1, lazyConnect: true, enableOfflineQueue: false });
  const queue = openEventQueue('a.topic.billing', redis, redisKeys('test'));
  await expect(addEvents(queue, [])).resolves.toBeUndefined();
  expect(redis.status).toBe('wait');
  redis.disconnect();
});
