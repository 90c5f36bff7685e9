import { setTimeout as delay } from 'node:timers/promises';
import { apiConfig } from '@auth-account/api/config';
import { loadConfig } from '@auth-account/config';
import { pushGatewayConfig } from '@auth-account/push-gateway/config';
import {
  createSubscription,
  failFastOptions,
  openRedis,
  type RedisClient,
  type RedisSettings,
  subscriberOptions,
  workerOptions,
} from '@auth-account/redis';
import { workerConfig } from '@auth-account/worker/config';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { authctl } from '../../support/processes/authctl.ts';
import { serviceEnvironment } from '../../support/service-environment.ts';
import { startStopwatch } from '../../support/stopwatch.ts';
import { type HoldingProxy, startHoldingProxy } from '../../support/stores/holding-proxy.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let direct: Redis;
let proxy: HoldingProxy;
const opened: RedisClient[] = [];

beforeAll(async () => {
  const { redisUrl } = testEnvironment();
  direct = new Redis(redisUrl, { maxRetriesPerRequest: null });
  proxy = await startHoldingProxy(Number(new URL(redisUrl).port));
});

afterEach(() => {
  for (const redis of opened.splice(0)) redis.disconnect();
});

afterAll(async () => {
  direct.disconnect();
  await proxy.close();
});

/** Opens a connection through the proxy, and counts how often it is lost. */
function open(settings: RedisSettings, url = proxy.url) {
  const redis = openRedis({ REDIS_URL: url }, settings);
  const lost = { count: 0 };
  redis.on('error', () => undefined);
  redis.on('close', () => {
    lost.count += 1;
  });
  opened.push(redis);
  return { redis, lost };
}

/** Sleeps, and returns true if the machine stalled during the sleep. */
async function sleepAndWatch(ms: number): Promise<boolean> {
  const [start, watch] = [performance.now(), startStopwatch()];
  await delay(ms);
  const awakeMs = watch.stop();
  return performance.now() - start - awakeMs > 1;
}

/** Opens a subscription that records its messages. */
function listen(redis: RedisClient, channel: string, renewalMs: number) {
  const [messages, errors]: string[][] = [[], []];
  const subscription = createSubscription({
    redis,
    channels: [channel],
    onMessage: (_channel, message) => messages?.push(message),
    onSubscribed: () => messages?.push('subscribed'),
    onError: (error) => errors?.push(String(error)),
    renewalMs,
  });
  return { subscription, messages, errors };
}

