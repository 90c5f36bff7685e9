import { type EventQueue, replayedAtOf } from '@auth-account/messaging';
import type { DeadLetterStore } from '@auth-account/stores';
import type { EventSubscriber } from '@auth-account/stores/documents';

export interface DeadLetterFailedJobDeps {
  readonly deadLetters: Pick<DeadLetterStore, 'add'>;
  /** Every subscriber that is configured now. */
  readonly subscribers: readonly EventSubscriber[];
}

/**
 * Turns a subscriber's job that has failed for good into a dead letter. It is idempotent and has no effect on any other
 * job.
 */
export type DeadLetterFailedJob = (subscriber: string, queue: EventQueue, jobId: string) => Promise<void>;

/** Limit for a consumer's error that is stored, in characters. */
const errorLimit = 500;

export function createDeadLetterFailedJob({ deadLetters, subscribers }: DeadLetterFailedJobDeps): DeadLetterFailedJob {
  return async (subscriber, queue, jobId) => {
    const job = await queue.getJob(jobId);
    if (job?.finishedOn === undefined || (await job.getState()) !== 'failed') return;
    await deadLetters.add({
      event: job.data,
      attempt: {
        subscriber,
        at: new Date(job.finishedOn),
        outcome: 'given_up',
        error: job.failedReason.slice(0, errorLimit),
      },
      attempts: job.attemptsMade,
      since: new Date(job.timestamp),
      replayedAt: replayedAtOf(jobId),
      subscribers,
    });
  };
}
