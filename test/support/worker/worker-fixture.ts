import { type AuthEvent, channelOf, eventChannels } from '@auth-account/contracts/events';
import { waitUntil } from '@auth-account/local-stack';
import { addEvent, openEventQueue } from '@auth-account/messaging';
import type { OutboxDocument } from '@auth-account/stores/documents';
import { Redis } from 'ioredis';
import { openFixture } from '../fixture.ts';
import { commitEvent } from './worker-events.ts';

/** A fixture with everything around a worker: the api's part, and functions that observe. */
export type WorkerFixture = Awaited<ReturnType<typeof openWorkerFixture>>;

/** `redisUrl`: a separate Redis instead of the shared one. */
export async function openWorkerFixture(subscribers: readonly object[] = [], redisUrl?: string) {
  const settings = { EVENT_SUBSCRIBERS: JSON.stringify(subscribers), ...(redisUrl && { REDIS_URL: redisUrl }) };
  const fixture = await openFixture(settings);
  const { env, mongo, db, collections, keys, closing } = fixture;
  const redis = new Redis(env.REDIS_URL ?? '', { maxRetriesPerRequest: null, retryStrategy: () => 50 });
  redis.on('error', () => undefined);
  closing({ close: async () => redis.disconnect() });
  const queues = eventChannels.map((channel) => closing(openEventQueue(channel, redis, keys)));
  for (const queue of queues) queue.on('error', () => undefined);

  async function row(event: AuthEvent): Promise<OutboxDocument> {
    // A transaction that follows reads what a majority has, which comes a moment later.
    const found = await collections.outbox.findOne({ _id: event.id }, { readConcern: 'majority' });
    if (found === null) throw new Error(`there is no outbox row ${event.id}`);
    return found;
  }

  return {
    ...fixture,
    redis,
    /** Commits the event, as if at the time `at`, and publishes it, as the api does. */
    async publish(event: AuthEvent, at?: Date): Promise<void> {
      await commitEvent(mongo, db, event, at);
      const channel = queues.find(({ name: queueName }) => queueName === channelOf(event.type));
      if (channel !== undefined) await addEvent(channel, event);
    },
    row,
    isDelivered: async (event: AuthEvent) => (await row(event)).state === 'delivered',
  };
}

/** Polls until the check passes. */
export function eventually(what: string, check: () => boolean | Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  return waitUntil(async () => check(), { what, timeoutMs, intervalMs: 20 });
}