describe('connections to a Redis host that vanishes without a word', () => {
  test('a connection for commands leaves a host that vanishes without a word for a new connection', async () => {
    const { redis, lost } = open(failFastOptions(250));
    await eventually('the connection', () => redis.status === 'ready');
    proxy.freeze();
    await expect(redis.ping()).rejects.toThrow('Command timed out');
    // An answer can come only over a new connection.
    await eventually('an answer', () => redis.ping().then(Boolean, () => false));
    expect(lost.count).toBeGreaterThan(0);
  });

  test('a subscription leaves a host that vanishes without a word for a new connection', async () => {
    const channel = uniqueName();
    const { redis } = open(subscriberOptions());
    const { subscription, messages } = listen(redis, channel, 250);
    await eventually('the subscription', subscription.isSubscribed);
    proxy.freeze();
    const subscriptions = () => messages?.filter((message) => message === 'subscribed').length ?? 0;
    await eventually('another subscription', () => subscriptions() > 1);
    // If the machine stalls, the message may be lost again.
    await eventually('the message', async () => {
      await direct.publish(channel, 'heard');
      return messages?.includes('heard') === true;
    });
    subscription.stop();
  });

  test('a queue’s worker leaves a host that vanishes without a word, also with its connection that waits for jobs', async () => {
    const done: unknown[] = [];
    const { redis, lost } = open({ ...workerOptions(), socketTimeout: 4_000 });
    const [name, prefix] = [uniqueName(), '{test}'];
    const worker = new Worker(name, async ({ data }) => done.push(data), {
      ...{ connection: redis, prefix, drainDelay: 0.5, stalledInterval: 500, runRetryDelay: 100 },
    });
    const errors: Error[] = [];
    worker.on('error', (error) => errors.push(error));
    const queue = new Queue(name, { connection: direct, prefix });
    const firstJob = async () => {
      done.length = 0;
      await queue.add('job', 'before');
      await eventually('the first job', () => done.length === 1);
      [lost.count, errors.length] = [0, 0];
    };
    await firstJob();
    // Waiting for jobs must not count as silence.
    while ((await sleepAndWatch(1_000)) && lost.count + errors.length > 0) await firstJob();
    expect([lost.count, errors]).toEqual([0, []]);
    proxy.freeze();
    await queue.add('job', 'after');
    await eventually('the second job', () => done.length === 2);
    expect(done).toEqual(['before', 'after']);
    expect(workerOptions().socketTimeout).toBeGreaterThan(worker.maximumBlockTimeout * 1_000 + 1_000);
    await worker.close();
    await queue.obliterate({ force: true });
    await queue.close();
  });

  test('a connection to a host that only has nothing to say is kept', async () => {
    const commands = open({ ...failFastOptions(), socketTimeout: 100 });
    const subscriber = open({ ...subscriberOptions(), socketTimeout: 100 });
    const { subscription } = listen(subscriber.redis, uniqueName(), 60_000);
    await eventually('an answer', () => commands.redis.ping().then(Boolean, () => false));
    const bothReady = async () => {
      await eventually('both', () => commands.redis.status === 'ready' && subscription.isSubscribed());
      // A tenth of a second may have been too short for the requests so far.
      commands.lost.count = 0;
      subscriber.lost.count = 0;
    };
    await bothReady();
    while ((await sleepAndWatch(500)) && commands.lost.count + subscriber.lost.count > 0) await bothReady();
    expect([commands.lost.count, subscriber.lost.count]).toEqual([0, 0]);
    subscription.stop();
  });
});

test('a subscription that is refused says so once, and subscribes when it may', async () => {
  const [user, channel] = [uniqueName(), uniqueName()];
  await direct.call('ACL', 'SETUSER', user, 'on', '>secret', '+@all', '~*', 'resetchannels');
  try {
    const url = new URL(testEnvironment().redisUrl);
    const { redis } = open(subscriberOptions(), `redis://${user}:secret@${url.host}`);
    const { subscription, errors } = listen(redis, channel, 20);
    const tries = jest.spyOn(redis as Redis, 'subscribe');
    await eventually('several tries', () => tries.mock.calls.length > 3);
    await direct.call('ACL', 'SETUSER', user, `&${channel}`);
    await eventually('the subscription', subscription.isSubscribed);
    expect(errors).toEqual([expect.stringContaining('NOPERM')]);
    subscription.stop();
  } finally {
    await direct.call('ACL', 'DELUSER', user);
  }
});

describe('wrong settings of Redis', () => {
  const wrong = { REDIS_URL: 'redis://u:hunter2@half@cache:1', REDIS_CA_FILE: '/nowhere/ca.pem' };

  test.each([
    ['api', apiConfig],
    ['push-gateway', pushGatewayConfig],
    ['worker', workerConfig],
  ])('wrong settings of Redis are named at the start by the %s, without the password', (_name, schema) => {
    const load = () => loadConfig(schema, { env: { ...serviceEnvironment(uniqueName()), ...wrong } });
    expect(load).toThrow(
      expect.objectContaining({
        problems: [
          expect.objectContaining({ name: 'REDIS_URL', expected: 'text; a host is malformed' }),
          expect.objectContaining({ name: 'REDIS_CA_FILE', expected: 'text; the file cannot be read (ENOENT)' }),
        ],
        message: expect.not.stringMatching(/hunter2|half/),
      }),
    );
  });

  test('wrong settings of Redis are named by authctl with exit code 78, without the password', async () => {
    const { exitCode, stderr } = await authctl(['commands', 'list'], { env: wrong });
    expect([exitCode, stderr]).toEqual([78, expect.stringContaining('a host is malformed')]);
    expect(stderr).not.toMatch(/hunter2|half/);
  });
});
