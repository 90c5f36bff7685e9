import { reliableWorkerOptions } from '@auth-account/messaging';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import { type Processor, QueueEvents, WaitingError, Worker } from 'bullmq';
import type { ErrorLog } from '../jobs/error-log.ts';
import { type Backoff, createBackoff } from './backoff.ts';

/** Something that takes from a queue until it is closed. */
export interface Consumer {
  start(): void;
  /** Takes nothing more, and resolves when what is under way has ended. */
  close(): Promise<void>;
  /** Ends what is under way early; it is tried again later. */
  abort(): void;
}

/** A consumer whose jobs can be left in the queue for a while. */
export interface HoldableConsumer extends Consumer {
  /** Takes nothing from the queue while there is some reason for that; what is under way goes on. */
  hold(reason: string, isHeld: boolean): void;
}

export interface ConsumerOptions {
  readonly queueName: string;
  /** A connection that waits for Redis; the consumer makes those that block from it, and leaves it open. */
  readonly connection: RedisClient;
  readonly keys: RedisKeys;
  readonly onError: ErrorLog;
}

export interface JobConsumerSettings {
  readonly concurrency: number;
  readonly backoffStrategy?: Backoff;
  /** Why it is held from the beginning. */
  readonly heldFor?: readonly string[];
}

/** Pause after Redis was away, in ms; BullMQ's own is 15 s. */
const runRetryDelay = 500;

/** A BullMQ worker that loses no job, however often it is killed. */
export function createJobConsumer<T, R = void>(
  { queueName, connection, keys, onError }: ConsumerOptions,
  process: Processor<T, R>,
  { concurrency, backoffStrategy = createBackoff(), heldFor = [] }: JobConsumerSettings,
): HoldableConsumer {
  const reasons = new Set(heldFor);
  // BullMQ passes the signal only to a function of three parameters.
  const unlessHeld: Processor<T, R> = async (job, token, signal) => {
    if (reasons.size === 0) return process(job, token, signal);
    // It was asked for before the hold, and came after it.
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
    close: () => worker.close(),
    abort: () => worker.cancelAllJobs('the worker stops'),
  };
}

export interface OutcomeHandlers {
  readonly onCompleted: (jobId: string) => Promise<void>;
  /** The job has failed for good. */
  readonly onFailed: (jobId: string) => Promise<void>;
}

/** Hears how the consumers of a subscriber's queue end its jobs; what it misses the relay finds. */
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
