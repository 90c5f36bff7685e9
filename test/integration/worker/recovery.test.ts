import { registeredTopic } from '@auth-account/contracts';
import { type AuthEvent, accountChannel, eventChannels } from '@auth-account/contracts/events';
import { startMailSink } from '@auth-account/local-stack/mail-sink';
import { openEventQueue, reliableWorkerOptions, subscriberQueueName } from '@auth-account/messaging';
import { describe, expect, test } from '@jest/globals';
import { Worker } from 'bullmq';
import { createBringForward } from '../../../services/worker/src/delivery/bring-forward.ts';
import { newUserDocument } from '../../support/api/seed-accounts.ts';
import { type Closing, closingAll } from '../../support/closing.ts';
import { authctl, authctlJson } from '../../support/processes/authctl.ts';
import { newDeletedEvent, newEvent, newNotification } from '../../support/worker/worker-events.ts';
import { eventually, openWorkerFixture, type WorkerFixture } from '../../support/worker/worker-fixture.ts';
import { firstThen, startReceiver, status } from '../../support/worker/worker-receiver.ts';
import { startTestWorker } from '../../support/worker/worker-service.ts';

const hourMs = 3_600_000;
const scoreAt = (ms: number) => String(ms * 0x1000);

/**
 * Waits until so many events have failed, and lets them wait an hour for their next attempt, as after a long outage.
 */
async function letWait({ redis, keys }: WorkerFixture, subscriber: string, events: number): Promise<void> {
  const queues = eventChannels.map((channel) => openEventQueue(subscriberQueueName(channel, subscriber), redis, keys));
  await eventually('all wait', async () => {
    const delayed = (await Promise.all(queues.map((queue) => queue.getDelayed()))).flat();
    // A job that has begun again meanwhile is found in the next round.
    const soon = delayed.filter(({ delay }) => delay < hourMs / 2);
    await Promise.all(soon.map((job) => job.changeDelay(hourMs).catch(() => undefined)));
    return delayed.length === events && delayed.every(({ delay }) => delay >= hourMs / 2);
  });
  for (const queue of queues) await queue.close();
}

async function publishAndLetWait(
  fixture: WorkerFixture,
  subscriber: string,
  events: readonly AuthEvent[],
): Promise<void> {
  for (const event of events) await fixture.publish(event);
  await letWait(fixture, subscriber, events.length);
}

async function allDelivered(fixture: WorkerFixture, events: readonly AuthEvent[]): Promise<void> {
  for (const event of events) await eventually('it is delivered', () => fixture.isDelivered(event));
}

async function openWebhook(closing: Closing, answer = status(500)) {
  const receiver = closing(await startReceiver('crm', answer));
  const fixture = closing(await openWorkerFixture([receiver.subscriber]));
  const workers = [closing(await startTestWorker(fixture.env)), closing(await startTestWorker(fixture.env))];
  return { receiver, fixture, workers };
}

