import type { EventChannel } from '@auth-account/contracts/events';
import type { ShutdownStep } from '@auth-account/lifecycle';
import type { EventQueue } from '@auth-account/messaging';
import type { RedisClient } from '@auth-account/redis';
import type { MongoClient } from 'mongodb';

/** The connections of the api. */
export interface Connections {
  readonly mongo: MongoClient;
  readonly redis: RedisClient;
  readonly limitRedis: RedisClient;
  readonly queueRedis: RedisClient;
  /** The queue of each channel. */
  readonly queues: Readonly<Record<EventChannel, EventQueue>>;
}

/** Returns the steps that close the connections. They are the last steps of a shutdown. */
export function closeSteps({ mongo, redis, limitRedis, queueRedis, queues }: Connections): ShutdownStep[] {
  return [
    {
      name: 'event queues',
      async run() {
        await Promise.all(Object.values(queues).map((queue) => queue.close()));
      },
      timeoutMs: 500,
    },
    {
      name: 'redis',
      run() {
        for (const each of [redis, limitRedis, queueRedis]) each.disconnect();
      },
      timeoutMs: 500,
    },
    { name: 'mongodb', run: () => mongo.close(), timeoutMs: 1_500 },
  ];
}
