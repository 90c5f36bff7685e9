import { registeredTopic } from '@auth-account/contracts';
import { reliableWorkerOptions, subscriberQueueName } from '@auth-account/messaging';
import { afterEach, describe, expect, test } from '@jest/globals';
import { UnrecoverableError, Worker } from 'bullmq';
import { openParts } from '../../support/closing.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { longAgo, newEvent } from '../../support/worker/worker-events.ts';
import { eventually, openWorkerFixture, type WorkerFixture } from '../../support/worker/worker-fixture.ts';
import { startReceiver, status } from '../../support/worker/worker-receiver.ts';
import { startTestWorker } from '../../support/worker/worker-service.ts';

const { closing, closeAll } = openParts();
afterEach(closeAll);

/** Creates an operator's functions, which use only MongoDB. */
function operator({ collections }: WorkerFixture) {
  const { deadLetters: letters, replay, subscribers } = storesOf(collections);
  return { letters, replay, subscribers };
}

describe('an event that is given up', () => {
  // answers: FusionAuth 3549, https://github.com/FusionAuth/fusionauth-issues/issues/3549
  // A webhook that failed lost its event for good.
  test('an event that is given up becomes a dead letter with its reason, delays no other, and is replayed under its id', async () => {
    const failing = closing(await startReceiver('failing', status(400)));
    const good = closing(await startReceiver('good'));
    const fixture = closing(await openWorkerFixture([failing.subscriber, good.subscriber]));
    const { letters, replay } = operator(fixture);
    const env = { ...fixture.env, DELIVERY_GIVE_UP_SECONDS: '1' };
    const first = closing(await startTestWorker(env));
    const event = newEvent();
    await fixture.publish(event, longAgo());
    await eventually('its row waits for nobody', async () => (await fixture.row(event)).state === 'dead');
    expect((await fixture.row(event)).last_error).toBe('failing: given up: answered 400');

    const [letter, ...others] = await letters.list({ limit: 10 });
    expect(others).toEqual([]);
    expect(letter).toMatchObject({ event_id: event.id, subscriber: 'failing', event, last_error: 'answered 400' });
    expect(letter?.attempts).toBe(failing.received.length);
    expect(letter?.attempt_log.map(({ outcome, status: code }) => [outcome, code])).toEqual([
      ...Array.from({ length: failing.received.length - 1 }, () => ['failed', 400]),
      ['given_up', 400],
    ]);
    const [firstAt, lastAt] = [letter?.first_attempt_at.getTime() ?? 0, letter?.last_attempt_at.getTime() ?? 0];
    // If a slow machine leaves time for one attempt only, the job counts as the first.
    expect(firstAt).toBeLessThan(lastAt);
    expect(await fixture.collections.outbox.countDocuments({ state: 'pending' })).toBe(0);
    await first.close();

    // The replay needs only MongoDB, and comes before there is a worker.
    failing.answerWith(status(204));
    const tried = failing.received.length;
    const order = { eventId: event.id, deadOnly: true, at: new Date() };
    expect(await replay(order)).toEqual({ to: ['failing'] });
    expect(await replay(order)).toEqual({ to: [], reason: 'waiting', waitingFor: ['failing'] });
    expect(await letters.find(event.id)).toEqual([]);
    closing(await startTestWorker(env));
    await eventually('it is delivered', () => fixture.isDelivered(event));
    // A worker that stalls may deliver again.
    expect(new Set(failing.ids().slice(tried))).toEqual(new Set([event.id]));
    expect(new Set(good.ids())).toEqual(new Set([event.id]));
  });

  test('an event of a queue’s consumer becomes a dead letter as soon as its job has failed for good', async () => {
    const name = 'billing';
    const fixture = closing(await openWorkerFixture([{ name, kind: 'queue' }]));
    const { letters, replay } = operator(fixture);
    closing(await startTestWorker(fixture.env));
    let mayFail = true;
    const consumed: unknown[] = [];
    const consumer = new Worker(
      subscriberQueueName(registeredTopic, name),
      async ({ data }) => {
        if (mayFail) throw new UnrecoverableError('no such account');
        consumed.push(data);
      },
      { ...reliableWorkerOptions, connection: { url: fixture.env.REDIS_URL ?? '' }, prefix: fixture.keys.queuePrefix },
    );
    closing({ close: () => consumer.close() });
    const event = newEvent();
    await fixture.publish(event, longAgo());
    await eventually('there is a dead letter', async () => (await letters.find(event.id, name)).length === 1);
    expect((await letters.find(event.id, name))[0]).toMatchObject({
      last_error: 'no such account',
      attempts: 1,
      event,
    });

    mayFail = false;
    expect(await replay({ eventId: event.id, subscriber: name, deadOnly: true, at: new Date() })).toEqual({
      to: [name],
    });
    await eventually('it is delivered', () => fixture.isDelivered(event));
    expect(consumed).toEqual([event]);
  });

  test('an event that was ordered to be sent again is not given up by a late worker', async () => {
    const fixture = closing(await openWorkerFixture([{ name: 'billing', kind: 'queue' }]));
    const { letters, replay, subscribers } = operator(fixture);
    await subscribers.configure(['billing'], new Date());
    const event = newEvent();
    await fixture.publish(event, longAgo());
    const attempt = { subscriber: 'billing', at: new Date(), outcome: 'given_up', error: 'broken' } as const;
    const givenUp = { event, attempt, attempts: 3, since: longAgo(), subscribers: ['billing'] };
    await letters.add(givenUp);
    const replayedAt = new Date();
    await replay({ eventId: event.id, deadOnly: true, at: replayedAt });
    expect(await letters.add(givenUp)).toBe(false);
    expect(await fixture.row(event)).toMatchObject({ state: 'pending' });
    expect(await letters.add({ ...givenUp, replayedAt })).toBe(true);
  });

  // guarantees: dead-letters-wait
  test('a metric shows a dead letter until it is discarded, and its row stays as long', async () => {
    const fixture = closing(await openWorkerFixture([{ name: 'billing', kind: 'queue' }]));
    const { letters } = operator(fixture);
    const event = newEvent();
    await fixture.publish(event, longAgo());
    const attempt = { subscriber: 'billing', at: new Date(), outcome: 'given_up', error: 'broken' } as const;
    const givenUp = { event, attempt, attempts: 3, since: longAgo(), subscribers: ['billing'] };
    expect(await letters.add(givenUp)).toBe(true);
    expect(await letters.add(givenUp)).toBe(true);
    expect(await letters.counts(10)).toEqual(new Map([['billing', 1]]));
    const worker = closing(await startTestWorker(fixture.env));
    await eventually(
      'it is counted',
      async () => (await worker.metric('auth_dead_letters', { subscriber: 'billing' })) === 1,
    );
    expect((await fixture.row(event)).delivered_at).toBeUndefined();

    expect(await letters.discard(event.id, 'billing', new Date())).toBe(true);
    expect(await letters.discard(event.id, 'billing', new Date())).toBe(false);
    expect(await fixture.row(event)).toMatchObject({ state: 'delivered', delivered_at: expect.any(Date) });
  });
});

