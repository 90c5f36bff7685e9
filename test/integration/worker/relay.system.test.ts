import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { registeredTopic } from '@auth-account/contracts';
import { type LocalRedis, startRedis } from '@auth-account/local-stack';
import { addEvents, openEventQueue, subscriberQueueName } from '@auth-account/messaging';
import { describe, expect, test } from '@jest/globals';
import { type Closing, closingAll } from '../../support/closing.ts';
import { openGuardedFolder } from '../../support/processes/guarded-folder.ts';
import { startWorkerProcess } from '../../support/processes/service-process.ts';
import { startStopwatch } from '../../support/stopwatch.ts';
import { commitEvent, longAgo, newEvent } from '../../support/worker/worker-events.ts';
import { eventually, openWorkerFixture } from '../../support/worker/worker-fixture.ts';
import { hang, startReceiver, status } from '../../support/worker/worker-receiver.ts';
import { startTestWorker } from '../../support/worker/worker-service.ts';

describe('the relay', () => {
  test.concurrent(
    'two workers deliver each event once',
    closingAll(async (closing) => {
      const good = closing(await startReceiver('analytics'));
      const { env, mongo, db, publish, isDelivered } = closing(await openWorkerFixture([good.subscriber]));
      const events = Array.from({ length: 30 }, newEvent);
      for (const [index, event] of events.entries()) {
        await (index % 2 === 0 ? publish(event, longAgo()) : commitEvent(mongo, db, event, longAgo()));
      }
      const [start, watch] = [performance.now(), startStopwatch()];
      const workers = await Promise.all([startTestWorker(env), startTestWorker(env)]);
      for (const worker of workers) closing(worker);
      for (const event of events) await eventually('the row is delivered', () => isDelivered(event));
      const awakeMs = watch.stop();
      const isStalled = performance.now() - start - awakeMs > 1_000;
      // A worker that stalls may lose its claim or its job to the other worker. Then the promise is "at least once".
      const delivered = isStalled ? [...new Set(good.ids())] : good.ids();
      expect(delivered.sort()).toEqual(events.map(({ id }) => id).sort());
      const claims = await Promise.all(workers.map((worker) => worker.metric('auth_outbox_claims_total')));
      // Nobody has published every other event.
      expect(claims.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(15);
      await eventually('the outbox is empty', async () => (await workers[0].metric('auth_outbox_depth')) === 0);
    }),
  );

  test.concurrent(
    'the relay gives an event to a subscriber configured after it, and forgets one that is no longer configured',
    closingAll(async (closing) => {
      const { env, row, isDelivered, publish } = closing(await openWorkerFixture([{ name: 'gone', kind: 'queue' }]));
      const first = closing(await startTestWorker(env));
      const event = newEvent();
      await publish(event, longAgo());
      await eventually('the relay has seen it', async () => (await row(event)).attempts > 0);
      await first.close();

      const added = closing(await startReceiver('added'));
      closing(await startTestWorker({ ...env, EVENT_SUBSCRIBERS: JSON.stringify([added.subscriber]) }));
      await eventually('the row is delivered', () => isDelivered(event));
      expect(Object.keys((await row(event)).deliveries)).toEqual(['added']);
    }),
  );
});

describe('a queue that nobody empties', () => {
  // guarantees: slow-subscriber
  test.concurrent(
    'a queue that nobody empties takes 5,000 events, delays nobody, and gets the others once there is capacity',
    closingAll(async (closing) => {
      const good = closing(await startReceiver('analytics'));
      const stuck = { name: 'stuck', kind: 'queue' } as const;
      const fixture = closing(await openWorkerFixture([good.subscriber, stuck]));
      const queue = openEventQueue(subscriberQueueName(registeredTopic, 'stuck'), fixture.redis, fixture.keys);
      closing({ close: () => queue.close() });
      const filler = newEvent();
      const fillers = Array.from({ length: 5_000 }, (_, index) => `filler-${index}`);
      await addEvents(
        queue,
        fillers.map((jobId) => ({ jobId, event: filler, traceparent: undefined })),
      );
      const [published, left] = [newEvent(), newEvent()];
      await fixture.publish(published, longAgo());
      await commitEvent(fixture.mongo, fixture.db, left, longAgo());
      closing(await startTestWorker(fixture.env));
      for (const event of [published, left]) {
        await eventually(
          'the other subscriber has it',
          async () => 'analytics' in (await fixture.row(event)).deliveries,
        );
        // The row is read again when the other subscriber has the event, after 5 s at the latest.
        const isHeld = async () => (await fixture.row(event)).locked_until.getTime() > Date.now() + 3_600_000;
        await eventually('it waits for capacity and is not read again', isHeld);
        expect(await fixture.row(event)).toMatchObject({ state: 'pending', held: { for: [queue.name] } });
      }
      expect(await fixture.redis.llen(queue.toKey('wait'))).toBe(5_000);

      await fixture.redis.ltrim(queue.toKey('wait'), 0, 4_000);
      await eventually('both are added', async () => (await fixture.redis.llen(queue.toKey('wait'))) === 4_003);
      expect((await queue.getJob(published.id))?.data).toEqual(published);
      expect((await queue.getJob(left.id))?.data).toEqual(left);
      expect((await fixture.row(left)).held).toBeUndefined();
    }),
  );
});

describe('the relay with a Redis that fails', () => {
  /** `wipe` removes its data, while it does not run. */
  async function startOwnRedis(closing: Closing): Promise<LocalRedis & { wipe(): Promise<void> }> {
    const { dir, watch } = closing(await openGuardedFolder('worker'));
    const redis = await startRedis({ dir, log: () => undefined, onSpawn: watch });
    closing({ close: () => redis.kill() });
    return { ...redis, wipe: () => rm(join(dir, 'appendonlydir'), { recursive: true }) };
  }

  test.concurrent(
    'an event on its way is delivered although Redis is emptied',
    closingAll(async (closing) => {
      const redis = await startOwnRedis(closing);
      const good = closing(await startReceiver('analytics', status(503, { 'retry-after': '3600' })));
      const fixture = closing(await openWorkerFixture([good.subscriber], redis.url));
      const worker = closing(await startTestWorker(fixture.env));
      await eventually('it has begun', async () => (await fixture.redis.exists(fixture.keys.denyListComplete)) === 1);
      const event = newEvent();
      await fixture.publish(event, longAgo());
      await eventually('it was tried', () => good.received.length > 0);
      await eventually('the relay has seen it', async () => (await fixture.row(event)).attempts > 0);
      good.answerWith(status(204));

      await fixture.redis.flushall();
      await eventually('it is delivered', () => fixture.isDelivered(event));
      expect(new Set(good.ids())).toEqual(new Set([event.id]));
      // The relay may have been faster than the worker's first round.
      await eventually('another rebuild', async () => (await worker.metric('auth_deny_list_rebuilds_total')) >= 2);
    }),
  );

  // guarantees: event-per-registration
  test.concurrent(
    'an event on its way is delivered under its own id although Redis is replaced by an empty one',
    closingAll(async (closing) => {
      const redis = await startOwnRedis(closing);
      const good = closing(await startReceiver('analytics', status(503, { 'retry-after': '3600' })));
      const fixture = closing(await openWorkerFixture([good.subscriber], redis.url));
      const worker = closing(await startTestWorker(fixture.env));
      const events = Array.from({ length: 3 }, newEvent);
      for (const event of events) await fixture.publish(event, longAgo());
      await eventually('they were tried', () => new Set(good.ids()).size === 3);
      for (const event of events) {
        await eventually('the relay has seen it', async () => (await fixture.row(event)).attempts > 0);
      }
      const kept = `${fixture.keys.queuePrefix}:kept`;
      await fixture.redis.set(kept, '1');
      await redis.kill();
      await eventually('it is not ready', async () => (await worker.readiness()).redis?.ok === false);
      good.answerWith(status(204));

      await redis.wipe();
      await redis.start();
      expect(await fixture.redis.exists(kept)).toBe(0);
      for (const event of events) await eventually('it is delivered', () => fixture.isDelivered(event));
      expect(new Set(good.ids())).toEqual(new Set(events.map(({ id }) => id)));
    }),
  );

  // guarantees: stop-despite-faults
  test.concurrent(
    'a worker stops in order, with exit 0, while Redis is away and a delivery hangs',
    closingAll(async (closing) => {
      const redis = await startOwnRedis(closing);
      const hanging = closing(await startReceiver('hanging', hang));
      const fixture = closing(await openWorkerFixture([hanging.subscriber], redis.url));
      const worker = await startWorkerProcess(fixture.env);
      closing({ close: async () => void (await worker.end('SIGKILL')) });
      await fixture.publish(newEvent());
      await eventually('the delivery is under way', () => hanging.received.length > 0);
      await redis.kill();
      // The worker limits the time of its shutdown: after 10 s it exits with 1.
      expect(await worker.end('SIGTERM')).toEqual({ code: 0, signal: null });

      const neverConnected = await startWorkerProcess(fixture.env);
      closing({ close: async () => void (await neverConnected.end('SIGKILL')) });
      expect(await neverConnected.end('SIGTERM')).toEqual({ code: 0, signal: null });
      await redis.start();
    }),
  );
});
