import { RegisteredEvent } from '@auth-account/contracts';
import { registeredChannel } from '@auth-account/contracts/events';
import { type ConsumerReport, createEventConsumer, type EventConsumer, type Inbox } from '@auth-account/messaging';
import { type InboxDocument, openMongoInbox } from '@auth-account/messaging/mongo-inbox';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import type { ClientSession, Db, MongoClient } from 'mongodb';

/** The result of the example's work for a new group. */
export interface StartingConfiguration {
  /** `home_group_id`. */
  readonly _id: string;
  readonly account_type: string;
  /** Number of times that the configuration was prepared. Any number but 1 means that the inbox does not work. */
  readonly prepared: number;
}

export interface ExampleConsumerOptions {
  readonly mongo: MongoClient;
  /** The consumer's own database. */
  readonly db: Db;
  /** A connection that was opened with `workerOptions()`. */
  readonly redis: RedisClient;
  readonly keys: RedisKeys;
  readonly subscriber: string;
  readonly say: (line: string) => void;
  readonly onReport?: (report: ConsumerReport) => void;
  /** Wrappers that tests put around the inbox and the effect. */
  readonly around?: {
    readonly inbox?: (inbox: Inbox<ClientSession>) => Inbox<ClientSession>;
    readonly afterEffect?: (signal: AbortSignal) => Promise<void>;
  };
}

/**
 * Starts a small example of an internal service. For each registration that created a group it prepares the group's
 * starting configuration, once, however often the event comes.
 */
export async function startExampleConsumer(options: ExampleConsumerOptions): Promise<EventConsumer> {
  const { mongo, db, redis, keys, subscriber, say, onReport, around = {} } = options;
  const inbox = await openMongoInbox({ client: mongo, collection: db.collection<InboxDocument>('inbox') });
  const configurations = db.collection<StartingConfiguration>('starting_configurations');
  const groups = new Map<string, string>();

  function sayPrepared(eventId: string): void {
    const group = groups.get(eventId);
    groups.delete(eventId);
    if (group !== undefined) say(`prepared the starting configuration of group ${group}`);
  }

  return createEventConsumer({
    connection: redis,
    keys,
    channel: registeredChannel,
    schema: RegisteredEvent,
    subscriber,
    inbox: around.inbox?.(inbox) ?? inbox,
    async handle(event, { session, signal }) {
      const { home_group_id, account_type, is_new_group } = event.data;
      if (is_new_group) {
        const change = { $set: { account_type }, $inc: { prepared: 1 } };
        await configurations.updateOne({ _id: home_group_id }, change, { upsert: true, session });
        groups.set(event.id, home_group_id);
      }
      await around.afterEffect?.(signal);
    },
    onReport(report) {
      // Of two concurrent deliveries the loser may report first, so only the processed delivery reports the group.
      if (report.outcome === 'processed') sayPrepared(report.eventId ?? '');
      onReport?.(report);
    },
    onError: (error) => say(`the queue fails: ${error.message}`),
  });
}
