import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type RegisteredEvent, registeredTopic } from '@auth-account/contracts';
import {
  type ConsumerReport,
  consumedJobOptions,
  type EventConsumer,
  eventJobId,
  openEventQueue,
  subscriberQueueName,
} from '@auth-account/messaging';
import { openMongoInbox } from '@auth-account/messaging/mongo-inbox';
import { redisKeys, workerOptions } from '@auth-account/redis';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { JobsOptions, Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { type Db, MongoClient } from 'mongodb';
import { type OwnProcess, startConsumerProcess } from '../../support/processes/service-process.ts';
import { serviceEnvironment } from '../../support/service-environment.ts';
import { uniqueName } from '../../support/test-environment.ts';
import { endJobLock } from '../../support/worker/end-job-lock.ts';
import { newEvent } from '../../support/worker/worker-events.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import {
  type ExampleConsumerOptions,
  type StartingConfiguration,
  startExampleConsumer,
} from '../../tools/demo/example-consumer.ts';

const name = uniqueName();
const env = serviceEnvironment(name);
const keys = redisKeys(name);
const mongo = new MongoClient(env.MONGODB_URI ?? '');
let db: Db;
let redis: Redis;
const queues: Queue[] = [];
const consumers: EventConsumer[] = [];

beforeAll(() => {
  db = mongo.db(name);
  redis = new Redis(env.REDIS_URL ?? '', workerOptions());
});

afterEach(async () => {
  await Promise.all(consumers.splice(0).map((consumer) => consumer.close()));
});

afterAll(async () => {
  for (const queue of queues) await queue.close();
  redis.disconnect();
  await db.dropDatabase();
  await mongo.close();
});

/** Creates a separate subscriber, and adds jobs to its queue in the same way as the worker's fan-out. */
function newSubscriber(jobOptions: JobsOptions = {}) {
  const subscriber = `kitchen-${randomUUID().slice(0, 8)}`;
  const options = { ...consumedJobOptions, ...jobOptions };
  const queue = openEventQueue(subscriberQueueName(registeredTopic, subscriber), redis, keys, options);
  queues.push(queue);
  let deliveries = 0;
  return {
    subscriber,
    queue,
    /** Adds a new job for the event each time, as after a loss of Redis, or when an operator replays. */
    async deliver(event: RegisteredEvent): Promise<string> {
      deliveries += 1;
      const jobId = eventJobId(event.id, new Date(deliveries));
      await queue.add(event.type, event, { jobId });
      return jobId;
    },
  };
}

/** Starts a consumer in this process, and records its errors and its log. */
async function startConsumer(subscriber: string, around: ExampleConsumerOptions['around'] = {}) {
  const reports: ConsumerReport[] = [];
  const said: string[] = [];
  const onReport = (report: ConsumerReport) => void reports.push(report);
  const say = (line: string) => void said.push(line);
  consumers.push(await startExampleConsumer({ mongo, db, redis, keys, subscriber, say, onReport, around }));
  const outcomes = () => reports.map(({ outcome }) => outcome);
  return { reports, said, outcomes };
}

async function preparedOf(event: RegisteredEvent): Promise<number> {
  const configurations = db.collection<StartingConfiguration>('starting_configurations');
  return (await configurations.findOne({ _id: event.data.home_group_id }))?.prepared ?? 0;
}

test('an event that is delivered again is acknowledged without effect', async () => {
  const { subscriber, queue, deliver } = newSubscriber();
  const { said, outcomes, reports } = await startConsumer(subscriber);
  const event = newEvent();
  await deliver(event);
  await eventually('the effect', () => outcomes().length === 1);
  await deliver(event);
  await eventually('the duplicate', () => outcomes().length === 2);
  expect(outcomes()).toEqual(['processed', 'duplicate']);
  expect(reports[1]).toMatchObject({ eventId: event.id, requestId: event.requestid, subscriber, attempt: 1 });
  await eventually('both jobs have completed', async () => (await queue.getCompletedCount()) === 2);
  expect(said).toEqual([`prepared the starting configuration of group ${event.data.home_group_id}`]);
  expect(await preparedOf(event)).toBe(1);
});

