import { setImmediate as nextTurn } from 'node:timers/promises';
import { eventIdOf, replayedAtOf } from '@auth-account/messaging';
import type { OutboxStore, RecordedAttempt } from '@auth-account/stores';
import type { DeliveryAttempt, EventSubscriber } from '@auth-account/stores/documents';
import type { ErrorLog } from '../runtime/error-log.ts';

/** Records in the outbox how an attempt at a job ended, and resolves when that is done. Never rejects. */
export type RecordAttempt = (jobId: string, attempt: DeliveryAttempt) => Promise<void>;

export interface AttemptRecorderDeps {
  readonly outbox: Pick<OutboxStore, 'record'>;
  /** Every subscriber that is configured now. */
  readonly subscribers: readonly EventSubscriber[];
  readonly onError: ErrorLog;
}

const maximumBatch = 500;

/**
 * Limit for the attempts that wait for a write. It is needed because consumers of queues go on while MongoDB is away.
 */
const maximumWaiting = 10_000;

/**
 * Records attempts. Those that come during a write are written with the next write. So under load one round trip to
 * MongoDB serves many attempts, and without load no attempt waits.
 *
 * Even if MongoDB is away, the event is not delivered again. Its job completes, and the relay, which reads the states
 * of jobs, marks the row later. The same applies to attempts past {@link maximumWaiting}, which are not recorded.
 */
export function createAttemptRecorder({ outbox, subscribers, onError }: AttemptRecorderDeps): RecordAttempt {
  let waiting: { readonly recorded: RecordedAttempt; readonly done: () => void }[] = [];
  let isWriting = false;

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      await nextTurn();
      const batch = waiting.slice(0, maximumBatch);
      waiting = waiting.slice(maximumBatch);
      try {
        const attempts = batch.map(({ recorded }) => recorded);
        await outbox.record(attempts, subscribers);
      } catch (error) {
        onError(error, { event_ids: batch.map(({ recorded }) => recorded.eventId) });
      }
      for (const { done } of batch) done();
    }
    isWriting = false;
  }

  return async (jobId, attempt) => {
    if (waiting.length >= maximumWaiting) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const recorded = { eventId: eventIdOf(jobId), attempt, replayedAt: replayedAtOf(jobId) };
    waiting.push({ recorded, done: resolve });
    if (!isWriting) {
      isWriting = true;
      void write();
    }
    await promise;
  };
}
