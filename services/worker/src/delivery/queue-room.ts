import type { RedisClient } from '@auth-account/redis';
import type { SubscriberQueue } from './subscriber-queues.ts';

/** The queues that have room. Events for the others stay in the outbox, so that Redis does not grow without bound. */
export interface QueueRoom {
  /** Counts the jobs, and returns the names of the queues with room. Rejects if Redis is away. */
  read(): Promise<ReadonlySet<string>>;
  /** Returns the result of the last {@link read} if it is less than a second old, else that of a new one. */
  recent(): Promise<ReadonlySet<string>>;
}

export interface QueueRoomDeps {
  readonly queues: readonly Pick<SubscriberQueue, 'queue'>[];
  /** The queues' connection, which fails at once while Redis is away. */
  readonly redis: RedisClient;
  readonly now: () => Date;
}

/** Jobs that no worker has tried yet: enough for the workers until the relay's next round. */
const enoughWaiting = 5_000;

/**
 * Jobs in all, with those that wait for their next attempt. The limit is above {@link enoughWaiting}, so that a
 * subscriber that keeps refusing some events gets the others.
 */
const enoughInAll = 20_000;

const recentMs = 1_000;

export function createQueueRoom({ queues, redis, now }: QueueRoomDeps): QueueRoom {
  let last: { readonly at: number; readonly opened: Promise<ReadonlySet<string>> } | undefined;

  function read(): Promise<ReadonlySet<string>> {
    const opened = findOpened(redis, queues);
    last = { at: now().getTime(), opened };
    return opened;
  }

  return {
    read,
    recent: () => (last === undefined || now().getTime() - last.at >= recentMs ? read() : last.opened),
  };
}

async function findOpened(redis: RedisClient, queues: QueueRoomDeps['queues']): Promise<ReadonlySet<string>> {
  if (queues.length === 0) await redis.ping();
  const pipeline = redis.pipeline();
  // If its consumers have paused a queue, its waiting jobs are in a list of their own.
  for (const { queue } of queues) {
    pipeline.llen(queue.toKey('wait')).llen(queue.toKey('paused')).zcard(queue.toKey('delayed'));
  }
  const answers = (await pipeline.exec()) ?? [];
  const counts = answers.map(([error, count]) => {
    if (error) throw error;
    return Number(count);
  });
  const names = queues.map(({ queue }) => queue.name);
  const opened = names.filter((_, index) => {
    const [wait = 0, paused = 0, delayed = 0] = counts.slice(3 * index, 3 * index + 3);
    return wait + paused < enoughWaiting && wait + paused + delayed < enoughInAll;
  });
  return new Set(opened);
}
