import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalRedis, startRedis } from '@auth-account/local-stack';
import { createOutboxStore } from '@auth-account/stores';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { commitEvent, longAgo, newEvent } from '../support/worker-events.ts';
import { hang, startReceiver, status } from '../support/worker-receiver.ts';
import { eventually, openWorkerScene } from '../support/worker-scene.ts';
import { startTestWorker, startWorkerProcess } from '../support/worker-service.ts';

const toClose: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const part of toClose.splice(0).reverse()) await part.close();
});

function closing<T extends { close(): Promise<void> }>(part: T): T {
  toClose.push(part);
  return part;
}

describe('the relay', () => {
  test('hands on what was committed and never handed over, once it is due', async () => {
    const good = closing(await startReceiver('analytics'));
    const { env, mongo, db, isDelivered } = closing(await openWorkerScene([good.subscriber]));
    const events = Array.from({ length: 25 }, newEvent);
    for (const event of events) await commitEvent(mongo, db, event, longAgo());
    const worker = closing(await startTestWorker({ ...env, RELAY_BATCH: '10' }));

    for (const event of events) await eventually('the row is delivered', () => isDelivered(event));
    expect(good.ids().sort()).toEqual(events.map(({ id }) => id).sort());
    // A worker that starts ends the leases there are, its own first ones perhaps too.
    expect(await worker.metric('auth_outbox_claims_total')).toBeGreaterThanOrEqual(25);
  });

  test('leaves a fresh row to the hand-over that follows the commit', async () => {
    const { env, mongo, db, row, isDelivered } = closing(await openWorkerScene());
    const [fresh, due] = [newEvent(), newEvent()];
    await commitEvent(mongo, db, fresh);
    await commitEvent(mongo, db, due, longAgo());
    closing(await startTestWorker(env));
    await eventually('the row that is due is delivered', () => isDelivered(due));
    expect((await row(fresh)).attempts).toBe(0);
  });

  test('two workers claim no row twice', async () => {
    const { mongo, db, collections } = closing(await openWorkerScene());
    const ids = new Set<string>();
    for (let i = 0; i < 60; i++) {
      const event = newEvent();
      ids.add(event.id);
      await commitEvent(mongo, db, event, longAgo());
    }
    const claimed: string[] = [];
    const claimAll = async () => {
      const outbox = createOutboxStore(collections);
      for (;;) {
        const rows = await outbox.claim({ lease: randomUUID(), now: new Date(), limit: 7 });
        claimed.push(...rows.map(({ _id }) => _id));
        const left = await collections.outbox.countDocuments({ attempts: 0 });
        if (left === 0) return;
      }
    };
    await Promise.all([claimAll(), claimAll(), claimAll()]);
    expect(claimed.sort()).toEqual([...ids].sort());
  });

  test('two workers deliver each event once', async () => {
    const good = closing(await startReceiver('analytics'));
    const { env, mongo, db, publish, isDelivered } = closing(await openWorkerScene([good.subscriber]));
    const events = Array.from({ length: 30 }, newEvent);
    for (const [index, event] of events.entries()) {
      await (index % 2 === 0 ? publish(event, longAgo()) : commitEvent(mongo, db, event, longAgo()));
    }
    const workers = await Promise.all([startTestWorker(env), startTestWorker(env)]);
    for (const worker of workers) closing(worker);
    for (const event of events) await eventually('the row is delivered', () => isDelivered(event));
    expect(good.ids().sort()).toEqual(events.map(({ id }) => id).sort());
  });

  test('gives an event to a subscriber that was configured after it, and forgets one that is configured no more', async () => {
    const { env, row, isDelivered, publish } = closing(await openWorkerScene([{ name: 'gone', kind: 'queue' }]));
    const first = closing(await startTestWorker(env));
    const event = newEvent();
    await publish(event, longAgo());
    await eventually('the relay has seen it', async () => (await row(event)).attempts > 0);
    await first.close();

    const added = closing(await startReceiver('added'));
    closing(await startTestWorker({ ...env, EVENT_SUBSCRIBERS: JSON.stringify([added.subscriber]) }));
    await eventually('the row is delivered', () => isDelivered(event));
    expect(Object.keys((await row(event)).deliveries)).toEqual(['added']);
  });
});

describe('with a Redis that fails', () => {
  let dir: string;
  let redis: LocalRedis;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'auth-account-worker-'));
    redis = await startRedis({ dir, log: () => undefined });
  });

  afterAll(async () => {
    await redis.kill();
    await rm(dir, { recursive: true, force: true });
  });

  test('an event on the way is delivered although Redis is emptied', async () => {
    const good = closing(await startReceiver('analytics', status(503, { 'retry-after': '3600' })));
    const scene = closing(await openWorkerScene([good.subscriber], redis.url));
    const worker = closing(await startTestWorker(scene.env));
    await eventually('it has begun', async () => (await scene.redis.exists(scene.keys.denyListComplete)) === 1);
    const event = newEvent();
    await scene.publish(event, longAgo());
    await eventually('it was tried', () => good.received.length === 1);
    await eventually('the relay has seen it', async () => (await scene.row(event)).attempts > 0);
    good.answerWith(status(204));

    await scene.redis.flushall();
    await eventually('it is delivered', () => scene.isDelivered(event), 5_000);
    expect(new Set(good.ids())).toEqual(new Set([event.id]));
    expect(await worker.metric('auth_deny_list_rebuilds_total')).toBe(2);
  });

  test('what is committed while Redis is away is delivered when it is back, and nothing is leased meanwhile', async () => {
    const good = closing(await startReceiver('analytics'));
    const scene = closing(await openWorkerScene([good.subscriber], redis.url));
    const worker = closing(await startTestWorker(scene.env));
    await eventually('the worker is ready', async () => (await worker.readiness()).redis?.ok === true);
    await redis.kill();
    await eventually('it is not ready', async () => (await worker.readiness()).redis?.ok === false);
    const events = Array.from({ length: 5 }, newEvent);
    for (const event of events) await commitEvent(scene.mongo, scene.db, event, longAgo());
    // Looks at it in vain, several times.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await scene.collections.outbox.countDocuments({ attempts: { $gt: 0 } })).toBe(0);

    await redis.start();
    for (const event of events) await eventually('it is delivered', () => scene.isDelivered(event));
    expect(good.ids().sort()).toEqual(events.map(({ id }) => id).sort());
  });

  test('a worker stops in order, with exit 0, while Redis is away and a delivery hangs', async () => {
    const hanging = closing(await startReceiver('hanging', hang));
    const scene = closing(await openWorkerScene([hanging.subscriber], redis.url));
    const worker = await startWorkerProcess(scene.env);
    await scene.publish(newEvent());
    await eventually('the delivery is under way', () => hanging.received.length === 1);
    await redis.kill();
    const start = performance.now();
    expect(await worker.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(performance.now() - start).toBeLessThan(10_000);

    const neverConnected = await startWorkerProcess(scene.env);
    expect(await neverConnected.end('SIGTERM')).toEqual({ code: 0, signal: null });
    await redis.start();
  }, 60_000);
});
