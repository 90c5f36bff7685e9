import { accountChannel, accountEvents, DeletedEvent } from '@auth-account/contracts/events';
import { type ConsumerReport, createEventConsumer } from '@auth-account/messaging';
import { openMongoInbox } from '@auth-account/messaging/mongo-inbox';
import { expect, test } from '@jest/globals';
import { closingAll } from '../../support/closing.ts';
import { commitEvent, longAgo, newCodeRequest, newDeletedEvent, newEvent } from '../../support/worker/worker-events.ts';
import { eventually, openWorkerFixture, type WorkerFixture } from '../../support/worker/worker-fixture.ts';
import { startReceiver } from '../../support/worker/worker-receiver.ts';
import { startTestWorker } from '../../support/worker/worker-service.ts';

async function openInbox({ mongo, db }: WorkerFixture) {
  return openMongoInbox({ client: mongo, collection: db.collection('inbox') });
}

// guarantees: account-events
test.concurrent(
  'account events and registrations reach webhooks and queue consumers, published or left to the relay',
  closingAll(async (closing) => {
    const receiver = closing(await startReceiver('analytics'));
    const queueSubscriber = { name: 'kitchen', kind: 'queue' } as const;
    const fixture = closing(await openWorkerFixture([receiver.subscriber, queueSubscriber]));
    const handled: string[] = [];
    const reports: ConsumerReport[] = [];
    closing(
      createEventConsumer({
        connection: fixture.redis,
        keys: fixture.keys,
        channel: accountChannel,
        schemas: accountEvents,
        subscriber: queueSubscriber.name,
        inbox: await openInbox(fixture),
        handle: async ({ id }) => void handled.push(id),
        onReport: (report) => void reports.push(report),
        onError: () => undefined,
      }),
    );
    closing(await startTestWorker(fixture.env));
    const [published, left, registered] = [newCodeRequest(), newDeletedEvent(), newEvent()];
    await fixture.publish(published);
    await commitEvent(fixture.mongo, fixture.db, left, longAgo());
    await fixture.publish(registered);
    for (const event of [published, left]) {
      await eventually('both have it', () => fixture.isDelivered(event));
      expect(Object.keys((await fixture.row(event)).deliveries).sort()).toEqual(['analytics', 'kitchen']);
    }
    await eventually('the webhook has the registration', () => receiver.ids().includes(registered.id));
    // A worker that stalls may deliver again.
    expect(new Set(receiver.ids())).toEqual(new Set([published.id, left.id, registered.id]));
    const processed = reports.filter(({ outcome }) => outcome === 'processed').map(({ eventId }) => eventId);
    expect(processed.sort()).toEqual([published.id, left.id].sort());
    expect(new Set(handled)).toEqual(new Set(processed));
  }),
);

test.concurrent(
  'a consumer of some topics acknowledges the others, and a request for a code that has expired, without effect',
  closingAll(async (closing) => {
    const fixture = closing(await openWorkerFixture([{ name: 'kitchen', kind: 'queue' }]));
    const handled: string[] = [];
    const outcomes: string[] = [];
    const parts = { connection: fixture.redis, keys: fixture.keys, channel: accountChannel, subscriber: 'kitchen' };
    const inbox = await openInbox(fixture);
    const onReport = ({ outcome, eventId }: ConsumerReport) => void outcomes.push(`${outcome} ${eventId}`);
    const onError = () => undefined;
    const [request, deleted] = [newCodeRequest(), newDeletedEvent()];
    closing(await startTestWorker(fixture.env));
    const first = createEventConsumer({
      ...parts,
      schemas: { 'service.auth.events.deleted': DeletedEvent },
      inbox,
      handle: async ({ data }) => void handled.push(data.user_id),
      onReport,
      onError,
    });
    for (const event of [request, deleted]) await fixture.publish(event);
    for (const event of [request, deleted]) await eventually('it is delivered', () => fixture.isDelivered(event));
    await first.close();
    expect(new Set(handled)).toEqual(new Set([deleted.data.user_id]));
    expect(outcomes).toEqual(expect.arrayContaining([`ignored ${request.id}`, `processed ${deleted.id}`]));
    expect(outcomes).not.toContain(`processed ${request.id}`);

    const late = newCodeRequest(new Date(Date.now() - 1));
    const second = { ...parts, schemas: accountEvents, inbox, onReport, onError };
    closing(createEventConsumer({ ...second, handle: async ({ id }) => void handled.push(id) }));
    await fixture.publish(late);
    await eventually('it is settled', () => fixture.isDelivered(late));
    expect(outcomes).not.toContain(`processed ${late.id}`);
    expect(await fixture.collections.deadLetters.countDocuments()).toBe(0);
  }),
);

// guarantees: deletion-event
test.concurrent(
  'a deletion that a queue consumer keeps refusing stays on its queue, beyond every number of attempts',
  closingAll(async (closing) => {
    const fixture = closing(await openWorkerFixture([{ name: 'kitchen', kind: 'queue' }]));
    closing(await startTestWorker(fixture.env));
    const [deleted, other] = [newDeletedEvent(), newCodeRequest()];
    for (const event of [deleted, other]) await fixture.publish(event);
    const attemptsOf = async (id: string) =>
      Number(
        await fixture.redis.hget(`${fixture.keys.queuePrefix}:${accountChannel}.kitchen:${id}`, 'opts').then(read),
      );
    await eventually(
      'both are on the queue',
      async () => (await attemptsOf(deleted.id)) > 0 && (await attemptsOf(other.id)) > 0,
    );
    expect([await attemptsOf(deleted.id), await attemptsOf(other.id)]).toEqual([1_000_000, 18]);
  }),
);

function read(options: string | null): number {
  return options === null ? 0 : (JSON.parse(options) as { attempts: number }).attempts;
}
