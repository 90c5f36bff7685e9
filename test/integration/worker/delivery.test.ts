import { registeredTopic } from '@auth-account/contracts';
import { reliableWorkerOptions, subscriberQueueName } from '@auth-account/messaging';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Worker } from 'bullmq';
import { openParts } from '../../support/closing.ts';
import { newEvent } from '../../support/worker/worker-events.ts';
import { eventually, openWorkerFixture, type WorkerFixture } from '../../support/worker/worker-fixture.ts';
import {
  type Answer,
  firstPause,
  firstThen,
  hang,
  type Receiver,
  startReceiver,
  status,
} from '../../support/worker/worker-receiver.ts';
import { startTestWorker, type TestWorker } from '../../support/worker/worker-service.ts';

const { closing, closeAll } = openParts();
afterEach(closeAll);

async function receiver(name: string, answer?: Answer): Promise<Receiver> {
  return closing(await startReceiver(name, answer));
}

async function fixture(subscribers: readonly object[]): Promise<WorkerFixture> {
  return closing(await openWorkerFixture(subscribers));
}

async function worker(env: Readonly<Record<string, string>>): Promise<TestWorker> {
  return closing(await startTestWorker(env));
}

describe('delivery to webhooks', () => {
  // guarantees: slow-subscriber
  // answers: Keycloak 45303, https://github.com/keycloak/keycloak/issues/45303
  // A request for events that reach other services reliably.
  test('a webhook that is down or hangs delays no other, and gets the event when it recovers', async () => {
    const good = await receiver('analytics');
    const failing = await receiver('notification', status(500));
    const hanging = await receiver('hanging', hang);
    const { env, publish, row, isDelivered } = await fixture(
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

  test('a worker waits for the Retry-After of a 503', async () => {
    const busy = await receiver('busy', firstThen(status(503, { 'retry-after': '1' }), status(204)));
    const { env, publish, isDelivered } = await fixture([busy.subscriber]);
    await worker(env);
    const event = newEvent();
    await publish(event);
    await eventually('it is delivered', () => isDelivered(event));
    expect(firstPause(busy)).toBeGreaterThan(990);
    expect(busy.received).toHaveLength(2);
  });
});

describe('delivery to queue consumers', () => {
  const name = 'billing';
  const queueName = subscriberQueueName(registeredTopic, name);

  test('a row is delivered when the queue consumer has completed the job, and not before', async () => {
    const good = await receiver('analytics');
    const { env, publish, row, isDelivered, keys, collections } = await fixture([
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
});
