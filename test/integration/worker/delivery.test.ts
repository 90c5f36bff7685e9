import { registeredTopic } from '@auth-account/contracts';
import { reliableWorkerOptions, subscriberQueueName } from '@auth-account/messaging';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Worker } from 'bullmq';
import { commitEvent, longAgo, newEvent } from '../../support/worker-events.ts';
import {
  type Answer,
  firstPause,
  firstThen,
  hang,
  type Receiver,
  startReceiver,
  status,
} from '../../support/worker-receiver.ts';
import { eventually, openWorkerScene, type WorkerScene } from '../../support/worker-scene.ts';
import { startTestWorker, type TestWorker } from '../../support/worker-service.ts';

const toClose: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const part of toClose.splice(0).reverse()) await part.close();
});

/** Registers a part to be closed when the test ends. Parts are closed in reverse order. */
function closing<T extends { close(): Promise<void> }>(part: T): T {
  toClose.push(part);
  return part;
}

async function receiver(name: string, answer?: Answer): Promise<Receiver> {
  return closing(await startReceiver(name, answer));
}

async function scene(subscribers: readonly object[]): Promise<WorkerScene> {
  return closing(await openWorkerScene(subscribers));
}

async function worker(env: Readonly<Record<string, string>>): Promise<TestWorker> {
  return closing(await startTestWorker(env));
}

describe('delivery to webhooks', () => {
  test('a webhook that is down or hangs delays no other, and gets the event when it recovers', async () => {
    const good = await receiver('analytics');
    const failing = await receiver('notification', status(500));
    const hanging = await receiver('hanging', hang);
    const { env, publish, row, isDelivered } = await scene(
      [good, failing, hanging].map(({ subscriber }) => subscriber),
    );
    const service = await worker({ ...env, DELIVERY_TIMEOUT_MS: '2000' });
    const event = newEvent();

    await publish(event);
    await eventually('the good subscriber has it', async () => 'analytics' in (await row(event)).deliveries);
    await eventually('the others were tried', () => failing.received.length > 0 && hanging.received.length > 0);
    await eventually('their errors are recorded', async () => (await row(event)).last_error !== undefined);
    expect(Object.keys((await row(event)).deliveries)).toEqual(['analytics']);
    expect(await isDelivered(event)).toBe(false);

    failing.answerWith(status(200));
    await eventually('the failing one has it', async () => 'notification' in (await row(event)).deliveries);
    expect(await isDelivered(event)).toBe(false);
    hanging.answerWith(status(202));
    await eventually('all have it', () => isDelivered(event));

    expect(new Set(good.ids())).toEqual(new Set([event.id]));
    expect(new Set([...failing.ids(), ...hanging.ids()])).toEqual(new Set([event.id]));
    expect(await service.metric('auth_event_deliveries_total', { outcome: 'delivered' })).toBe(3);
    expect(
      await service.metric('auth_event_deliveries_total', { outcome: 'failed', subscriber: 'hanging' }),
    ).toBeGreaterThan(0);
    expect(await service.metric('auth_event_deliveries_total', { outcome: 'failed', subscriber: 'analytics' })).toBe(
      good.received.length - 1,
    );
  });

  test('a webhook’s request is the CloudEvent in structured mode, signed, with the ids of the event and of its request', async () => {
    const good = await receiver('analytics');
    const { env, publish } = await scene([good.subscriber]);
    await worker(env);
    const event = newEvent();
    await publish(event);
    await eventually('it is delivered', () => good.received.length > 0);

    const [delivery] = good.received;
    expect(JSON.parse(delivery?.body ?? '')).toEqual(event);
    expect(delivery?.headers).toMatchObject({
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'webhook-id': event.id,
      'x-request-id': event.requestid,
      traceparent: event.traceparent,
    });
  });

  test('a redirect by a webhook is a failure and is not followed', async () => {
    const target = await receiver('target');
    const moved = await receiver('moved', status(307, { location: target.subscriber.url }));
    const { env, publish, row } = await scene([moved.subscriber]);
    await worker(env);
    const event = newEvent();
    await publish(event);
    await eventually('the failure is recorded', async () => (await row(event)).last_error === 'moved: answered 307');
    expect(target.received).toEqual([]);
  });

  test('a worker waits for the Retry-After of a 503', async () => {
    const busy = await receiver('busy', firstThen(status(503, { 'retry-after': '1' }), status(204)));
    const { env, publish, isDelivered } = await scene([busy.subscriber]);
    await worker(env);
    const event = newEvent();
    await publish(event);
    await eventually('it is delivered', () => isDelivered(event));
    expect(firstPause(busy)).toBeGreaterThan(990);
    expect(busy.received).toHaveLength(2);
  });

  test('a delivery that fails for longer than the limit is given up, its row says why, and its job stays', async () => {
    const failing = await receiver('failing', status(400));
    const { env, publish, row, redis, keys } = await scene([failing.subscriber]);
    const service = await worker({ ...env, DELIVERY_GIVE_UP_SECONDS: '1' });
    const event = newEvent();
    await publish(event);
    await eventually('it is given up', async () => (await row(event)).last_error === 'failing: given up: answered 400');
    const failed = `${keys.queuePrefix}:${subscriberQueueName(registeredTopic, 'failing')}:failed`;
    await eventually('the job has failed', async () => (await redis.zscore(failed, event.id)) !== null);
    expect((await row(event)).state).toBe('dead');
    expect(await service.metric('auth_event_deliveries_total', { outcome: 'given_up' })).toBe(1);
  });

  test('an event without a subscriber counts as delivered, published or not', async () => {
    const { env, publish, isDelivered, mongo, db } = await scene([]);
    await worker(env);
    const [published, left] = [newEvent(), newEvent()];
    await publish(published);
    await commitEvent(mongo, db, left, longAgo());
    await eventually('both are delivered', async () => (await isDelivered(published)) && (await isDelivered(left)));
  });
});

