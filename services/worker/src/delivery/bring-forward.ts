import type { EventQueue } from '@auth-account/messaging';

/** Span of time by the host's clock, in ms since the epoch. BullMQ's times are by that clock too. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

export interface BringForwardDeps {
  /** Queues of one subscriber, over a connection that fails at once while Redis is away. */
  readonly queues: readonly EventQueue[];
  /** The host's clock, in ms since the epoch. */
  readonly hostNow: () => number;
}

/**
 * Brings the jobs forward whose latest attempt began within the span, and returns their number. Rejects if Redis is
 * away; a repetition then does the rest.
 */
export type BringForward = (span: Span) => Promise<number>;

/** Progress of a job whose subscriber has asked by `Retry-After` to wait until then, in ms since the epoch. */
export interface RetryAfter {
  readonly notBefore: number;
}

/** Pause between two events that are brought forward, so that they come evenly, and the limit for all of them, in ms. */
const stepMs = 50;
const maxSpreadMs = 120_000;

const chunkSize = 500;

type EventJob = Awaited<ReturnType<EventQueue['getDelayed']>>[number];

/**
 * Brings a subscriber's delayed jobs forward. The oldest event comes at once and the others at even intervals. No job
 * comes later than it would have, and none before the subscriber's `Retry-After` is over. So several workers may do
 * this at once.
 */
export function createBringForward({ queues, hostNow }: BringForwardDeps): BringForward {
  return async (span) => {
    const waiting = (await Promise.all(queues.map((queue) => findWaiting(queue, span)))).flat();
    // Ids of events begin with their time.
    waiting.sort((one, other) => (String(one.id) < String(other.id) ? -1 : 1));
    const pause = Math.min(stepMs, maxSpreadMs / waiting.length);
    const begin = hostNow();
    const times = waiting.map((job, index) => ({ job, at: Math.max(begin + index * pause, notBeforeOf(job)) }));
    let moved = 0;
    for (const some of chunksOf(times)) {
      const areMoved = await Promise.all(some.map(({ job, at }) => moveForward(job, at, hostNow)));
      moved += areMoved.filter(Boolean).length;
    }
    return moved;
  };
}

async function findWaiting(queue: EventQueue, { from, until }: Span): Promise<EventJob[]> {
  const count = await queue.getDelayedCount();
  const found: EventJob[] = [];
  for (let start = 0; start < count; start += chunkSize)
    found.push(...(await queue.getDelayed(start, start + chunkSize - 1)));
  return found.filter(({ processedOn = 0 }) => processedOn >= from && processedOn < until);
}

function notBeforeOf({ progress }: EventJob): number {
  return (progress as Partial<RetryAfter>).notBefore ?? 0;
}

/** Returns true if the job comes earlier now. A job that a worker has taken stays with it. */
async function moveForward(job: EventJob, at: number, hostNow: () => number): Promise<boolean> {
  // The pause began when the attempt ended, so the job is due at this time or later.
  const due = (job.processedOn ?? 0) + job.delay;
  if (at >= due) return false;
  try {
    await job.changeDelay(Math.max(Math.round(at - hostNow()), 0));
    return true;
  } catch (error) {
    if (await job.isDelayed()) throw error;
    return false;
  }
}

function chunksOf<T>(items: readonly T[]): T[][] {
  const starts = Array.from({ length: Math.ceil(items.length / chunkSize) }, (_, index) => index * chunkSize);
  return starts.map((start) => items.slice(start, start + chunkSize));
}
