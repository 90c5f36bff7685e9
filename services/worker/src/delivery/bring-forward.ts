import type { EventQueue } from '@auth-account/messaging';
import type { RedisClient } from '@auth-account/redis';

/** Span of time by the host's clock, in ms since the epoch. BullMQ's times are by that clock too. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

export interface BringForwardDeps {
  /** The queues' connection, which fails at once while Redis is away. */
  readonly redis: RedisClient;
  /** Queues of one subscriber. */
  readonly queues: readonly EventQueue[];
  /** The host's clock, in ms since the epoch. */
  readonly hostNow: () => number;
}

/**
 * Brings the jobs forward whose latest attempt began within the span, and returns their number. Rejects if Redis is
 * away; a repetition then does the rest.
 */
export type BringForward = (span: Span) => Promise<number>;

/** Field of a job with the time until which the subscriber's `Retry-After` has asked to wait, in ms since the epoch. */
export const notBeforeField = 'notBefore';

/** Pause between two events that are brought forward, so that they come evenly, and the limit for all of them, in ms. */
const stepMs = 50;
const longestSpreadMs = 120_000;

/** BullMQ's score of a delayed job is its time in ms, times this number, plus a counter. */
const scorePerMs = 0x1000;

const chunkSize = 500;

interface WaitingJob {
  readonly queue: EventQueue;
  readonly id: string;
  readonly notBefore: number;
}

/**
 * Creates the function that brings a subscriber's delayed jobs forward. The oldest event comes at once and the others
 * at even intervals. No job comes later than it would have, and none before the subscriber's `Retry-After` is over. So
 * several workers may do this at once.
 */
export function createBringForward({ redis, queues, hostNow }: BringForwardDeps): BringForward {
  return async (span) => {
    const waiting = (await Promise.all(queues.map((queue) => findWaiting(redis, queue, span)))).flat();
    // Ids of events begin with their time.
    waiting.sort((one, other) => (one.id < other.id ? -1 : 1));
    const pause = Math.min(stepMs, longestSpreadMs / waiting.length);
    const begin = hostNow();
    const times = new Map(waiting.map((job, index) => [job, Math.max(begin + index * pause, job.notBefore)]));
    const moved = queues.map((queue) => {
      const own = waiting.filter((job) => job.queue === queue);
      return moveForward(
        redis,
        queue,
        own.map((job) => ({ id: job.id, at: times.get(job) ?? begin })),
      );
    });
    return (await Promise.all(moved)).reduce((sum, count) => sum + count, 0);
  };
}

async function findWaiting(redis: RedisClient, queue: EventQueue, { from, until }: Span): Promise<WaitingJob[]> {
  const ids = await redis.zrange(queue.toKey('delayed'), '0', '-1');
  const found: WaitingJob[] = [];
  for (const some of chunksOf(ids)) {
    const pipeline = redis.pipeline();
    for (const id of some) pipeline.hmget(queue.toKey(id), 'processedOn', notBeforeField);
    const answers = (await pipeline.exec()) ?? [];
    for (const [index, [error, fields]] of answers.entries()) {
      if (error) throw error;
      const [begun, notBefore] = (fields as (string | null)[]).map(Number);
      const id = some[index];
      if (id !== undefined && begun !== undefined && begun >= from && begun < until)
        found.push({ queue, id, notBefore: notBefore ?? 0 });
    }
  }
  return found;
}

async function moveForward(
  redis: RedisClient,
  queue: EventQueue,
  jobs: readonly { readonly id: string; readonly at: number }[],
): Promise<number> {
  let moved = 0;
  for (const some of chunksOf(jobs)) {
    const scores = some.flatMap(({ id, at }) => [String(Math.floor(at) * scorePerMs), id]);
    // A job that has left the set, because a worker has taken it, stays out of it.
    moved += Number(await redis.zadd(queue.toKey('delayed'), 'XX', 'LT', 'CH', ...scores));
  }
  // Wakes a worker that sleeps until the former time.
  if (moved > 0) await redis.zadd(queue.toKey('marker'), '0', '0');
  return moved;
}

function chunksOf<T>(items: readonly T[]): T[][] {
  const starts = Array.from({ length: Math.ceil(items.length / chunkSize) }, (_, index) => index * chunkSize);
  return starts.map((start) => items.slice(start, start + chunkSize));
}
