import { urgentTopic } from '@auth-account/contracts/events';
import { openEventQueue, reliableWorkerOptions } from '@auth-account/messaging';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import { type Job, type Processor, QueueEvents, WaitingError, Worker } from 'bullmq';
import type { ErrorLog } from '../runtime/error-log.ts';
import { type Backoff, createBackoff, maximumRetryAfterMs } from './backoff.ts';
import type { RetryAfter } from './bring-forward.ts';
import { DeliveryError } from './delivery-error.ts';

/** Consumes a queue until it is closed. */
export interface Consumer {
  start(): void;
  /** Takes no more jobs, and resolves when the jobs under way have ended. */
  close(): Promise<void>;
  /** Aborts the jobs under way; they are tried again later. */
  abort(): void;
}

/** A consumer whose jobs can be left in the queue for a while. */
export interface HoldableConsumer extends Consumer {
  /** Adds or removes a reason. While there is any reason, no job is taken from the queue, but jobs under way go on. */
  hold(reason: string, isHeld: boolean): void;
}

export interface ConsumerOptions {
  readonly queueName: string;
  /** A connection that waits for Redis. The consumer duplicates it for blocking commands, and leaves it open. */
  readonly connection: RedisClient;
  readonly keys: RedisKeys;
  readonly onError: ErrorLog;
}

export interface JobConsumerSettings {
  readonly concurrency: number;
  readonly backoffStrategy?: Backoff;
  /** Reasons for which the consumer is held from the beginning. */
  readonly heldFor?: readonly string[];
}

/** Pause before the consumer runs again after Redis was away, in ms; BullMQ's default is 15 s. */
const runRetryDelay = 500;

/** Creates a BullMQ worker that loses no job, however often it is killed. */
export function createJobConsumer<T, R = void>(
  { queueName, connection, keys, onError }: ConsumerOptions,
  process: Processor<T, R>,
  { concurrency, backoffStrategy = createBackoff(), heldFor = [] }: JobConsumerSettings,
): HoldableConsumer {
  const reasons = new Set(heldFor);
  // BullMQ passes the signal only to a function of three parameters.
  const unlessHeld: Processor<T, R> = async (job, token, signal) => {
    if (reasons.size === 0) {
      return process(job, token, signal)
        .catch((error) => keepRetryAfter(job, error))
        .finally(() => giveTurn(job.name));
    }
    // The consumer asked for the job before the hold began, and got it afterwards.
    await job.moveToWait(token);
    throw new WaitingError();
  };
  const worker = new Worker<T, R>(queueName, unlessHeld, {
    ...reliableWorkerOptions,
    connection,
    prefix: keys.queuePrefix,
    concurrency,
    autorun: false,
    runRetryDelay,
    settings: { backoffStrategy },
  });
  const report = (error: unknown) => onError(error, { queue: queueName });
  worker.on('error', report);
  /** Stores how long the subscriber has asked to wait, so that no recovery brings the job forward before. */
  const keepRetryAfter = async (job: Job<T, R>, error: unknown): Promise<never> => {
    const { retryAfterMs = 0 } = error instanceof DeliveryError ? error : {};
    if (retryAfterMs > 0) {
      const asked: RetryAfter = { notBefore: Date.now() + Math.min(retryAfterMs, maximumRetryAfterMs) };
      await job.updateProgress({ ...asked }).catch(report);
    }
    throw error;
  };
  const queue = openEventQueue(queueName, connection, keys);
  queue.on('error', report);
  const giveTurn = createTurns(async () => {
    const [newest] = await queue.getJobs(['wait'], 0, 0);
    await newest?.changePriority({ lifo: true });
  }, report);
  let isStarted = false;

  function apply(): void {
    if (!isStarted || worker.closing !== undefined) return;
    if (reasons.size > 0) worker.pause(true).catch(report);
    else if (worker.isPaused()) worker.resume().catch(report);
    else if (!worker.isRunning()) worker.run().catch(report);
  }

  return {
    start() {
      isStarted = true;
      apply();
    },
    hold(reason, isHeld) {
      if (reasons.has(reason) === isHeld) return;
      if (isHeld) reasons.add(reason);
      else reasons.delete(reason);
      apply();
    },
    async close() {
      await worker.close();
      await queue.close();
    },
    abort: () => worker.cancelAllJobs('the worker stops'),
  };
}

/** Number of urgent jobs in a row after which another job is next. */
const urgentInARow = 4;

/**
 * Creates the function to call at the end of each job, before the next one is taken. Urgent jobs are put at the head of
 * their queue. If urgent jobs come faster than they are taken, other jobs would never be taken. So from time to time
 * `advance` moves the job at the tail, which is the newest of the other jobs, to the head.
 */
function createTurns(advance: () => Promise<void>, report: (error: unknown) => void): (topic: string) => Promise<void> {
  let inARow = 0;
  return async (topic) => {
    inARow = topic === urgentTopic ? inARow + 1 : 0;
    if (inARow < urgentInARow) return;
    inARow = 0;
    await advance().catch(report);
  };
}

export interface OutcomeHandlers {
  readonly onCompleted: (jobId: string) => Promise<void>;
  /** Called if the job has failed for good. */
  readonly onFailed: (jobId: string) => Promise<void>;
}

/**
 * Listens for the outcomes of the jobs in a subscriber's own queue. The relay finds the outcomes that this consumer
 * misses.
 */
export function createOutcomeConsumer(
  { queueName, connection, keys, onError }: ConsumerOptions,
  { onCompleted, onFailed }: OutcomeHandlers,
): Consumer {
  const report = (error: unknown) => onError(error, { queue: queueName });
  const events = new QueueEvents(queueName, { connection, prefix: keys.queuePrefix, autorun: false });
  events.on('error', report);
  events.on('completed', ({ jobId }) => void onCompleted(jobId).catch(report));
  events.on('failed', ({ jobId }) => void onFailed(jobId).catch(report));
  return {
    start() {
      events.run().catch(report);
    },
    close: () => events.close(),
    abort: () => undefined,
  };
}
