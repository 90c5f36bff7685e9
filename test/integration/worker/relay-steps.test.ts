import { randomUUID } from 'node:crypto';
import { registeredTopic } from '@auth-account/contracts';
import { accountChannel, type EventChannel } from '@auth-account/contracts/events';
import { type EventQueue, openEventQueue, subscriberQueueName } from '@auth-account/messaging';
import { type RedisKeys, redisKeys } from '@auth-account/redis';
import { type Collections, collectionsOf, type DeadLetterStore, type OutboxStore } from '@auth-account/stores';
import type { OutboxDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { UnrecoverableError, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { createDeadLetterFailedJob } from '../../../services/worker/src/delivery/dead-letter-failed-job.ts';
import { createFanOut } from '../../../services/worker/src/delivery/fan-out.ts';
import type { OpenQueues } from '../../../services/worker/src/delivery/queue-capacity.ts';
import type { SubscriberQueue } from '../../../services/worker/src/delivery/subscriber-queues.ts';
import { createSuspension } from '../../../services/worker/src/delivery/suspension.ts';
import { createEnqueue, findJobStates } from '../../../services/worker/src/relay/enqueue.ts';
import { createRelay, type RelayDeps } from '../../../services/worker/src/relay/relay.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';
import { dueRow, newCodeRequest, newDeletedEvent, newEvent } from '../../support/worker/worker-events.ts';

const names = ['analytics', 'billing'];
const opened = (...some: string[]) => ({ forAll: new Set(some), forUrgent: new Set(some) });
const all = opened(...names);
const accountQueueOf = (name: string) => subscriberQueueName(accountChannel, name);

let mongo: MongoClient;
let redis: Redis;
let keys: RedisKeys;
let collections: Collections;
let outbox: OutboxStore;
let queues: Map<string, EventQueue>;
let deadLetters: DeadLetterStore;
let deadLetterFailedJob: ReturnType<typeof createDeadLetterFailedJob>;

beforeAll(async () => {
  mongo = new MongoClient(testEnvironment().mongodbUri);
  redis = new Redis(testEnvironment().redisUrl, { maxRetriesPerRequest: null });
  const db = mongo.db(uniqueName());
  collections = collectionsOf(db);
  ({ outbox, deadLetters } = storesOf(collections));
  deadLetterFailedJob = createDeadLetterFailedJob({ deadLetters, subscribers: names });
});
beforeEach(async () => {
  for (const queue of queues?.values() ?? []) await queue.close();
  keys = redisKeys(uniqueName());
  queues = new Map([...names, ...names.map(accountQueueOf)].map((name) => [name, openEventQueue(name, redis, keys)]));
  await Promise.all([
    collections.outbox.deleteMany(),
    collections.deadLetters.deleteMany(),
    collections.subscribers.deleteMany(),
  ]);
});
afterAll(async () => {
  for (const queue of queues.values()) await queue.close();
  redis.disconnect();
  await mongo.db(collections.users.dbName).dropDatabase();
  await mongo.close();
});

async function stored(fields: Partial<OutboxDocument> = {}): Promise<OutboxDocument> {
  const row = dueRow(fields);
  await collections.outbox.insertOne(row);
  return row;
}

const row = (_id: string) => collections.outbox.findOne({ _id });
/**
 * Returns the queues of registrations, which are named like their subscribers. With `withAccount`, also returns the
 * queues of account events.
 */
function targets(withAccount = false): SubscriberQueue[] {
  const ofChannel = (channel: EventChannel, nameOf: (subscriber: string) => string) =>
    names.map((subscriber) => ({ subscriber, channel, queue: queueOf(nameOf(subscriber)) }));
  const registered = ofChannel(registeredTopic, (subscriber) => subscriber);
  return withAccount ? [...registered, ...ofChannel(accountChannel, accountQueueOf)] : registered;
}

const queueOf = (name: string) => queues.get(name) as EventQueue;
const waiting = async (name: string) => (await redis.lrange(queueOf(name).toKey('wait'), 0, -1)).reverse();

/** Ends the job as a subscriber would. */
async function end(name: string, jobId: string, how: 'completed' | 'failed', reason = 'no such thing'): Promise<void> {
  const work = new Worker(name, null, { connection: redis, prefix: keys.queuePrefix, autorun: false });
  await work.waitUntilReady();
  for (;;) {
    const job = await work.getNextJob('token', { block: false });
    if (job === undefined) throw new Error(`there is no job ${jobId}`);
    if (job.id !== jobId) continue;
    if (how === 'completed') await job.moveToCompleted(undefined, 'token', false);
    else await job.moveToFailed(new UnrecoverableError(reason), 'token', false);
    break;
  }
  await work.close();
}

describe('the states of jobs', () => {
  test('the states of jobs are found in their order', async () => {
    const ids = ['done', 'lost', 'waits'];
    for (const jobId of ids) await queueOf('billing').add('event', newEvent(), { jobId });
    await end('billing', 'done', 'completed');
    await end('billing', 'lost', 'failed');
    const states = await findJobStates(queueOf('billing'), ['waits', 'none', 'lost', 'done']);
    expect(states).toEqual(['unfinished', 'missing', 'failed', 'completed']);
    expect(await findJobStates(queueOf('billing'), [])).toEqual([]);
  });

  test('the states of jobs are not guessed if Redis answers something odd', async () => {
    await redis.set(queueOf('billing').toKey('odd'), 'no hash');
    await expect(findJobStates(queueOf('billing'), ['odd'])).rejects.toThrow('WRONGTYPE');
  });
});

describe('rows that are enqueued to a subscriber', () => {
  const enqueue = (rows: readonly OutboxDocument[], isOpen = true) =>
    createEnqueue({ deadLetterFailedJob, now: () => new Date() })(rows, {
      subscriber: 'billing',
      queue: queueOf('billing'),
      hasCapacityFor: () => isOpen,
    });

  test('rows go on the subscriber’s queue, each once, under the event’s id or that of its replay', async () => {
    const at = new Date(1_763_712_000_000);
    const [first, again] = [await stored(), await stored({ replays: { billing: at } })];
    for (let round = 0; round < 2; round += 1) {
      expect(await enqueue([first, again])).toStrictEqual({ had: [], expired: [], heldBack: [] });
    }
    const ids = [first._id, `${again._id}.1763712000000`];
    expect(await waiting('billing')).toEqual(ids);
    const jobs = await Promise.all(ids.map((id) => queueOf('billing').getJob(id)));
    expect(jobs.map((job) => [job?.name, job?.data])).toEqual([
      [first.event.type, first.event],
      [again.event.type, again.event],
    ]);
  });

  test('only the rows that wait for the subscriber are enqueued', async () => {
    const at = new Date();
    const rows = [
      await stored({ deliveries: { billing: at } }),
      await stored({ dead: { billing: at } }),
      await stored({ discarded: { billing: at } }),
    ];
    const other = await stored({
      deliveries: { analytics: at },
      dead: { analytics: at },
      discarded: { analytics: at },
    });
    expect(await enqueue([...rows, other])).toEqual({ had: [], expired: [], heldBack: [] });
    expect(await waiting('billing')).toEqual([other._id]);
  });

  test('rows are held back if the queue has no capacity, unless they are on it already', async () => {
    const [there, other] = [await stored(), await stored()];
    await enqueue([there]);
    expect(await enqueue([there, other], false)).toEqual({ had: [], expired: [], heldBack: [other] });
    expect(await waiting('billing')).toEqual([there._id]);
  });

  test('rows with completed jobs are known to be on the queue, also without capacity', async () => {
    const done = await stored();
    await enqueue([done]);
    await end('billing', done._id, 'completed');
    expect(await enqueue([done])).toEqual({ had: [done], expired: [], heldBack: [] });
    expect(await enqueue([done], false)).toEqual({ had: [done], expired: [], heldBack: [] });
    expect(await waiting('billing')).toEqual([]);
  });

  test('rows whose jobs have failed for good become dead letters', async () => {
    const [lost, fine] = [await stored(), await stored()];
    await enqueue([lost, fine]);
    await end('billing', lost._id, 'failed', 'x'.repeat(600));
    expect(await enqueue([lost, fine])).toEqual({ had: [], expired: [], heldBack: [] });
    const [letter, ...others] = await deadLetters.list({ limit: 10 });
    const job = await queueOf('billing').getJob(lost._id);
    expect(others).toEqual([]);
    expect(letter).toMatchObject({
      event_id: lost._id,
      subscriber: 'billing',
      event: lost.event,
      attempts: 1,
      last_error: 'x'.repeat(500),
      last_attempt_at: new Date(job?.finishedOn ?? 0),
      first_attempt_at: new Date(job?.timestamp ?? 0),
      attempt_log: [{ subscriber: 'billing', outcome: 'given_up', error: 'x'.repeat(500) }],
    });
    expect(await row(lost._id)).toMatchObject({ state: 'pending', dead: { billing: new Date(job?.finishedOn ?? 0) } });
  });
});

describe('a dead letter', () => {
  test('a dead letter is made of a failed job only', async () => {
    const { event } = await stored();
    await queueOf('billing').add('event', event, { jobId: event.id });
    await deadLetterFailedJob('billing', queueOf('billing'), event.id);
    await deadLetterFailedJob('billing', queueOf('billing'), 'none');
    await end('billing', event.id, 'completed');
    await deadLetterFailedJob('billing', queueOf('billing'), event.id);
    expect(await deadLetters.list({ limit: 10 })).toEqual([]);
  });

  test('a dead letter is made for the replay that the job belongs to', async () => {
    const at = new Date(1_763_712_000_000);
    const { event } = await stored({ replays: { billing: at } });
    for (const jobId of [event.id, `${event.id}.${at.getTime()}`]) {
      await queueOf('billing').add('event', event, { jobId });
      await end('billing', jobId, 'failed');
      await deadLetterFailedJob('billing', queueOf('billing'), jobId);
      expect(await deadLetters.list({ limit: 10 })).toHaveLength(jobId === event.id ? 0 : 1);
    }
  });
});

describe('a round of the relay', () => {
  let leases: string[];
  let claimed: number[];
  let expired: string[];
  const relay = (deps: Partial<RelayDeps> = {}) => {
    leases = [];
    claimed = [];
    expired = [];
    const newLease = () => {
      leases.push(randomUUID());
      return leases.at(-1) ?? '';
    };
    const onClaimed = (rows: number) => claimed.push(rows);
    const capacity = { read: async () => all };
    const now = () => new Date();
    const parts = { outbox, subscribers: names, queues: targets(), capacity, redis, deadLetterFailedJob };
    const onExpired = (name: string) => void expired.push(name);
    return createRelay({ ...parts, batch: 2, now, newLease, onClaimed, onExpired, ...deps })();
  };
  const capacityFor = (...some: string[]): Partial<RelayDeps> => ({ capacity: { read: async () => opened(...some) } });

  test('a round of the relay hands on all that is due, batch by batch, each under a lease of its own', async () => {
    const rows = [await stored(), await stored(), await stored()];
    const later = await stored({ locked_until: new Date(Date.now() + 60_000) });
    await relay();
    for (const name of names) expect((await waiting(name)).sort()).toEqual(rows.map(({ _id }) => _id).sort());
    expect(claimed).toEqual([2, 1]);
    expect(new Set(leases).size).toBe(3);
    expect(await row(later._id)).toEqual(later);
    for (const { _id } of rows) expect(await row(_id)).toMatchObject({ state: 'pending', attempts: 1, deliveries: {} });
    await relay();
    expect(claimed).toEqual([]);
  });

  test('a round of the relay records who has an event by now', async () => {
    const [a, b] = [await stored(), await stored()];
    await relay();
    await end('billing', a._id, 'completed');
    await end('analytics', a._id, 'completed');
    await end('analytics', b._id, 'completed');
    await outbox.release(new Date());
    const at = new Date();
    await relay({ now: () => at });
    expect(await row(a._id)).toMatchObject({ state: 'delivered', deliveries: { billing: at, analytics: at } });
    expect(await row(b._id)).toMatchObject({ state: 'pending', deliveries: { analytics: at } });
    expect((await row(b._id))?.deliveries).not.toHaveProperty('billing');
  });

  test('a round of the relay settles a row for which nobody waits any more', async () => {
    const at = new Date(0);
    const { _id } = await stored({ deliveries: { analytics: at, billing: at } });
    const empty = await stored();
    await relay();
    expect(await row(_id)).toMatchObject({ state: 'delivered', deliveries: { analytics: at, billing: at } });
    await outbox.release(new Date());
    await relay({ ...capacityFor(), queues: [], subscribers: [] });
    expect(await row(empty._id)).toMatchObject({ state: 'delivered' });
    expect((await row(empty._id))?.deliveries).toEqual({});
  });

  test('a round of the relay holds an event that finds no capacity, wholly if nobody else waits, until there is some', async () => {
    const [shared, alone] = [await stored(), await stored({ deliveries: { analytics: new Date(0) } })];
    await relay(capacityFor('analytics'));
    const far = new Date(8_640_000_000_000_000);
    expect(await waiting('analytics')).toEqual([shared._id]);
    expect(await row(shared._id)).toMatchObject({ state: 'pending', held: { for: ['billing'] } });
    expect((await row(shared._id))?.locked_until).not.toEqual(far);
    expect(await row(alone._id)).toMatchObject({ state: 'pending', held: { for: ['billing'] }, locked_until: far });

    await end('analytics', shared._id, 'completed');
    await outbox.release(new Date());
    await relay(capacityFor('analytics'));
    expect(await row(shared._id)).toMatchObject({ held: { for: ['billing'] }, locked_until: far });
    expect((await row(shared._id))?.deliveries).toHaveProperty('analytics');

    const newest = await stored();
    await relay();
    expect((await waiting('billing')).sort()).toEqual([alone._id, newest._id, shared._id].sort());
    expect((await row(alone._id))?.held).toBeUndefined();
  });

  test('a round of the relay looks at held rows until it finds none, and at due ones until there are none', async () => {
    const held = { for: ['billing'], until: new Date(Date.now() + 60_000) };
    const far = new Date(8_640_000_000_000_000);
    for (let i = 0; i < 3; i += 1) await stored({ held, locked_until: far });
    for (let i = 0; i < 5; i += 1) await stored();
    const looks = { due: 0, urgent: 0, held: 0 };
    const counting: OutboxStore = {
      ...outbox,
      claim: (claim) => {
        if (claim.topic === undefined) looks.due += 1;
        else looks.urgent += 1;
        return outbox.claim(claim);
      },
      claimHeld: (claim) => {
        looks.held += 1;
        return outbox.claimHeld(claim);
      },
    };
    await relay({ outbox: counting });
    expect(await waiting('billing')).toHaveLength(8);
    expect(claimed).toEqual([4, 3, 1]);
    expect(looks).toEqual({ due: 4, urgent: 3, held: 3 });
  });

  test('a round of the relay leases nothing while all queues are full, or while Redis is away', async () => {
    const before = await stored();
    await relay(capacityFor());
    await expect(relay({ capacity: { read: () => Promise.reject(new Error('Redis is away')) } })).rejects.toThrow(
      'away',
    );
    expect(await row(before._id)).toEqual(before);
    expect(leases).toEqual([]);
  });

  test('a round of the relay that meets an error finishes the rest, records it in the rows, and fails with it', async () => {
    const { _id } = await stored();
    await redis.set(queueOf('billing').toKey(_id), 'no hash');
    await expect(relay()).rejects.toThrow('WRONGTYPE');
    expect(await waiting('analytics')).toEqual([_id]);
    expect(await row(_id)).toMatchObject({ last_error: expect.stringMatching(/^relay: WRONGTYPE/), attempts: 1 });
    expect(claimed).toEqual([1]);
  });

  test('a round of the relay puts each event on the queues of its channel, and holds it for these only', async () => {
    const [registered, deleted] = [await stored(), await stored({ event: newDeletedEvent() })];
    const full = accountQueueOf('billing');
    await relay({ queues: targets(true), ...capacityFor(...names, accountQueueOf('analytics')) });
    expect(await Promise.all(names.map(waiting))).toEqual([[registered._id], [registered._id]]);
    expect(await waiting(accountQueueOf('analytics'))).toEqual([deleted._id]);
    expect(await waiting(full)).toEqual([]);
    expect((await row(registered._id))?.held).toBeUndefined();
    expect(await row(deleted._id)).toMatchObject({ held: { for: [full] } });
    await relay({ queues: targets(true), ...capacityFor(...names) });
    expect(claimed).toEqual([]);
    await relay({ queues: targets(true), ...capacityFor(full) });
    expect(await waiting(full)).toEqual([deleted._id]);
  });

  // guarantees: code-mailed-while-valid
  test('a round of the relay drops an expired request for a code, counts that, and leaves no dead letter', async () => {
    const [late, good] = [newCodeRequest(new Date(Date.now() - 1)), newCodeRequest()];
    for (const event of [late, good]) await stored({ event });
    const both = names.map(accountQueueOf);
    await relay({ queues: targets(true), ...capacityFor(...both) });
    for (const name of both) expect(await waiting(name)).toEqual([good.id]);
    expect(expired).toEqual(names);
    expect(await row(late.id)).toMatchObject({
      state: 'delivered',
      deliveries: {},
      discarded: { analytics: expect.any(Date), billing: expect.any(Date) },
    });
    expect(await row(good.id)).toMatchObject({ state: 'pending' });
    expect((await row(good.id))?.discarded).toBeUndefined();
    expect(await deadLetters.list({ limit: 1 })).toEqual([]);
  });

  // guarantees: code-overtakes-events
  test('a round of the relay puts a request for a code before thousands of older rows, at the head of its queues', async () => {
    await collections.outbox.insertMany(Array.from({ length: 20_000 }, () => dueRow()));
    await collections.outbox.insertMany(Array.from({ length: 200 }, () => dueRow({ event: newDeletedEvent() })));
    const both = names.map(accountQueueOf);
    const waitingFirst = await Promise.all(both.map((name) => queueOf(name).add('event', newDeletedEvent())));
    const { _id } = await stored({ event: newCodeRequest(), locked_until: new Date() });
    let rounds = 0;
    const read = async () => (rounds++ === 0 ? opened(...names, ...both) : opened());
    await relay({ queues: targets(true), batch: 100, capacity: { read } });
    expect(claimed).toEqual([101]);
    for (const [index, name] of both.entries()) {
      const ids = await waiting(name);
      expect([ids[0], ids.includes(waitingFirst[index]?.id ?? '')]).toEqual([_id, true]);
    }
  });

  // guarantees: code-overtakes-events
  test('a round of the relay puts a request for a code on a queue that is full for other events', async () => {
    const [code, other] = [await stored({ event: newCodeRequest() }), await stored({ event: newDeletedEvent() })];
    const both = names.map(accountQueueOf);
    const [first, second] = both;
    const read = async () => ({ forAll: new Set<string>(), forUrgent: new Set(first === undefined ? [] : [first]) });
    await relay({ queues: targets(true), capacity: { read } });
    expect(await Promise.all(both.map(waiting))).toEqual([[code._id], []]);
    expect(await row(other._id)).toEqual(other);
    expect((await row(code._id))?.held).toBeUndefined();
    await outbox.release(new Date());
    await relay({ queues: targets(true), ...capacityFor(second ?? '') });
    expect(await Promise.all(both.map(waiting))).toEqual([[code._id], [code._id, other._id]]);
  });

  test('a round of the relay leaves an expired request that is in a queue to its consumer', async () => {
    const event = newCodeRequest(new Date(Date.now() - 1));
    await stored({ event, discarded: { analytics: new Date(0) } });
    await queueOf(accountQueueOf('billing')).add('event', event, { jobId: event.id });
    await relay({ queues: targets(true), ...capacityFor(...names.map(accountQueueOf)) });
    expect(expired).toEqual([]);
    expect(await row(event.id)).toMatchObject({ state: 'pending' });
  });

  test('a round of the relay waits for no subscriber that does not take the topic', async () => {
    const event = newDeletedEvent();
    await stored({ event });
    const subscribers = [{ name: 'analytics', topics: ['service.auth.events.notice'] }];
    await relay({ subscribers, queues: [] });
    expect(await row(event.id)).toMatchObject({ state: 'delivered', deliveries: {} });
  });

  test('a round of the relay also records an error that is not an Error', async () => {
    const { _id } = await stored();
    const odd = { ...outbox, markDelivered: () => Promise.reject('odd') };
    await expect(relay({ outbox: odd })).rejects.toBe('odd');
    expect(await row(_id)).toMatchObject({ last_error: 'relay: odd' });
  });
});

describe('the fan-out of an event', () => {
  const fanOut = async (event: OutboxDocument['event'], deps: { opened?: OpenQueues; to?: SubscriberQueue[] } = {}) => {
    const capacity = { recent: async () => deps.opened ?? all };
    await createFanOut({ queues: deps.to ?? targets(true), capacity, outbox, now: () => new Date(7) })({ data: event });
  };

  test('a fan-out puts an event on every queue that has capacity, once', async () => {
    const { event } = await stored();
    await fanOut(event, { opened: opened('analytics') });
    expect([await waiting('analytics'), await waiting('billing')]).toEqual([[event.id], []]);
    await fanOut(event);
    expect([await waiting('analytics'), await waiting('billing')]).toEqual([[event.id], [event.id]]);
    expect(await row(event.id)).toMatchObject({ state: 'pending' });
    expect((await queueOf('billing').getJob(event.id))?.data).toEqual(event);
  });

  test('a fan-out puts an event on the queues of its channel', async () => {
    const event = newDeletedEvent();
    await stored({ event });
    await fanOut(event, { opened: opened(...names.map(accountQueueOf)) });
    for (const name of names) {
      expect([await waiting(name), await waiting(accountQueueOf(name))]).toEqual([[], [event.id]]);
    }
  });

  test('a fan-out puts a request for a code before all other events, and on a queue that is full for them', async () => {
    const queue = accountQueueOf('billing');
    const [first, code, other] = [newDeletedEvent(), newCodeRequest(), newDeletedEvent()];
    await fanOut(first, { opened: opened(queue) });
    for (const event of [code, other]) {
      await fanOut(event, { opened: { forAll: new Set(), forUrgent: new Set([queue]) } });
    }
    expect(await waiting(queue)).toEqual([code.id, first.id]);
  });

  test('a fan-out without a subscriber counts as the event’s delivery', async () => {
    const { event } = await stored();
    await fanOut(event, { to: [] });
    expect(await row(event.id)).toMatchObject({ state: 'delivered', delivered_at: new Date(7) });
    expect((await row(event.id))?.deliveries).toEqual({});
  });
});

describe('paused webhooks', () => {
  let states: [string, boolean][];
  let orders: [string, number][];
  const open = () => {
    states = [];
    orders = [];
    const onState = (name: string, isSuspended: boolean) => void states.push([name, isSuspended]);
    const store = storesOf(collections).subscribers;
    const onRetry = (...order: [string, number]) => void orders.push(order);
    return {
      store,
      suspension: createSuspension({ store, onState, onRetry, webhooks: names, now: () => new Date(7) }),
    };
  };

  test('each read reports whether each webhook is paused', async () => {
    const { store, suspension } = open();
    await suspension.refresh();
    await store.suspend('billing', { at: new Date(5), eventId: 'e' });
    await store.suspend('other', { at: new Date(5), eventId: 'e' });
    await suspension.refresh();
    await store.resume('billing', new Date(9));
    expect(suspension.resumedAt('billing')).toBe(0);
    await suspension.refresh();
    expect(states).toEqual([
      ['analytics', false],
      ['billing', false],
      ['analytics', false],
      ['billing', true],
      ['analytics', false],
      ['billing', false],
    ]);
    expect([suspension.resumedAt('billing'), suspension.resumedAt('analytics'), suspension.resumedAt('x')]).toEqual([
      9, 0, 0,
    ]);
  });

  test('each read reports an operator’s latest order to try a subscriber’s events', async () => {
    const { store, suspension } = open();
    await store.suspend('billing', { at: new Date(5), eventId: 'e' });
    await suspension.refresh();
    expect(orders).toEqual([]);
    await store.resume('billing', new Date(9));
    await suspension.refresh();
    await store.retry('billing', new Date(11));
    await suspension.refresh();
    expect(orders).toEqual([
      ['billing', 9],
      ['billing', 11],
    ]);
  });

  test('a pause stops a webhook at once, and notifies the other workers of the event', async () => {
    const { suspension } = open();
    await suspension.suspend('billing', 'an-event');
    expect(states).toEqual([['billing', true]]);
    const known = await collections.subscribers.findOne({ _id: 'billing' });
    expect(known).toEqual({ _id: 'billing', parked_at: new Date(7), parked_by_event: 'an-event' });
  });
});