// guarantees: event-id
test('two consumers that get the same events at once have each effect once between them', async () => {
  const { subscriber, deliver } = newSubscriber();
  const both = await Promise.all([startConsumer(subscriber), startConsumer(subscriber)]);
  const events = Array.from({ length: 10 }, newEvent);
  const twice = [...events, ...events];
  await Promise.all(twice.map(deliver));
  const outcomes = () => both.flatMap((consumer) => consumer.outcomes());
  await eventually('all deliveries', () => outcomes().length >= twice.length);
  // A consumer that stalls may get a job again, which is one more duplicate.
  expect(new Set(outcomes())).toEqual(new Set(['duplicate', 'processed']));
  expect(outcomes().filter((outcome) => outcome === 'processed')).toHaveLength(events.length);
  expect(await Promise.all(events.map(preparedOf))).toEqual(events.map(() => 1));
  expect(both.flatMap(({ said }) => said)).toHaveLength(events.length);
});

test('an event that one subscriber has handled is handled by another one too, with the same inbox', async () => {
  const event = newEvent();
  for (const { subscriber, deliver } of [newSubscriber(), newSubscriber()]) {
    const { outcomes } = await startConsumer(subscriber);
    await deliver(event);
    await eventually('the effect', () => outcomes().length === 1);
    expect(outcomes()).toEqual(['processed']);
  }
  expect(await preparedOf(event)).toBe(2);
});

test('a handler that throws leaves nothing of its effect, and is retried until it succeeds', async () => {
  const { subscriber, deliver } = newSubscriber({ backoff: { type: 'fixed', delay: 10 } });
  const seen: number[] = [];
  const event = newEvent();
  const { reports, outcomes } = await startConsumer(subscriber, {
    async afterEffect() {
      seen.push(await preparedOf(event));
      if (seen.length < 3) throw new Error('the pantry is locked');
    },
  });
  await deliver(event);
  await eventually('it succeeds', () => outcomes().includes('processed'));
  expect(outcomes()).toEqual(['failed', 'failed', 'processed']);
  expect(reports.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  expect(reports[0]?.error).toMatchObject({ message: 'the pantry is locked' });
  expect(seen).toEqual([0, 0, 0]);
  expect(await preparedOf(event)).toBe(1);
});

test('an event whose last attempt fails is given up and stays among the failed jobs, for a replay', async () => {
  const { subscriber, queue, deliver } = newSubscriber({ attempts: 2, backoff: { type: 'fixed', delay: 10 } });
  let isBroken = true;
  const { outcomes } = await startConsumer(subscriber, {
    async afterEffect() {
      if (isBroken) throw new Error('the pantry is locked');
    },
  });
  const event = newEvent();
  const jobId = await deliver(event);
  await eventually('it is given up', async () => (await queue.getFailedCount()) === 1);
  expect(outcomes()).toEqual(['failed', 'given_up']);
  expect(await preparedOf(event)).toBe(0);
  isBroken = false;
  await (await queue.getJob(jobId))?.retry('failed');
  await eventually('the replay', () => outcomes().includes('processed'));
  expect(await preparedOf(event)).toBe(1);
});

test('a malformed event fails for good at once, is reported without its content, and delays no other', async () => {
  const { subscriber, queue, deliver } = newSubscriber();
  const { reports, outcomes } = await startConsumer(subscriber);
  const good = newEvent();
  const secret = 'cook@example.com';
  const poison = [
    { ...newEvent(), data: { ...newEvent().data, user_id: secret } },
    { ...newEvent(), type: `service.${secret}` },
    { ...newEvent(), requestid: undefined },
    secret,
  ] as unknown as RegisteredEvent[];
  for (const [index, event] of poison.entries()) await queue.add('poison', event, { jobId: `poison-${index}` });
  await deliver(good);
  await eventually('all have an outcome', () => outcomes().length === poison.length + 1);
  await eventually('the poison has failed', async () => (await queue.getFailedCount()) === poison.length);
  expect(outcomes().sort()).toEqual([...poison.map(() => 'malformed'), 'processed']);
  const malformed = reports.filter(({ outcome }) => outcome === 'malformed');
  expect(malformed.map(({ error }) => (error as Error).message).join('\n')).toMatch(/\/data\/user_id .*uuid/);
  expect(malformed.map(({ error }) => String(error)).join('\n')).not.toContain(secret);
  expect(malformed.map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1]);
});

