import type { RegisteredEvent } from '@auth-account/contracts';
import type { OutboxStore } from '@auth-account/stores';
import type { Logger } from '@auth-account/telemetry';
import { type Job, UnrecoverableError } from 'bullmq';
import type { WorkerMetrics } from '../metrics.ts';
import type { MarkDelivered } from './mark-delivered.ts';
import type { SendEvent } from './webhook.ts';

export interface DeliverEventDeps {
  readonly subscriber: string;
  readonly send: SendEvent;
  readonly mark: MarkDelivered;
  readonly noteError: OutboxStore['noteError'];
  readonly giveUpAfterMs: number;
  readonly metrics: Pick<WorkerMetrics, 'deliveries' | 'deliveryDuration'>;
  readonly logger: Logger;
  readonly now: () => Date;
}

type EventJob = Pick<Job<RegisteredEvent>, 'data' | 'timestamp' | 'attemptsMade'>;

/**
 * Makes the processor of a webhook's queue: one attempt to deliver one event. The outbox row is marked before the job
 * completes, so that a worker killed in between delivers again and loses nothing. Throws what the delivery threw, or
 * `UnrecoverableError` once the job is older than `giveUpAfterMs`.
 */
export function createDeliverEvent(deps: DeliverEventDeps) {
  const { subscriber, send, mark, noteError, giveUpAfterMs, metrics, logger, now } = deps;

  async function fail({ data, timestamp, attemptsMade }: EventJob, error: unknown): Promise<never> {
    const givenUp = now().getTime() - timestamp >= giveUpAfterMs;
    const message = error instanceof Error ? error.message : String(error);
    const context = { subscriber, event_id: data.id, request_id: data.requestid };
    metrics.deliveries.inc({ subscriber, outcome: givenUp ? 'given_up' : 'failed' });
    logger.warn({ ...context, err: error, attempt: attemptsMade + 1, givenUp }, 'event not delivered');
    await noteError(data.id, `${subscriber}: ${givenUp ? 'given up: ' : ''}${message}`).catch(
      (noteFailure: unknown) => {
        logger.warn({ ...context, err: noteFailure }, 'the error could not be noted in the outbox');
      },
    );
    throw givenUp ? new UnrecoverableError(message) : error;
  }

  // BullMQ passes the signal only to a function of three parameters.
  return async (job: EventJob, _token: string | undefined, stop: AbortSignal | undefined): Promise<void> => {
    const end = metrics.deliveryDuration.startTimer({ subscriber });
    try {
      await send(job.data, stop ?? new AbortController().signal);
    } catch (error) {
      return await fail(job, error);
    } finally {
      end();
    }
    metrics.deliveries.inc({ subscriber, outcome: 'delivered' });
    await mark(subscriber, job.data.id);
  };
}
