import { urgentTopic } from '@auth-account/contracts/events';
import type { RedisClient } from '@auth-account/redis';
import type { SubscriberQueue } from './subscriber-queues.ts';

/** Names of the queues with capacity. */
export interface OpenQueues {
  readonly forAll: ReadonlySet<string>;
  /** Queues with capacity for urgent events, for which the limits are higher. They include {@link forAll}. */
  readonly forUrgent: ReadonlySet<string>;
}

/** Returns true if there is capacity for an event of the topic. */
export function hasCapacity({ forAll, forUrgent }: OpenQueues, queueName: string, topic: string): boolean {
  return (topic === urgentTopic ? forUrgent : forAll).has(queueName);
}

/**
 * The queues that have capacity. Events for the others stay in the outbox, so that Redis does not grow without bound.
 */
export interface QueueCapacity {
  /** Counts the jobs, and returns the queues with capacity. Rejects if Redis is away. */
  read(): Promise<OpenQueues>;
  /**
   * Returns the result of the last {@link read} if it is less than a second old, otherwise the result of a new read.
   */
  recent(): Promise<OpenQueues>;
}

export interface QueueCapacityDeps {
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

export function createQueueCapacity({ queues, redis, now }: QueueCapacityDeps): QueueCapacity {
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

async function findOpened(redis: RedisClient, queues: QueueCapacityDeps['queues']): Promise<OpenQueues> {
  if (queues.length === 0) await redis.ping();
  const found = await Promise.all(
    queues.map(async ({ queue }) => {
      const { wait = 0, delayed = 0 } = await queue.getJobCounts('wait', 'delayed');
      const hasCapacityOf = (share: number) => wait < share * enoughWaiting && wait + delayed < share * enoughInAll;
      const forAll = hasCapacityOf(1);
      return {
        name: queue.name,
        forAll,
        forUrgent: forAll || (hasCapacityOf(urgentShare) && !(await isCrowded(queue))),
      };
    }),
  );
  const namesOf = (some: typeof found) => new Set(some.map(({ name }) => name));
  return {
    forAll: namesOf(found.filter(({ forAll }) => forAll)),
    forUrgent: namesOf(found.filter(({ forUrgent }) => forUrgent)),
  };
}

/**
 * Returns true if the first {@link enoughAtHead} jobs are urgent. It is enough to look at the last of them, because
 * urgent jobs are put at the head.
 */
async function isCrowded(queue: SubscriberQueue['queue']): Promise<boolean> {
  const [last] = await queue.getWaiting(enoughAtHead - 1, enoughAtHead - 1);
  return last?.name === urgentTopic;
}
