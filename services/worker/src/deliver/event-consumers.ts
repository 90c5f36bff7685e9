import { type RedisKeys, reliableWorkerOptions } from '@auth-account/messaging';
import { type Processor, QueueEvents, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { ErrorLog } from '../error-log.ts';
import { type Backoff, createBackoff } from './backoff.ts';
import type { MarkDelivered } from './mark-delivered.ts';

/** Something that takes from a queue until it is closed. */
export interface Consumer {
  start(): void;
  /** Takes nothing more, and resolves when what is under way has ended. */
  close(): Promise<void>;
  /** Ends what is under way early; it is tried again later. */
  abort(): void;
}

export interface ConsumerOptions {
  readonly queueName: string;
  /** A connection that waits for Redis; the consumer makes those that block from it, and leaves it open. */
  readonly connection: Redis;
  readonly keys: RedisKeys;
  readonly onError: ErrorLog;
}

/** Pause after Redis was away, in ms; BullMQ's own is 15 s. */
const runRetryDelay = 500;

/** A BullMQ worker that loses no job, however often it is killed. */
export function createJobConsumer<T>(
  { queueName, connection, keys, onError }: ConsumerOptions,
  process: Processor<T, void>,
  concurrency: number,
  backoffStrategy: Backoff = createBackoff(),
): Consumer {
  const worker = new Worker<T, void>(queueName, process, {
    ...reliableWorkerOptions,
    connection,
    prefix: keys.queuePrefix,
    concurrency,
    autorun: false,
    runRetryDelay,
    settings: { backoffStrategy },
  });
  worker.on('error', (error) => onError(error, { queue: queueName }));
  return {
    start() {
      worker.run().catch((error: unknown) => onError(error, { queue: queueName }));
    },
    close: () => worker.close(),
    abort: () => worker.cancelAllJobs('the worker stops'),
  };
}

/** Marks what the consumers of a subscriber's queue have completed; what it misses the relay finds. */
export function createCompletionConsumer(
  { queueName, connection, keys, onError }: ConsumerOptions,
  subscriber: string,
  mark: MarkDelivered,
): Consumer {
  const events = new QueueEvents(queueName, { connection, prefix: keys.queuePrefix, autorun: false });
  events.on('error', (error) => onError(error, { queue: queueName }));
  events.on('completed', ({ jobId }) => void mark(subscriber, jobId));
  return {
    start() {
      events.run().catch((error: unknown) => onError(error, { queue: queueName }));
    },
    close: () => events.close(),
    abort: () => undefined,
  };
}