test('a delivered event goes again to one subscriber when it is replayed, under its id, and each attempt is on record', async () => {
  const [one, other] = [closing(await startReceiver('one')), closing(await startReceiver('other'))];
  const fixture = closing(await openWorkerFixture([one.subscriber, other.subscriber]));
  const { replay } = operator(fixture);
  closing(await startTestWorker(fixture.env));
  const event = newEvent();
  await fixture.publish(event);
  await eventually('it is delivered', () => fixture.isDelivered(event));
  expect(await replay({ eventId: event.id, subscriber: 'one', deadOnly: true, at: new Date() })).toEqual({
    to: [],
    reason: 'not_concerned',
  });
  expect(await replay({ eventId: newEvent().id, deadOnly: false, at: new Date() })).toEqual({
    to: [],
    reason: 'unknown',
  });
  expect(await replay({ eventId: event.id, subscriber: 'one', deadOnly: false, at: new Date() })).toEqual({
    to: ['one'],
  });
  await eventually('it is delivered again', () => one.received.length === 2);
  await eventually('it is delivered', () => fixture.isDelivered(event));
  expect([one.ids(), other.ids()]).toEqual([[event.id, event.id], [event.id]]);
  const { attempt_log = [] } = await fixture.row(event);
  expect(attempt_log.map(({ subscriber, outcome, status: code }) => `${subscriber} ${outcome} ${code}`).sort()).toEqual(
    ['one delivered 204', 'one delivered 204', 'other delivered 204'],
  );
});

test('a webhook that answers 410 is paused for all workers, until an operator resumes it', async () => {
  const gone = closing(await startReceiver('gone', status(410)));
  const good = closing(await startReceiver('good'));
  const fixture = closing(await openWorkerFixture([gone.subscriber, good.subscriber]));
  const { subscribers } = operator(fixture);
  const env = { ...fixture.env, DELIVERY_GIVE_UP_SECONDS: '30' };
  const workers = await Promise.all([startTestWorker(env), startTestWorker(env)]);
  for (const worker of workers) closing(worker);
  const first = newEvent();
  await fixture.publish(first);
  for (const worker of workers) {
    await eventually(
      'it is suspended',
      async () => (await worker.metric('auth_subscriber_parked', { subscriber: 'gone' })) === 1,
    );
  }
  const suspended = (await subscribers.list()).filter(({ parked_at }) => parked_at !== undefined);
  expect(suspended).toMatchObject([{ _id: 'gone', parked_by_event: first.id }]);
  const later = Array.from({ length: 5 }, newEvent);
  for (const event of later) await fixture.publish(event);
  await eventually('the other subscriber has them', () => new Set(good.ids()).size === 6);
  const queue = `${fixture.keys.queuePrefix}:${subscriberQueueName(registeredTopic, 'gone')}`;
  const waiting = [first, ...later].map(({ id }) => `${queue}:${id}`);
  await eventually('all wait', async () => (await fixture.redis.exists(waiting)) === waiting.length);
  for (const worker of workers) await worker.close();
  // An attempt that had begun when the subscriber was suspended may still arrive.
  const tried = gone.received.length;
  expect(new Set(gone.ids())).toEqual(new Set([first.id]));

  // Makes the waiting jobs older than the limit.
  for (const job of waiting) await fixture.redis.hset(job, 'timestamp', Date.now() - 3_600_000);
  const restarted = closing(await startTestWorker(env));
  await eventually(
    'it is known',
    async () => (await restarted.metric('auth_subscriber_parked', { subscriber: 'gone' })) === 1,
  );
  await fixture.publish(newEvent());
  await eventually('the other subscriber has it', () => new Set(good.ids()).size === 7);
  expect(gone.received).toHaveLength(tried);

  gone.answerWith((response) => response.writeHead(gone.received.length === tried + 1 ? 500 : 204).end());
  expect(await subscribers.resume('gone', new Date())).toBe(true);
  expect(await subscribers.resume('gone', new Date())).toBe(false);
  await eventually('it has all', () => new Set(gone.ids()).size === 7);
  await eventually(
    'nothing waits',
    async () => (await fixture.collections.outbox.countDocuments({ state: 'delivered' })) === 7,
  );
  expect(await restarted.metric('auth_subscriber_parked', { subscriber: 'gone' })).toBe(0);
});
