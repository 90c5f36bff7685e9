import { RegisteredEvent } from '@auth-account/contracts';
import { type AuthEvent, accountChannel, accountEvents, registeredChannel } from '@auth-account/contracts/events';
import {
  addEvent,
  type ConsumerReport,
  consumedJobOptions,
  createEventConsumer,
  type EventConsumer,
  type EventQueue,
  type HandlerContext,
  openEventQueue,
  subscriberQueueName,
} from '@auth-account/messaging';
import { type InboxDocument, openMongoInbox } from '@auth-account/messaging/mongo-inbox';
import { openRedis, type RedisClient, workerOptions } from '@auth-account/redis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type ClientSession, MongoClient } from 'mongodb';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';
import { startDocumentedRedis } from '../../support/verifier/documented-acl.ts';
import { keys, queueName, refusal, subscriber } from '../../support/worker/consumer-acl-fixture.ts';
import { newDeletedEvent, newEvent } from '../../support/worker/worker-events.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

const database = uniqueName();
const mongo = new MongoClient(testEnvironment().mongodbUri);
let fixture: Awaited<ReturnType<typeof startDocumentedRedis>>;
let queue: EventQueue;

beforeAll(async () => {
  fixture = await startDocumentedRedis('consumers.md');
  queue = openEventQueue(queueName, fixture.admin, keys, consumedJobOptions);
});

afterAll(async () => {
  await queue.close();
  await fixture.close();
  await mongo.db(database).dropDatabase();
  await mongo.close();
});

describe('an internal service’s Redis user with the rights of docs/consumers.md', () => {
  const open: { readonly consumer: EventConsumer; readonly connection: RedisClient }[] = [];

  afterEach(async () => {
    for (const { consumer, connection } of open.splice(0)) {
      await consumer.close();
      connection.disconnect();
    }
  });

  /**
   * Starts the package's consumer as the documented user. `name`: another subscriber; `isOfAccounts`: account events.
   */
  async function consume(
    handle: (context: HandlerContext<ClientSession>) => Promise<void>,
    name: string = subscriber,
    isOfAccounts = false,
  ) {
    await fixture.admin.call('ACL', 'LOG', 'RESET');
    const reports: ConsumerReport[] = [];
    const errors: string[] = [];
    const collection = mongo.db(database).collection<InboxDocument>('inbox');
    const connection = openRedis({ REDIS_URL: fixture.url }, workerOptions());
    connection.on('error', (error) => errors.push(error.message));
    const parts = {
      connection,
      keys,
      subscriber: name,
      inbox: await openMongoInbox({ client: mongo, collection }),
      handle: (_event: AuthEvent, context: HandlerContext<ClientSession>) => handle(context),
      onReport: (report: ConsumerReport) => reports.push(report),
      onError: (error: Error) => errors.push(error.message),
    };
    const consumer = isOfAccounts
      ? createEventConsumer({ ...parts, channel: accountChannel, schemas: accountEvents })
      : createEventConsumer({ ...parts, channel: registeredChannel, schema: RegisteredEvent });
    open.push({ consumer, connection });
    /** Returns the consumer's errors, and Redis's refusals to the user, even those that nobody reports. */
    const refusals = async () => [...errors, ...((await fixture.admin.call('ACL', 'LOG')) as unknown[])];
    return { reports, errors, refusals, outcomes: () => reports.map(({ outcome }) => outcome) };
  }

  // guarantees: consumer-rights
  test('an internal service’s Redis user consumes events, retries one that has failed, and ends one that is malformed', async () => {
    let tries = 0;
    const { outcomes, refusals } = await consume(async () => {
      tries += 1;
      if (tries === 2) throw new Error('the pantry is locked');
    });
    await addEvent(queue, newEvent());
    await eventually('the first event', () => outcomes().length === 1);
    await addEvent(queue, newEvent());
    await eventually('the second try', () => outcomes().length === 3);
    await addEvent(queue, { ...newEvent(), subject: 1 } as unknown as RegisteredEvent);
    await eventually('the malformed one', async () => (await queue.getFailedCount()) === 1);
    expect(outcomes()).toEqual(['processed', 'failed', 'processed', 'malformed']);
    await eventually('the acknowledgements', async () => (await queue.getCompletedCount()) === 2);
    expect(await refusals()).toEqual([]);
  });

  test('an internal service’s Redis user consumes account events', async () => {
    const { outcomes, refusals } = await consume(async () => undefined, subscriber, true);
    const accountQueue = openEventQueue(subscriberQueueName(accountChannel, subscriber), fixture.admin, keys);
    await addEvent(accountQueue, newDeletedEvent());
    await eventually('the acknowledgement', async () => (await accountQueue.getCompletedCount()) === 1);
    expect(outcomes()).toEqual(['processed']);
    expect(await refusals()).toEqual([]);
    await accountQueue.close();
  });

  test('an internal service’s Redis user also retries without a pause, which BullMQ does by another script', async () => {
    let tries = 0;
    const { outcomes, refusals } = await consume(async () => {
      tries += 1;
      if (tries === 1) throw new Error('the pantry is locked');
    });
    const event = newEvent();
    await queue.add(event.type, event, { jobId: event.id, backoff: 0 });
    await eventually('the second try', () => outcomes().length === 2);
    expect(outcomes()).toEqual(['failed', 'processed']);
    expect(await refusals()).toEqual([]);
  });

  test('an internal service’s Redis user keeps its lock on an event that takes longer than the lock holds', async () => {
    const event = newEvent();
    const lock = `${keys.queuePrefix}:${queueName}:${event.id}:lock`;
    let renewals = 0;
    const { outcomes, refusals } = await consume(async () => {
      let last = await fixture.admin.pttl(lock);
      await eventually('two renewals of the lock', async () => {
        const now = await fixture.admin.pttl(lock);
        // Without a renewal, the lock's remaining time only falls.
        if (now > last) renewals += 1;
        last = now;
        return renewals >= 2;
      });
    });
    await addEvent(queue, event);
    await eventually('the event', () => outcomes().includes('processed'));
    expect(renewals).toBeGreaterThanOrEqual(2);
    // If the machine stalls, the consumer can lose the lock.
    const lostLock = /could not renew lock|Missing lock/;
    expect((await refusals()).filter((one) => !lostLock.test(String(one)))).toEqual([]);
  });

  test('an internal service’s Redis user consumes nothing of another subscriber', async () => {
    const others = openEventQueue(
      subscriberQueueName(registeredChannel, 'pantry'),
      fixture.admin,
      keys,
      consumedJobOptions,
    );
    await addEvent(others, newEvent());
    const { reports, errors } = await consume(async () => undefined, 'pantry');
    await eventually('the refusals', () => errors.filter((error) => refusal.test(error)).length > 2);
    expect(reports).toEqual([]);
    expect(await others.getWaitingCount()).toBe(1);
    await others.close();
  });
});