test('a consumer’s close waits for the handler that is under way', async () => {
  const { subscriber, queue, deliver } = newSubscriber();
  const release = Promise.withResolvers<void>();
  let isUnderWay = false;
  const { outcomes } = await startConsumer(subscriber, {
    async afterEffect() {
      isUnderWay = true;
      await release.promise;
    },
  });
  await deliver(newEvent());
  await eventually('it is under way', () => isUnderWay);
  const closed = consumers.pop()?.close();
  release.resolve();
  await closed;
  expect(outcomes()).toEqual(['processed']);
  expect(await queue.getCompletedCount()).toBe(1);
});

test('a consumer’s close aborts a handler when its patience ends, and the next consumer gets the event', async () => {
  const { subscriber, deliver } = newSubscriber({ backoff: { type: 'fixed', delay: 10 } });
  let isUnderWay = false;
  const first = await startConsumer(subscriber, {
    async afterEffect(signal) {
      isUnderWay = true;
      await once(signal, 'abort');
      signal.throwIfAborted();
    },
  });
  const event = newEvent();
  await deliver(event);
  await eventually('it is under way', () => isUnderWay);
  await consumers.pop()?.close(50);
  expect(first.outcomes()).toEqual(['failed']);
  expect(await preparedOf(event)).toBe(0);
  const second = await startConsumer(subscriber);
  await eventually('the effect', () => second.outcomes().length === 1);
  expect(await preparedOf(event)).toBe(1);
});

/** Ends the transactions that clients of this name have left open, as MongoDB does a minute after they have left. */
async function endTransactionsOf(appName: string): Promise<number> {
  const admin = mongo.db('admin');
  const open = { appName, transaction: { $exists: true } };
  const left = await admin
    .aggregate([{ $currentOp: { allUsers: true, idleSessions: true } }, { $match: open }])
    .toArray();
  // An empty list means every session of the server, which other tests use too.
  if (left.length > 0) await admin.command({ killSessions: left.map(({ lsid }) => ({ id: lsid.id })) });
  return left.length;
}

// guarantees: event-id
test('a consumer killed before its commit, and one killed before its acknowledgement, repeat no effect', async () => {
  const points = ['commit', 'acknowledgement'] as const;
  const cases = points.map((point) => ({ point, event: newEvent(), ...newSubscriber() }));
  const killed: OwnProcess[] = [];
  const jobs: { queueKey: string; jobId: string }[] = [];
  try {
    for (const { point, subscriber, event, queue, deliver } of cases) {
      const consumer = startConsumerProcess(env, subscriber, point);
      killed.push(consumer);
      jobs.push({ queueKey: `${keys.queuePrefix}:${queue.name}`, jobId: await deliver(event) });
    }
    for (const [index, consumer] of killed.entries()) {
      await eventually('it hangs', () => consumer.output().includes(`hangs before ${points[index]}`));
    }
  } finally {
    await Promise.all(killed.map((consumer) => consumer.end('SIGKILL')));
  }
  expect(await Promise.all(cases.map(({ event }) => preparedOf(event)))).toEqual([0, 1]);
  expect(await Promise.all(cases.map(({ subscriber }) => endTransactionsOf(subscriber)))).toEqual([1, 0]);
  for (const { queueKey, jobId } of jobs) await endJobLock(redis, queueKey, jobId);
  const next = await Promise.all(cases.map(({ subscriber }) => startConsumer(subscriber)));
  await eventually('the events are delivered again', () => next.every(({ outcomes }) => outcomes().length > 0));
  expect(next.map(({ outcomes }) => outcomes())).toEqual([['processed'], ['duplicate']]);
  expect(await Promise.all(cases.map(({ event }) => preparedOf(event)))).toEqual([1, 1]);
});

test('the inbox forgets its entries after the retention, and adopts a changed retention', async () => {
  const collection = db.collection<{ readonly _id: string; readonly processed_at: Date }>('inbox_of_a_test');
  const expiry = async () => (await collection.indexes()).map(({ expireAfterSeconds }) => expireAfterSeconds);
  await openMongoInbox({ client: mongo, collection });
  expect(await expiry()).toContain(90 * 24 * 60 * 60);
  await openMongoInbox({ client: mongo, collection, retentionSeconds: 600 });
  expect(await expiry()).toContain(600);
});
