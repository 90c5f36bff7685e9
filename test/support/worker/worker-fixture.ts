import { type AuthEvent, channelOf, eventChannels } from '@auth-account/contracts/events';
import { waitUntil } from '@auth-account/local-stack';
import { addEvent, openEventQueue } from '@auth-account/messaging';
import { type RedisKeys, redisKeys } from '@auth-account/redis';
import { type Collections, collectionsOf, ensureIndexes } from '@auth-account/stores';
import type { OutboxDocument } from '@auth-account/stores/documents';
import { Redis } from 'ioredis';
import { type Db, MongoClient } from 'mongodb';
import { serviceEnvironment, uniqueName } from '../api/test-api.ts';
import { commitEvent } from './worker-events.ts';

/** A separate database and key prefix, with everything around a worker: the api's part, and functions that observe. */
export interface WorkerFixture {
  readonly env: Readonly<Record<string, string>>;
  readonly mongo: MongoClient;
  readonly db: Db;
  readonly collections: Collections;
  readonly redis: Redis;
  readonly keys: RedisKeys;
  /** Commits the event, as if at the time `at`, and publishes it, as the api does. */
  publish(event: AuthEvent, at?: Date): Promise<void>;
  row(event: AuthEvent): Promise<OutboxDocument>;
  isDelivered(event: AuthEvent): Promise<boolean>;
  close(): Promise<void>;
}

/** `redisUrl`: a separate Redis instead of the shared one. */
export async function openWorkerFixture(
  subscribers: readonly object[] = [],
  redisUrl?: string,
): Promise<WorkerFixture> {
  const name = uniqueName();
  const env: Record<string, string> = {
    ...serviceEnvironment(name),
    ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
    EVENT_SUBSCRIBERS: JSON.stringify(subscribers),
  };
  const mongo = new MongoClient(env.MONGODB_URI ?? '');
  const db = mongo.db(name);
  await ensureIndexes(db);
  const collections = collectionsOf(db);
  const redis = new Redis(env.REDIS_URL ?? '', { maxRetriesPerRequest: null, retryStrategy: () => 50 });
  redis.on('error', () => undefined);
  const keys = redisKeys(name);
  const queues = eventChannels.map((channel) => openEventQueue(channel, redis, keys));
  for (const queue of queues) queue.on('error', () => undefined);

  async function row(event: AuthEvent): Promise<OutboxDocument> {
    const found = await collections.outbox.findOne({ _id: event.id });
    if (found === null) throw new Error(`there is no outbox row ${event.id}`);
    return found;
  }

  return {
    env,
    mongo,
    db,
    collections,
    redis,
    keys,
    async publish(event, at) {
      await commitEvent(mongo, db, event, at);
      const channel = queues.find(({ name: queueName }) => queueName === channelOf(event.type));
      if (channel !== undefined) await addEvent(channel, event);
    },
    row,
    isDelivered: async (event) => (await row(event)).state === 'delivered',
    async close() {
      for (const queue of queues) await queue.close();
      redis.disconnect();
      await db.dropDatabase();
      await mongo.close();
    },
  };
}

/** Polls until the check passes. */
export function eventually(what: string, check: () => boolean | Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  return waitUntil(async () => check(), { what, timeoutMs, intervalMs: 20 });
}
