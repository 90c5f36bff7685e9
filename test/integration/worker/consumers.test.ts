import { addEvent, type EventQueue, openEventQueue } from '@auth-account/messaging';
import { type RedisKeys, redisKeys } from '@auth-account/redis';
import { createLogger, createMetrics } from '@auth-account/telemetry';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { UnrecoverableError, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { DeliveryError } from '../../../services/worker/src/delivery/delivery-error.ts';
import {
  createJobConsumer,
  createOutcomeConsumer,
  type JobConsumerSettings,
} from '../../../services/worker/src/delivery/event-consumers.ts';
import { createWebhookConsumer } from '../../../services/worker/src/delivery/webhook-consumer.ts';
import { createWorkerMetrics } from '../../../services/worker/src/runtime/metrics.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';
import { newCodeRequest, newEvent } from '../../support/worker/worker-events.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { type Answer, startReceiver, status } from '../../support/worker/worker-receiver.ts';

const queueName = 'billing';

let redis: Redis;
let keys: RedisKeys;
let queue: EventQueue;
let errors: unknown[];
let endings: (() => Promise<unknown>)[];
beforeEach(() => {
  redis = new Redis(testEnvironment().redisUrl, { maxRetriesPerRequest: null });
  keys = redisKeys(uniqueName());
  queue = openEventQueue(queueName, redis, keys);
  errors = [];
  endings = [];
});
afterEach(async () => {
  for (const end of endings.reverse()) await end();
  await queue.close();
  redis.disconnect();
});

const options = () => ({
  queueName,
  connection: redis,
  keys,
  onError: (...error: unknown[]) => void errors.push(error),
});

async function add(...jobIds: string[]): Promise<void> {
  for (const jobId of jobIds) await queue.add('event', newEvent(), { jobId });
}

/** Returns the ids of the jobs that a consumer has put back into the queue, from the queue's events. */
async function givenBack(): Promise<unknown[]> {
  const events = await redis.xrange(queue.toKey('events'), '-', '+');
  return events
    .map(([, fields]) => Object.fromEntries(fields.flatMap((name, at) => (at % 2 ? [] : [[name, fields[at + 1]]]))))
    .flatMap(({ event, jobId, prev }) => (event === 'waiting' && prev === 'active' ? [jobId] : []));
}

/** Returns true if a consumer of this test waits at the queue. BullMQ names its connections by prefix and queue. */
async function isBlocked(): Promise<boolean> {
  const clients = String(await redis.client('LIST')).split('\n');
  return clients.some((line) => line.includes(keys.queuePrefix) && /flags=\w*b.* cmd=bzpopmin/.test(line));
}

const stateOf = async (jobId: string) => (await queue.getJob(jobId))?.getState();

describe('a consumer of jobs', () => {
  let done: string[];
  beforeEach(() => {
    done = [];
  });

  function consume(
    settings: Partial<JobConsumerSettings> = {},
    work: (id: string, stop?: AbortSignal) => Promise<void> = async () => undefined,
  ) {
    const consumer = createJobConsumer(
      options(),
      async (job, _token, stop) => {
        await work(job.id ?? '', stop);
        done.push(job.id ?? '');
      },
      { concurrency: 1, ...settings },
    );
    endings.push(() => consumer.close());
    return consumer;
  }

  // guarantees: codes-leave-room
  test('a consumer gives other jobs turns while requests for codes come faster than it handles them', async () => {
    const others = ['a', 'b', 'c'];
    await add(...others);
    let requests = 0;
    const request = async () => {
      if (requests++ < 100) await addEvent(queue, newCodeRequest());
    };
    await request();
    const consumer = consume({ concurrency: 1 }, async (id) => {
      if (others.includes(id)) return;
      await request();
      await request();
    });
    consumer.start();
    await eventually('all jobs', () => done.length === 103);
    expect(others.map((id) => done.indexOf(id) < 20)).toEqual([true, true, true]);
  });

  test('a consumer stores no Retry-After of a job that Redis has lost, because such a job could not be added again', async () => {
    await add('lost', 'next');
    const consumer = consume({}, async (id) => {
      if (id === 'next') return;
      await redis.del(queue.toKey(id));
      throw new DeliveryError('answered 503', { status: 503, retryAfterMs: 60_000 });
    });
    consumer.start();
    await eventually('the next job is done', () => done.includes('next'));
    expect(await redis.exists(queue.toKey('lost'))).toBe(0);
  });

  test('a consumer takes the waiting jobs once it has been started', async () => {
    await add('a', 'b');
    const consumer = consume();
    consumer.hold('reason', true);
    consumer.hold('reason', false);
    for (let look = 0; look < 20; look += 1) expect(await stateOf('a')).toBe('waiting');
    consumer.start();
    consumer.start();
    await eventually('both are done', async () => done.length === 2);
    expect(done).toEqual(['a', 'b']);
    await eventually('they are completed', async () => (await stateOf('b')) === 'completed');
    expect(errors).toEqual([]);
  });

  test('a consumer handles as many jobs at once as its concurrency allows', async () => {
    await add('a', 'b', 'c');
    const gate = Promise.withResolvers<void>();
    let max = 0;
    let now = 0;
    const consumer = consume({ concurrency: 2 }, async () => {
      now += 1;
      max = Math.max(max, now);
      if (now === 2) gate.resolve();
      await gate.promise;
      now -= 1;
    });
    consumer.start();
    await eventually('all are done', async () => done.length === 3);
    expect(max).toBe(2);
  });

  test('a consumer retries a failed job after the pause that its strategy gives', async () => {
    await add('a');
    const asked: unknown[] = [];
    const backoffStrategy = (attemptsMade: number) => asked.push(attemptsMade);
    let tries = 0;
    const work = async () => {
      tries += 1;
      if (tries < 3) throw new Error('not yet');
    };
    consume({ backoffStrategy }, work).start();
    await eventually('it is done', () => done.length === 1);
    expect(asked).toEqual([1, 2]);
  });

  test('a consumer that starts on hold takes nothing before every reason has gone', async () => {
    await add('a');
    const consumer = consume({ heldFor: ['one', 'two'] });
    consumer.start();
    consumer.hold('one', false);
    expect(await stateOf('a')).toBe('waiting');
    consumer.hold('two', false);
    await eventually('it is done', () => done.length === 1);
  });

  test('a consumer that is put on hold finishes its job, leaves the rest in the queue, and goes on afterwards', async () => {
    await add('a', 'b');
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const consumer = consume({}, async (id) => {
      if (id !== 'a') return;
      begun.resolve();
      await gate.promise;
    });
    consumer.start();
    await begun.promise;
    consumer.hold('reason', true);
    consumer.hold('reason', true);
    gate.resolve();
    await eventually('the first is done', async () => (await stateOf('a')) === 'completed');
    await add('c');
    for (let look = 0; look < 5; look += 1) expect(['waiting', 'active']).toContain(await stateOf('c'));
    expect(done).toEqual(['a']);
    consumer.hold('another', true);
    consumer.hold('reason', false);
    await eventually('the second waits', async () => (await stateOf('b')) === 'waiting');
    expect(done).toEqual(['a']);
    consumer.hold('another', false);
    await eventually('the rest is done', () => done.length === 3);
    expect(errors).toEqual([]);
  });

  test('a consumer that is put on hold gives back the job that it had already asked for', async () => {
    const consumer = consume();
    consumer.start();
    await add('a');
    await eventually('it waits for the next', async () => done.length === 1 && (await isBlocked()));
    consumer.hold('reason', true);
    await add('b');
    // The blocking command that already waited at the queue has taken the job.
    await eventually('it has been taken and given back', async () => (await givenBack()).includes('b'));
    expect([await stateOf('b'), done]).toEqual(['waiting', ['a']]);
    consumer.hold('reason', false);
    await eventually('it is done', () => done.length === 2);
    expect(errors).toEqual([]);
  });

  test('a consumer that stops ends its current job early, and leaves it to be retried', async () => {
    await add('a');
    const begun = Promise.withResolvers<void>();
    const reasons: unknown[] = [];
    const consumer = consume({ backoffStrategy: () => 60_000 }, async (_, stop) => {
      begun.resolve();
      await new Promise<void>((_resolve, reject) => {
        stop?.addEventListener('abort', () => {
          reasons.push(stop.reason);
          reject(new Error('stopped'));
        });
      });
    });
    consumer.start();
    await begun.promise;
    consumer.abort();
    await consumer.close();
    expect(reasons).toEqual(['the worker stops']);
    expect(await stateOf('a')).toBe('delayed');
    consumer.hold('reason', true);
    consumer.hold('reason', false);
    consumer.start();
    await add('b');
    for (let look = 0; look < 20; look += 1) expect(await stateOf('b')).toBe('waiting');
    expect(errors).toEqual([]);
  });

  test('a consumer reports errors with the queue’s name', async () => {
    await redis.set(queue.toKey('wait'), 'no list');
    const consumer = consume();
    consumer.start();
    await eventually('an error is reported', () => errors.length > 0);
    expect(errors[0]).toEqual([
      expect.objectContaining({ message: expect.stringContaining('WRONGTYPE') }),
      { queue: queueName },
    ]);
    await redis.del(queue.toKey('wait'));
  });
});

describe('a consumer of outcomes', () => {
  test('a consumer of outcomes reports what the subscriber has done with its jobs, even if a handler fails', async () => {
    const heard: string[] = [];
    const outcomes = createOutcomeConsumer(options(), {
      async onCompleted(jobId) {
        heard.push(`completed ${jobId}`);
        if (jobId === 'a') throw new Error('MongoDB is away');
      },
      async onFailed(jobId) {
        heard.push(`failed ${jobId}`);
        throw new Error('MongoDB is away, too');
      },
    });
    endings.push(() => outcomes.close());
    outcomes.start();
    const subscriber = new Worker(
      queueName,
      async ({ id }) => {
        if (id === 'b') throw new UnrecoverableError('no');
      },
      { connection: redis, prefix: keys.queuePrefix },
    );
    endings.push(() => subscriber.close());
    let probes = 0;
    // `QueueEvents` reports only what happens after it has begun to listen.
    await eventually('it listens', async () => {
      await add(`probe-${probes++}`);
      return heard.length > 0;
    });
    await add('a', 'b', 'c');
    await eventually('it has all outcomes', () => heard.includes('completed c'));
    expect(heard.filter((line) => !line.includes('probe')).sort()).toEqual(['completed a', 'completed c', 'failed b']);
    expect(errors).toEqual([
      [expect.objectContaining({ message: 'MongoDB is away' }), { queue: queueName }],
      [expect.objectContaining({ message: 'MongoDB is away, too' }), { queue: queueName }],
    ]);
    outcomes.abort();
    await outcomes.close();
    await add('d');
    await eventually('the next is done', async () => (await stateOf('d')) === 'completed');
    for (let look = 0; look < 20; look += 1) await stateOf('d');
    expect(heard).not.toContain('completed d');
  });

  test('a consumer of outcomes reports what fails while it listens', async () => {
    await redis.set(queue.toKey('events'), 'no stream');
    const outcomes = createOutcomeConsumer(options(), {
      onCompleted: async () => undefined,
      onFailed: async () => undefined,
    });
    endings.push(() => outcomes.close());
    outcomes.start();
    await eventually('an error is reported', () => errors.length > 0);
    expect(errors[0]).toEqual([
      expect.objectContaining({ message: expect.stringContaining('WRONGTYPE') }),
      { queue: queueName },
    ]);
    await redis.del(queue.toKey('events'));
  });
});

describe('a webhook’s consumer', () => {
  const recorded: string[] = [];

  async function open(answer?: Answer) {
    recorded.splice(0);
    const receiver = await startReceiver(queueName, answer);
    const consumer = createWebhookConsumer([options()], receiver.subscriber, {
      subscribers: [queueName],
      record: async (jobId, { outcome }) => void recorded.push(`${outcome} ${jobId}`),
      deadLetters: { add: async () => true },
      suspension: { suspend: async () => undefined, resumedAt: () => 0 },
      recovery: { onTaken: () => undefined },
      giveUpAfterMs: 60_000,
      timeoutMs: 60_000,
      connectTimeoutMs: 1_000,
      concurrency: 2,
      metrics: createWorkerMetrics(createMetrics({ service: 'worker' }), [queueName]),
      logger: createLogger({ service: 'worker', level: 'silent' }),
      now: () => new Date(),
    });
    endings.push(
      () => receiver.close(),
      () => consumer.close(),
    );
    consumer.start();
    return { receiver, consumer };
  }

  test('a webhook’s consumer takes nothing before its webhook is known not to be paused, nor while it is paused', async () => {
    await add('a');
    const { receiver, consumer } = await open();
    expect(await stateOf('a')).toBe('waiting');
    consumer.setSuspended(true);
    expect(await stateOf('a')).toBe('waiting');
    consumer.setSuspended(false);
    await eventually('it is delivered', async () => (await stateOf('a')) === 'completed');
    expect([receiver.received.length, recorded]).toEqual([1, ['delivered a']]);
    consumer.setSuspended(true);
    await add('b');
    expect(['waiting', 'active']).toContain(await stateOf('b'));
    expect(receiver.received).toHaveLength(1);
    consumer.setSuspended(false);
    await eventually('the next is delivered', () => recorded.includes('delivered b'));
  });

  test('a webhook’s consumer sends nothing for as long as a 429 asks for, counted from the last one', async () => {
    await add('a', 'b');
    let refusals = 0;
    let refused = 0;
    const { receiver, consumer } = await open((response, received) => {
      refusals += 1;
      const refuse = () => {
        refused = performance.now();
        status(429, { 'retry-after': String(refusals) })(response, received);
      };
      if (refusals > 2) status(204)(response, received);
      else if (refusals === 1) refuse();
      else void eventually('the first is recorded', () => recorded.length === 1).then(refuse);
    });
    consumer.setSuspended(false);
    await eventually('both are refused', () => recorded.length >= 2);
    await add('c');
    await eventually('the third is delivered', () => recorded.includes('delivered c'));
    // A timer may be early by a millisecond.
    expect(performance.now() - refused).toBeGreaterThan(1_998);
    await eventually('all are', () => recorded.filter((line) => line.startsWith('delivered')).length === 3);
    expect(receiver.received).toHaveLength(5);
  });

  test('a webhook’s consumer waits for nothing once it is closed', async () => {
    const [set, cleared] = [jest.spyOn(globalThis, 'setTimeout'), jest.spyOn(globalThis, 'clearTimeout')];
    await add('a');
    const { consumer } = await open(status(429, { 'retry-after': '60' }));
    consumer.setSuspended(false);
    await eventually('it is refused', () => recorded.length === 1);
    const throttle = set.mock.results[set.mock.calls.findIndex(([, ms]) => ms === 60_000)]?.value;
    expect(throttle).toBeDefined();
    await consumer.close();
    expect(cleared.mock.calls.some(([timer]) => timer === throttle)).toBe(true);
    consumer.hold('throttled', false);
    await add('b');
    for (let look = 0; look < 20; look += 1) expect(await stateOf('b')).toBe('waiting');
    jest.restoreAllMocks();
  });
});