describe('events that wait for a subscriber', () => {
  // guarantees: events-after-outage
  test.concurrent(
    'events that wait for a webhook come as soon as it has taken one, by two workers, and none is lost',
    closingAll(async (closing) => {
      const { receiver, fixture, workers } = await openWebhook(closing);
      const waiting = [...Array.from({ length: 8 }, newEvent), newDeletedEvent(), newNotification()];
      await publishAndLetWait(fixture, 'crm', waiting);
      receiver.answerWith(status(204));
      const next = newEvent();
      await fixture.publish(next);
      await allDelivered(fixture, [next, ...waiting]);
      const counts = await Promise.all(workers.map(({ metric }) => metric('auth_events_brought_forward_total')));
      expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(waiting.length);
    }),
  );

  test.concurrent(
    'notifications that wait for a mail server go out as soon as it has taken a mail',
    closingAll(async (closing) => {
      let isAway = true;
      const sink = await startMailSink(() => undefined, {
        onMailFrom: (_address, _session, answer) => answer(isAway ? new Error('away') : undefined),
      });
      closing({ close: sink.stop });
      const url = `smtp://127.0.0.1:${sink.port}`;
      const mail = { name: 'mail', kind: 'smtp', url, from: 'no-reply@kitchen.example', starttls: false };
      const fixture = closing(await openWorkerFixture([mail]));
      closing(await startTestWorker(fixture.env));
      const user = newUserDocument(new Date());
      await fixture.collections.users.insertOne(user);
      const notifications = Array.from({ length: 4 }, () => newNotification({ user_id: user._id }));
      const [next = newNotification(), ...waiting] = notifications;
      await publishAndLetWait(fixture, 'mail', waiting);
      isAway = false;
      await fixture.publish(next);
      await allDelivered(fixture, notifications);
      expect(sink.mails().length).toBeGreaterThanOrEqual(notifications.length);
    }),
  );

  test.concurrent(
    'events that wait for a queue’s consumer come as soon as it has completed one',
    closingAll(async (closing) => {
      const fixture = closing(await openWorkerFixture([{ name: 'billing', kind: 'queue' }]));
      closing(await startTestWorker(fixture.env));
      let isAway = true;
      const consumer = new Worker(
        subscriberQueueName(registeredTopic, 'billing'),
        async () => {
          if (isAway) throw new Error('away');
        },
        {
          ...reliableWorkerOptions,
          connection: { url: fixture.env.REDIS_URL ?? '' },
          prefix: fixture.keys.queuePrefix,
        },
      );
      closing({ close: () => consumer.close() });
      const waiting = [newEvent(), newEvent(), newEvent()];
      await publishAndLetWait(fixture, 'billing', waiting);
      isAway = false;
      // The worker must listen to the queue before the event completes there.
      await eventually('one is completed and the rest comes', async () => {
        await fixture.publish(newEvent());
        const states = await Promise.all(waiting.map((event) => fixture.isDelivered(event)));
        return states.every(Boolean);
      });
    }),
  );

  test.concurrent(
    'an event does not come before the Retry-After of its webhook is over, although others are brought forward',
    closingAll(async (closing) => {
      const answer = firstThen(status(503, { 'retry-after': '3600' }), status(500));
      const { receiver, fixture } = await openWebhook(closing, answer);
      const [asked, other, next] = [newEvent(), newEvent(), newEvent()];
      await fixture.publish(asked);
      await eventually('it was answered', () => receiver.received.length === 1);
      await fixture.publish(other);
      await letWait(fixture, 'crm', 2);
      receiver.answerWith(status(204));
      await fixture.publish(next);
      await allDelivered(fixture, [next, other]);
      const queue = openEventQueue(subscriberQueueName(registeredTopic, 'crm'), fixture.redis, fixture.keys);
      closing({ close: () => queue.close() });
      const job = await queue.getJob(asked.id);
      expect([await job?.isDelayed(), job?.delay]).toEqual([true, hourMs]);
    }),
  );

  test.concurrent(
    'events that wait are tried at once if an operator orders it, although their webhook has taken nothing',
    closingAll(async (closing) => {
      const { receiver, fixture } = await openWebhook(closing);
      const waiting = [newEvent(), newEvent()];
      await publishAndLetWait(fixture, 'crm', waiting);
      const { MONGODB_URI = '', MONGODB_DATABASE = '' } = fixture.env;
      const options = { env: { MONGODB_URI, MONGODB_DATABASE } };

      const replay = await authctlJson(['events', 'replay', '--state', 'pending', '--yes'], options, 1);
      const reason = 'it waits for crm: authctl events retry crm';
      expect(replay).toMatchObject({ replayed: 0, skipped: 2 });
      const skips = waiting.map(({ id }) => ({ event_id: id, reason }));
      expect(replay.skips).toHaveLength(skips.length);
      expect(replay.skips).toEqual(expect.arrayContaining(skips));

      const before = receiver.received.length;
      expect(await authctlJson(['events', 'retry', 'crm'], options)).toEqual({ subscriber: 'crm', retried: true });
      const isTried = ({ id }: AuthEvent) => receiver.ids().slice(before).includes(id);
      await eventually('all are tried', () => waiting.every(isTried));

      await letWait(fixture, 'crm', waiting.length);
      expect(await authctl(['events', 'park', 'crm'], options)).toMatchObject({ exitCode: 0 });
      expect(await authctl(['events', 'retry', 'crm'], options)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('crm is suspended'),
      });
      receiver.answerWith(status(204));
      expect(await authctl(['events', 'resume', 'crm'], options)).toMatchObject({ exitCode: 0 });
      await allDelivered(fixture, waiting);
    }),
  );
});

