import { addEvents, type EventJob, type EventQueue, eventJobId, isExpired } from '@auth-account/messaging';
import type { OutboxDocument } from '@auth-account/stores/documents';
import { activeTraceparent, contextOf, inSpan } from '@auth-account/telemetry';
import type { DeadLetterFailedJob } from '../delivery/dead-letter-failed-job.ts';
import type { SubscriberQueue } from '../delivery/subscriber-queues.ts';

export interface EnqueueDeps {
  readonly deadLetterFailedJob: DeadLetterFailedJob;
  readonly now: () => Date;
}

/** A subscriber's queue, and the topics for which it has capacity. */
export interface EnqueueTarget extends Pick<SubscriberQueue, 'subscriber' | 'queue'> {
  readonly hasCapacityFor: (topic: string) => boolean;
}

/** The leased rows that the subscriber already has or no longer needs, and the rows that must wait. */
export interface Enqueued {
  /** Rows that the subscriber has already. */
  readonly had: readonly OutboxDocument[];
  /** Rows that are not in the subscriber's queue and have expired. */
  readonly expired: readonly OutboxDocument[];
  /** Rows that are not in the subscriber's queue, which is full. */
  readonly heldBack: readonly OutboxDocument[];
}

/**
 * Enqueues rows for a subscriber that does not have them, unless they have expired. An existing job of the same id
 * stays as it is. If that job is completed, the subscriber has the event. If it has failed for good, it becomes a dead
 * letter.
 */
export function createEnqueue({ deadLetterFailedJob, now }: EnqueueDeps) {
  return async (
    rows: readonly OutboxDocument[],
    { subscriber, queue, hasCapacityFor }: EnqueueTarget,
  ): Promise<Enqueued> => {
    const waiting = rows.filter((row) => isWaitedForBy(row, subscriber));
    const jobs = waiting.map((row) => ({ row, jobId: eventJobId(row._id, row.replays?.[subscriber]) }));
    const ids = jobs.map(({ jobId }) => jobId);
    const states = await findJobStates(queue, ids);
    const absent = jobs.filter((_, index) => states[index] === 'missing');
    const at = now();
    const expired = absent.filter(({ row }) => isExpired(row.event, at));
    const missing = absent.filter((job) => !expired.includes(job));
    const added = missing.filter(({ row }) => hasCapacityFor(row.topic));
    const enqueued = added.map(({ row, jobId }) => jobOf(row, subscriber, jobId));
    await addEvents(queue, enqueued);
    const failed = jobs.filter((_, index) => states[index] === 'failed');
    for (const { jobId } of failed) await deadLetterFailedJob(subscriber, queue, jobId);
    const had = jobs.filter((_, index) => states[index] === 'completed');
    const heldBack = missing.filter((job) => !added.includes(job));
    const rowsOf = (some: typeof jobs) => some.map(({ row }) => row);
    return { had: rowsOf(had), expired: rowsOf(expired), heldBack: rowsOf(heldBack) };
  };
}

/** A job's state. An `unfinished` job waits, is under way or will be retried. */
export type JobState = 'missing' | 'unfinished' | 'completed' | 'failed';

/** Finds the states of a queue's jobs. Returns them in the order of `jobIds`. */
export function findJobStates(queue: EventQueue, jobIds: readonly string[]): Promise<JobState[]> {
  return Promise.all(
    jobIds.map(async (id) => {
      // `getJobState` would search the list of waiting jobs.
      const job = await queue.getJob(id);
      if (job === undefined) return 'missing';
      if (job.finishedOn === undefined) return 'unfinished';
      return (await job.isFailed()) ? 'failed' : 'completed';
    }),
  );
}

/** Creates the event's job, in the trace of the event's request, so that the relay is part of that trace. */
function jobOf({ event, attempts }: OutboxDocument, subscriber: string, jobId: string): EventJob {
  const { id, requestid, traceparent } = event;
  const attributes = { 'event.id': id, 'event.subscriber': subscriber, 'outbox.attempts': attempts };
  return inSpan('outbox.relay', { attributes }, contextOf({ requestId: requestid, traceparent }), () => ({
    jobId,
    event,
    traceparent: activeTraceparent(),
  }));
}

/** Returns true if the subscriber should get the event, and has neither the event nor a dead letter of it. */
export function isWaitedForBy(row: OutboxDocument, subscriber: string): boolean {
  const { deliveries, dead, discarded, only_for } = row;
  const isMeant = only_for?.includes(subscriber) ?? true;
  return isMeant && deliveries[subscriber] === undefined && !dead?.[subscriber] && !discarded?.[subscriber];
}
