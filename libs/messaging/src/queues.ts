import type { RegisteredEvent } from '@auth-account/contracts';
import { type JobsOptions, Queue, type WorkerOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import type { RedisKeys } from './redis-keys.ts';

/** A queue of events; its jobs' ids are the events' ids, so that adding one again changes nothing. */
export type EventQueue = Queue<RegisteredEvent, void, string>;

/** The queue that feeds one subscriber of a topic: consumers that share a queue would compete for its jobs. */
export function subscriberQueueName(topic: string, subscriber: string): string {
  return `${topic}.${subscriber}`;
}

const daySeconds = 24 * 60 * 60;

/**
 * BullMQ's defaults lose events: a worker killed twice ends a job as "stalled more than allowable limit", whatever
 * attempts it has left. Here a job ends by its own attempts only, and a dead worker is noticed within seconds.
 */
export const reliableWorkerOptions = {
  lockDuration: 5_000,
  stalledInterval: 2_500,
  maxStalledCount: Number.MAX_SAFE_INTEGER,
} as const satisfies Partial<WorkerOptions>;

/** Attempts do not end a job, its age does: see the delivery's `giveUpAfterMs`. */
const practicallyUnlimited = 1_000_000;

export const eventJobOptions = {
  attempts: practicallyUnlimited,
  backoff: { type: 'custom' },
  removeOnComplete: { age: daySeconds },
  removeOnFail: false,
  // Every attempt adds its stack otherwise.
  stackTraceLimit: 1,
} as const satisfies JobsOptions;

/**
 * Of jobs that a subscriber consumes itself: its workers know no strategy of ours, so the pauses are BullMQ's own (full
 * jitter up to 1 s · 2^attempt), and their number stands for about a day.
 */
export const consumedJobOptions = {
  ...eventJobOptions,
  attempts: 18,
  backoff: { type: 'exponential', delay: 1_000, jitter: 1 },
} as const satisfies JobsOptions;

/**
 * A queue that only adds, over a fail-fast connection of the caller's, which stays the caller's to close. It asks the
 * server nothing when it is made: BullMQ remembers a first question that failed and would refuse every job ever after.
 */
export function openEventQueue(
  name: string,
  connection: Redis,
  keys: RedisKeys,
  jobOptions: JobsOptions = eventJobOptions,
): EventQueue {
  return new Queue(name, {
    connection,
    prefix: keys.queuePrefix,
    defaultJobOptions: jobOptions,
    skipWaitingForReady: true,
    skipVersionCheck: true,
    skipMetasUpdate: true,
  });
}

/** Puts an event on a queue, once however often it is called. */
export async function addEvent(queue: EventQueue, event: RegisteredEvent): Promise<void> {
  await queue.add(event.type, event, { jobId: event.id });
}
