import type { RegisteredEvent } from '@auth-account/contracts';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import { ProxyTracerProvider, trace } from '@opentelemetry/api';
import { type JobsOptions, Queue, type WorkerOptions } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';

/** A queue of events; its jobs' ids are {@link eventJobId}s, so that adding one again changes nothing. */
export type EventQueue = Queue<RegisteredEvent, void, string>;

/** The queue that feeds one subscriber of a topic: consumers that share a queue would compete for its jobs. */
export function subscriberQueueName(topic: string, subscriber: string): string {
  return `${topic}.${subscriber}`;
}

const daySeconds = 24 * 60 * 60;

/**
 * BullMQ's defaults lose events: a worker killed twice ends a job as "stalled more than allowable limit", whatever
 * attempts it has left. Here a job ends by its own attempts only, and a dead worker is noticed within seconds.
 */
export const reliableWorkerOptions = {
  lockDuration: 5_000,
  stalledInterval: 2_500,
  maxStalledCount: Number.MAX_SAFE_INTEGER,
  ...queueTelemetry(),
} as const satisfies Partial<WorkerOptions>;

/** Attempts do not end a job, its age does: see the delivery's `giveUpAfterMs`. */
const practicallyUnlimited = 1_000_000;

export const eventJobOptions = {
  attempts: practicallyUnlimited,
  backoff: { type: 'custom' },
  // The outbox knows what is delivered: a job that went too early costs a repeated delivery, no event.
  removeOnComplete: { age: daySeconds, count: 20_000 },
  // The dead letter in MongoDB outlives it.
  removeOnFail: { age: 7 * daySeconds, count: 20_000 },
  // Every attempt adds its stack otherwise.
  stackTraceLimit: 1,
} as const satisfies JobsOptions;

/**
 * Of jobs that a subscriber consumes itself: its workers know no strategy of ours, so the pauses are BullMQ's own (full
 * jitter up to 1 s · 2^attempt), and their number stands for about a day.
 */
export const consumedJobOptions = {
  ...eventJobOptions,
  attempts: 18,
  backoff: { type: 'exponential', delay: 1_000, jitter: 1 },
} as const satisfies JobsOptions;

/**
 * A queue that only adds, over a fail-fast connection of the caller's, which stays the caller's to close. It asks the
 * server nothing when it is made: BullMQ remembers a first question that failed and would refuse every job ever after.
 */
export function openEventQueue(
  name: string,
  connection: RedisClient,
  keys: RedisKeys,
  jobOptions: JobsOptions = eventJobOptions,
): EventQueue {
  return new Queue(name, {
    connection,
    prefix: keys.queuePrefix,
    defaultJobOptions: jobOptions,
    skipWaitingForReady: true,
    skipVersionCheck: true,
    skipMetasUpdate: true,
    ...queueTelemetry(),
  });
}

/**
 * Id of the job by which a subscriber gets an event: the event's, and that of each replay another, as the job before it
 * may still be there.
 */
export function eventJobId(eventId: string, replayedAt?: Date): string {
  return replayedAt === undefined ? eventId : `${eventId}.${replayedAt.getTime()}`;
}

/** The event's id in an {@link eventJobId}. */
export function eventIdOf(jobId: string): string {
  return jobId.replace(/\.\d+$/, '');
}

/** The replay that an {@link eventJobId} belongs to; undefined for the first delivery. */
export function replayedAtOf(jobId: string): Date | undefined {
  const [, milliseconds] = /\.(\d+)$/.exec(jobId) ?? [];
  return milliseconds === undefined ? undefined : new Date(Number(milliseconds));
}

/** Puts an event on a queue, once however often it is called. */
export async function addEvent(queue: EventQueue, event: RegisteredEvent): Promise<void> {
  await queue.add(event.type, event, { jobId: eventJobId(event.id) });
}

/** An event for a queue, with the trace that it goes on in. */
export interface EventJob {
  readonly jobId: string;
  readonly event: RegisteredEvent;
  readonly traceparent: string | undefined;
}

/** Puts events on a queue in one round trip, each once however often it is called. */
export async function addEvents(queue: EventQueue, jobs: readonly EventJob[]): Promise<void> {
  if (jobs.length === 0) return;
  const bulk = jobs.map(({ jobId, event, traceparent }) => ({
    name: event.type,
    data: event,
    opts: { jobId, ...jobTrace(event.requestid, traceparent) },
  }));
  await queue.addBulk(bulk);
}

/**
 * BullMQ's option to carry traces in its jobs; nothing where the process is not traced, so that jobs stay as small and as
 * quick as they are without.
 */
export function queueTelemetry(): { readonly telemetry?: BullMQOtel } {
  return isTraced() ? { telemetry: new BullMQOtel({ tracerName: 'bullmq' }) } : {};
}

/** Options that put a job into another trace than its adder's. */
function jobTrace(requestId: string, traceparent: string | undefined): Pick<JobsOptions, 'telemetry'> {
  if (traceparent === undefined || !isTraced()) return {};
  return { telemetry: { metadata: JSON.stringify({ 'x-request-id': requestId, traceparent }) } };
}

function isTraced(): boolean {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider && 'shutdown' in provider.getDelegate();
}