describe('jobs that are brought forward', () => {
  // guarantees: events-after-outage
  test.concurrent(
    'jobs that are brought forward come evenly, the oldest first, none later than before, and none that began outside the span',
    closingAll(async (closing) => {
      const fixture = closing(await openWorkerFixture());
      const queues = [registeredTopic, accountChannel].map((name) => openEventQueue(name, fixture.redis, fixture.keys));
      const [one, other] = queues as [(typeof queues)[0], (typeof queues)[0]];
      const now = Date.now();
      const add = async (queue: typeof one, id: string, at: { begun: number; due: number; notBefore?: number }) => {
        const job = await queue.add('event', newEvent(), { jobId: id, delay: 1 });
        if (at.notBefore) await job.updateProgress({ notBefore: at.notBefore });
        await fixture.redis.hset(queue.toKey(id), { processedOn: at.begun, delay: at.due - at.begun });
        await fixture.redis.zadd(queue.toKey('delayed'), scoreAt(at.due), id);
      };
      const span = { from: now - 2_000, until: now - 1_000 };
      const later = now + hourMs;
      await add(one, 'c', { begun: span.from, due: later });
      await add(other, 'a', { begun: span.until - 1, due: later });
      await add(one, 'd', { begun: span.from + 100, due: now + 10 });
      await add(other, 'b', { begun: span.from + 200, due: later, notBefore: later - 1_000 });
      await add(one, 'e', { begun: span.from - 1, due: later });
      await add(one, 'f', { begun: span.until, due: later });
      const bringForward = createBringForward({ queues, hostNow: () => now });
      const dues = async () => {
        const lists = queues.map((queue) => fixture.redis.zrange(queue.toKey('delayed'), '0', '-1', 'WITHSCORES'));
        const pairs = (await Promise.all(lists)).flatMap((list) =>
          list.flatMap((id, index) => (index % 2 === 0 ? [[id, Math.floor(Number(list[index + 1]) / 0x1000)]] : [])),
        );
        return Object.fromEntries(pairs);
      };
      expect(await bringForward(span)).toBe(3);
      const moved = await dues();
      // The queue counts the pauses from the moment of the call.
      const within = Date.now() - now;
      expect(moved).toMatchObject({ d: now + 10, e: later, f: later });
      for (const [id, planned] of Object.entries({ a: now, b: later - 1_000, c: now + 100 })) {
        expect(moved[id]).toBeGreaterThanOrEqual(planned);
        expect(moved[id]).toBeLessThanOrEqual(planned + within);
      }
      expect(await bringForward(span)).toBe(0);
      expect(await dues()).toEqual(moved);
      for (const queue of queues) await queue.close();
    }),
  );

  test.concurrent(
    'jobs that are brought forward come within two minutes, however many they are',
    closingAll(async (closing) => {
      const fixture = closing(await openWorkerFixture());
      const queue = openEventQueue(registeredTopic, fixture.redis, fixture.keys);
      const ids = Array.from({ length: 2_500 }, (_, index) => String(index).padStart(5, '0'));
      const bulk = ids.map((jobId) => ({ name: 'event', data: newEvent(), opts: { jobId, delay: hourMs } }));
      await queue.addBulk(bulk);
      const pipeline = fixture.redis.pipeline();
      for (const id of ids) pipeline.hset(queue.toKey(id), { processedOn: 1_000, delay: hourMs });
      await pipeline.exec();
      // The clock stands still, so a job's pause is its place in the row.
      const bringForward = createBringForward({ queues: [queue], hostNow: () => 1_000 });
      const begin = Date.now();
      expect(await bringForward({ from: 0, until: 2_000 })).toBe(ids.length);
      const within = Date.now() - begin;
      const dueAt = async (position: number) => {
        const [, score] = await fixture.redis.zrange(
          queue.toKey('delayed'),
          String(position),
          String(position),
          'WITHSCORES',
        );
        return Number(score) / 0x1000 - begin;
      };
      expect(await dueAt(0)).toBeLessThanOrEqual(within);
      for (const [position, planned] of [
        [1_250, 60_000],
        [2_499, 120_000],
      ] as const) {
        expect(Math.abs((await dueAt(position)) - planned)).toBeLessThanOrEqual(within + 50);
      }
      await queue.close();
    }),
  );
});
