import { urgentTopic } from '@auth-account/contracts/events';
import type { RedisClient } from '@auth-account/redis';
import type { SubscriberQueue } from './subscriber-queues.ts';

/** Names of the queues with room. */
export interface OpenQueues {
  readonly forAll: ReadonlySet<string>;
  /** Queues with room for urgent events, for which the limits are higher. They include {@link forAll}. */
  readonly forUrgent: ReadonlySet<string>;
}

/** Returns true if there is room for an event of the topic. */
export function hasRoom({ forAll, forUrgent }: OpenQueues, queueName: string, topic: string): boolean {
  return (topic === urgentTopic ? forUrgent : forAll).has(queueName);
}

/** The queues that have room. Events for the others stay in the outbox, so that Redis does not grow without bound. */
export interface QueueRoom {
  /** Counts the jobs, and returns the queues with room. Rejects if Redis is away. */
  read(): Promise<OpenQueues>;
  /**
   * Returns the result of the last {@link read} if it is less than a second old, otherwise the result of a new read.
   */
  recent(): Promise<OpenQueues>;
}

export interface QueueRoomDeps {
  readonly queues: readonly Pick<SubscriberQueue, 'queue'>[];
  /** The queues' connection, which fails at once while Redis is away. */
  readonly redis: RedisClient;
  readonly now: () => Date;
}

/**
 * Limit for the jobs that no worker has tried yet. This number is enough for the workers until the relay's next round.
 */
const enoughWaiting = 5_000;

/**
 * Limit for all jobs, including those that wait for their next attempt. The limit is above {@link enoughWaiting}, so
 * that a subscriber that keeps refusing some events still gets the others.
 */
const enoughInAll = 20_000;

/**
 * For urgent events the limits of a queue are twice as high, unless the first `enoughAtHead` jobs of the queue are
 * urgent already. Without this exception, urgent events that come faster than a subscriber takes them would keep all
 * other events out.
 */
const urgentShare = 2;
const enoughAtHead = 1_000;

const recentMs = 1_000;

export function createQueueRoom({ queues, redis, now }: QueueRoomDeps): QueueRoom {
  let last: { readonly at: number; readonly opened: Promise<OpenQueues> } | undefined;

  function read(): Promise<OpenQueues> {
    const opened = findOpened(redis, queues);
    last = { at: now().getTime(), opened };
    return opened;
  }

  return {
    read,
    recent: () => (last === undefined || now().getTime() - last.at >= recentMs ? read() : last.opened),
  };
}

async function findOpened(redis: RedisClient, queues: QueueRoomDeps['queues']): Promise<OpenQueues> {
  if (queues.length === 0) await redis.ping();
  const pipeline = redis.pipeline();
  // If a queue's consumers have paused it, its waiting jobs are in a separate list.
  for (const { queue } of queues) {
    pipeline.llen(queue.toKey('wait')).llen(queue.toKey('paused')).zcard(queue.toKey('delayed'));
  }
  const answers = (await pipeline.exec()) ?? [];
  const counts = answers.map(([error, count]) => {
    if (error) throw error;
    return Number(count);
  });
  const openedBy = (share: number) =>
    queues.filter((_, index) => {
      const [wait = 0, paused = 0, delayed = 0] = counts.slice(3 * index, 3 * index + 3);
      return wait + paused < share * enoughWaiting && wait + paused + delayed < share * enoughInAll;
    });
  const namesOf = (some: QueueRoomDeps['queues']) => new Set(some.map(({ queue }) => queue.name));
  const forAll = openedBy(1);
  const isRefused = await Promise.all(
    openedBy(urgentShare).map(async (one) => !forAll.includes(one) && (await isCrowded(redis, one))),
  );
  return { forAll: namesOf(forAll), forUrgent: namesOf(openedBy(urgentShare).filter((_, index) => !isRefused[index])) };
}

/**
 * Returns true if the first {@link enoughAtHead} jobs are urgent. It is enough to look at the last of them, because
 * urgent jobs are put at the head.
 */
async function isCrowded(redis: RedisClient, { queue }: QueueRoomDeps['queues'][number]): Promise<boolean> {
  const id = await redis.lindex(queue.toKey('wait'), -enoughAtHead);
  return id !== null && (await redis.hget(queue.toKey(id), 'name')) === urgentTopic;
}