describe('delivery to queue consumers', () => {
  const name = 'billing';
  const queueName = subscriberQueueName(registeredTopic, name);

  test('a row is delivered when the queue consumer has completed the job, and not before', async () => {
    const good = await receiver('analytics');
    const { env, publish, row, isDelivered, keys, collections } = await scene([
      good.subscriber,
      { name, kind: 'queue' },
    ]);
    await worker(env);
    const event = newEvent();
    await publish(event);
    await eventually('the webhook has it', async () => 'analytics' in (await row(event)).deliveries);
    expect(await isDelivered(event)).toBe(false);
    // The relay reads the row too, and must not come first.
    const later = { $set: { locked_until: new Date(Date.now() + 600_000) } };
    await collections.outbox.updateOne({ _id: event.id }, later);

    const consumed: unknown[] = [];
    const consumer = new Worker(queueName, async (job) => void consumed.push(job.data), {
      ...reliableWorkerOptions,
      connection: { url: env.REDIS_URL ?? '' },
      prefix: keys.queuePrefix,
    });
    closing({ close: () => consumer.close() });
    await eventually('the row is delivered', () => isDelivered(event));
    expect(consumed).toEqual([event]);
  });

  test('the relay finds a completion that no worker saw', async () => {
    const { env, publish, isDelivered, keys, redis } = await scene([{ name, kind: 'queue' }]);
    const first = await worker(env);
    const event = newEvent();
    await publish(event, longAgo());
    const consumer = new Worker(queueName, async () => undefined, {
      connection: { url: env.REDIS_URL ?? '' },
      prefix: keys.queuePrefix,
      autorun: false,
    });
    closing({ close: () => consumer.close() });
    const jobs = `${keys.queuePrefix}:${queueName}`;
    await eventually('the job is there', async () => (await redis.llen(`${jobs}:wait`)) === 1);
    await first.close();

    void consumer.run();
    await eventually('it is completed', async () => (await redis.zcard(`${jobs}:completed`)) === 1);
    expect(await isDelivered(event)).toBe(false);
    await worker(env);
    await eventually('the row is delivered', () => isDelivered(event));
  });
});
