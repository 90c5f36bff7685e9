import { type EventQueue, replayedAtOf } from '@auth-account/messaging';
import type { DeadLetterStore } from '@auth-account/stores';
import type { EventTaker } from '@auth-account/stores/documents';

export interface BuryFailedJobDeps {
  readonly deadLetters: Pick<DeadLetterStore, 'bury'>;
  /** Every subscriber that is configured now. */
  readonly takers: readonly EventTaker[];
}

/**
 * Turns a subscriber's job that has failed for good into a dead letter. It is idempotent and has no effect on any other
 * job.
 */
export type BuryFailedJob = (subscriber: string, queue: EventQueue, jobId: string) => Promise<void>;

/** Limit for a consumer's error that is stored, in characters. */
const errorLimit = 500;

export function createBuryFailedJob({ deadLetters, takers }: BuryFailedJobDeps): BuryFailedJob {
  return async (subscriber, queue, jobId) => {
    const job = await queue.getJob(jobId);
    if (job?.finishedOn === undefined || (await job.getState()) !== 'failed') return;
    await deadLetters.bury({
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
      takers,
    });
  };
}
