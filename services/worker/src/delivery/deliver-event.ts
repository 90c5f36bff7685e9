import type { AuthEvent } from '@auth-account/contracts/events';
import { isExpired, mustArrive, replayedAtOf } from '@auth-account/messaging';
import type { DeadLetterStore } from '@auth-account/stores';
import type { DeliveryAttempt, EventSubscriber } from '@auth-account/stores/documents';
import { exemplarLabels, type Logger, withSpan } from '@auth-account/telemetry';
import { type Job, UnrecoverableError } from 'bullmq';
import type { WorkerMetrics } from '../runtime/metrics.ts';
import type { RecordAttempt } from './attempt-recorder.ts';
import { DeliveryError } from './delivery-error.ts';
import type { Suspension } from './suspension.ts';

/**
 * Delivers one event and returns the answer's HTTP status, if there is one. Throws {@link DeliveryError} if the
 * subscriber did not accept it.
 */
export type SendEvent = (event: AuthEvent, stop: AbortSignal) => Promise<number | undefined>;

export interface DeliverEventDeps {
  readonly subscriber: string;
  /** Every subscriber that is configured now. */
  readonly subscribers: readonly EventSubscriber[];
  readonly send: SendEvent;
  /** Called for each event that is dropped because it has expired. */
  readonly onExpired?: (event: AuthEvent) => void;
  readonly record: RecordAttempt;
  readonly deadLetters: Pick<DeadLetterStore, 'add'>;
  readonly suspension: Pick<Suspension, 'suspend' | 'resumedAt'>;
  /** Called if the subscriber answered 429 with Retry-After, so that the subscriber gets no events for this time. */
  readonly onThrottled: (ms: number) => void;
  readonly giveUpAfterMs: number;
  readonly metrics: Pick<WorkerMetrics, 'deliveries' | 'deliveryDuration' | 'expired'>;
  readonly logger: Logger;
  readonly now: () => Date;
}

/** Dependencies that all kinds of delivery share. */
export interface AttemptDeps extends Omit<DeliverEventDeps, 'subscriber' | 'send' | 'onThrottled' | 'onExpired'> {
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly concurrency: number;
  readonly metrics: WorkerMetrics;
}

type FailedAttempt = DeliveryAttempt & { readonly error: string };

type EventJob = Pick<Job<AuthEvent>, 'id' | 'data' | 'timestamp' | 'attemptsMade'>;

/**
 * Makes one attempt to deliver one event of a subscriber's queue. It marks the event's outbox row before the job
 * completes, so that an event is delivered again, and not lost, if the worker is killed in between. It throws the
 * delivery's error, or `UnrecoverableError` once the job is older than `giveUpAfterMs` and its dead letter exists. A
 * subscriber that answers 410 Gone is suspended, and its events are not given up. An event that must arrive is never
 * given up either. An expired event is dropped.
 */
export function createDeliverEvent(deps: DeliverEventDeps) {
  const { subscriber, send, record, metrics, now } = deps;
  const fail = createFailure(deps);

  /** Measures an attempt and returns its duration in ms. */
  function observeSince(start: number): number {
    const ms = performance.now() - start;
    const labels = { subscriber };
    metrics.deliveryDuration.observe({ labels, value: ms / 1_000, exemplarLabels: exemplarLabels() });
    return Math.round(ms);
  }

  // BullMQ passes the signal only to a function of three parameters.
  return async (job: EventJob, _token: string | undefined, stop: AbortSignal | undefined): Promise<void> => {
    const jobId = job.id ?? job.data.id;
    if (isExpired(job.data, now())) {
      metrics.expired.inc({ subscriber });
      deps.onExpired?.(job.data);
      await record(jobId, { subscriber, at: now(), outcome: 'expired' });
      return;
    }
    const start = performance.now();
    let status: number | undefined;
    try {
      const attributes = {
        'event.id': job.data.id,
        'event.type': job.data.type,
        'event.subscriber': subscriber,
        'event.attempt': job.attemptsMade + 1,
      };
      const signal = stop ?? new AbortController().signal;
      status = await withSpan('event.deliver', { attributes }, () => send(job.data, signal));
    } catch (error) {
      return await fail(job, error, observeSince(start));
    }
    const duration_ms = observeSince(start);
    metrics.deliveries.inc({ subscriber, outcome: 'delivered' });
    await record(jobId, { subscriber, at: now(), outcome: 'delivered', ...answered(status), duration_ms });
  };
}

function answered(status: number | undefined): Pick<DeliveryAttempt, 'status'> {
  return status === undefined ? {} : { status };
}

/** Handles a failed attempt: records it and always throws. */
function createFailure(deps: DeliverEventDeps) {
  const { subscriber, record, suspension, giveUpAfterMs, metrics, logger, now } = deps;

  function attemptOf(error: unknown, status: number | undefined, duration_ms: number): FailedAttempt {
    const message = error instanceof Error ? error.message : String(error);
    return { subscriber, at: now(), outcome: 'failed', ...answered(status), error: message, duration_ms };
  }

  /** Returns true if there is a dead letter. If MongoDB is away, this counts as another failed attempt. */
  async function deadLetter({ id, data, attemptsMade, timestamp }: EventJob, attempt: FailedAttempt): Promise<boolean> {
    const last = { ...attempt, outcome: 'given_up' } as const;
    const { subscribers } = deps;
    const givenUp = {
      event: data,
      attempt: last,
      attempts: attemptsMade + 1,
      since: new Date(timestamp),
      replayedAt: replayedAtOf(id ?? data.id),
      subscribers,
    };
    try {
      await deps.deadLetters.add(givenUp);
      return true;
    } catch (failure) {
      logger.warn({ subscriber, event_id: data.id, err: failure }, 'the dead letter could not be written');
      return false;
    }
  }

  async function suspend(eventId: string): Promise<void> {
    try {
      await suspension.suspend(subscriber, eventId);
    } catch (failure) {
      logger.warn({ subscriber, event_id: eventId, err: failure }, 'the suspension could not be recorded');
    }
  }

  return async function fail(job: EventJob, error: unknown, durationMs: number): Promise<never> {
    const { data, timestamp, attemptsMade } = job;
    const { status, retryAfterMs } = error instanceof DeliveryError ? error : {};
    const attempt = attemptOf(error, status, durationMs);
    const isGone = status === 410;
    const isOld = now().getTime() - Math.max(timestamp, suspension.resumedAt(subscriber)) >= giveUpAfterMs;
    const givenUp = isOld && !isGone && !mustArrive(data) && (await deadLetter(job, attempt));
    metrics.deliveries.inc({ subscriber, outcome: givenUp ? 'given_up' : 'failed' });
    const context = { subscriber, event_id: data.id, request_id: data.requestid };
    logger.warn({ ...context, err: error, attempt: attemptsMade + 1, givenUp }, 'event not delivered');
    if (givenUp) throw new UnrecoverableError(attempt.error);
    if (isGone) await suspend(data.id);
    if (status === 429 && retryAfterMs !== undefined) deps.onThrottled(retryAfterMs);
    await record(job.id ?? data.id, attempt);
    throw error;
  };
}
