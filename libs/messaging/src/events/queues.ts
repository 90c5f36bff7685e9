import { type AuthEvent, urgentTopic } from '@auth-account/contracts/events';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import { ProxyTracerProvider, trace } from '@opentelemetry/api';
import { type JobsOptions, Queue, type WorkerOptions } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';
import { mustArrive } from './delivery-rules.ts';

/** A queue of events. Its job ids are {@link eventJobId}s, so adding an event again has no effect. */
export type EventQueue = Queue<AuthEvent, void, string>;

/**
 * Returns the name of a subscriber's queue of a channel. Consumers that shared a queue would compete for its jobs.
 */
export function subscriberQueueName(channel: string, subscriber: string): string {
  return `${channel}.${subscriber}`;
}

const daySeconds = 24 * 60 * 60;

/**
 * Options of the worker. BullMQ's defaults lose events: a job whose worker is killed twice fails as "stalled more than
 * allowable limit", whatever attempts it has left. With these, only its own attempts end a job, and a dead worker is
 * noticed within seconds.
 */
export const reliableWorkerOptions = {
  lockDuration: 5_000,
  stalledInterval: 2_500,
  maxStalledCount: Number.MAX_SAFE_INTEGER,
  ...queueTelemetry(),
} as const satisfies Partial<WorkerOptions>;

/** A job ends by its age, not by its attempts: see the delivery's `giveUpAfterMs`. */
const practicallyUnlimited = 1_000_000;

export const eventJobOptions = {
  attempts: practicallyUnlimited,
  backoff: { type: 'custom' },
  // The outbox records deliveries: a job that is removed too early costs a repeated delivery, but loses no event.
  removeOnComplete: { age: daySeconds, count: 20_000 },
  // The dead letter in MongoDB outlives it.
  removeOnFail: { age: 7 * daySeconds, count: 20_000 },
  // Otherwise every attempt would add its stack.
  stackTraceLimit: 1,
} as const satisfies JobsOptions;

/**
 * Options of jobs that a subscriber consumes itself. Its workers don't know our backoff, so the pauses are BullMQ's own
 * (full jitter up to 1 s · 2^attempt), and the number of attempts makes about a day.
 */
export const consumedJobOptions = {
  ...eventJobOptions,
  attempts: 18,
  backoff: { type: 'exponential', delay: 1_000, jitter: 1 },
} as const satisfies JobsOptions;

/** Options of a job that a subscriber consumes itself and that is tried until it succeeds: 0 to 10 minutes apart. */
const patientJobOptions = {
  attempts: practicallyUnlimited,
  backoff: { type: 'fixed', delay: 600_000, jitter: 1 },
} as const satisfies JobsOptions;

/**
 * Opens a queue for adding only, over a fail-fast connection that the caller closes. It sends no command when it is
 * created: BullMQ remembers a first command that failed, and would refuse every later job.
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
 * Returns the id of the job by which a subscriber gets an event. It contains the event's id. Each replay has another
 * one, because the earlier job may still exist.
 */
export function eventJobId(eventId: string, replayedAt?: Date): string {
  return replayedAt === undefined ? eventId : `${eventId}.${replayedAt.getTime()}`;
}

/** Returns the event's id in an {@link eventJobId}. */
export function eventIdOf(jobId: string): string {
  return jobId.replace(/\.\d+$/, '');
}

/** Returns the replay that an {@link eventJobId} belongs to; undefined for the first delivery. */
export function replayedAtOf(jobId: string): Date | undefined {
  const [, milliseconds] = /\.(\d+)$/.exec(jobId) ?? [];
  return milliseconds === undefined ? undefined : new Date(Number(milliseconds));
}

/** Adds an event to a queue. Repeated calls add it only once. */
export async function addEvent(queue: EventQueue, event: AuthEvent): Promise<void> {
  await queue.add(event.type, event, { jobId: eventJobId(event.id), ...optionsFor(queue, event) });
}

/** An event for a queue, with the trace that its delivery continues. */
export interface EventJob {
  readonly jobId: string;
  readonly event: AuthEvent;
  readonly traceparent: string | undefined;
}

/** Adds events to a queue in one round trip. Repeated calls add each only once. */
export async function addEvents(queue: EventQueue, jobs: readonly EventJob[]): Promise<void> {
  if (jobs.length === 0) return;
  const bulk = jobs.map(({ jobId, event, traceparent }) => ({
    name: event.type,
    data: event,
    opts: { jobId, ...optionsFor(queue, event), ...jobTrace(event.requestid, traceparent) },
  }));
  await queue.addBulk(bulk);
}

/**
 * Options of an event that is urgent, and of one that must arrive, for a queue whose jobs end by their attempts. `lifo`
 * puts a job at the head of its queue, at no cost to others: priorities would cost every job a sorted set.
 */
function optionsFor(queue: EventQueue, event: AuthEvent): JobsOptions {
  if (event.type === urgentTopic) return { lifo: true };
  const isLimited = queue.defaultJobOptions.attempts !== practicallyUnlimited;
  return isLimited && mustArrive(event) ? patientJobOptions : {};
}

/** BullMQ's option to carry traces in its jobs; empty if the process is not traced, which keeps jobs small and fast. */
export function queueTelemetry(): { readonly telemetry?: BullMQOtel } {
  return isTraced() ? { telemetry: new BullMQOtel({ tracerName: 'bullmq' }) } : {};
}

/** Options that put a job into another trace than that of the present code. */
function jobTrace(requestId: string, traceparent: string | undefined): Pick<JobsOptions, 'telemetry'> {
  if (traceparent === undefined || !isTraced()) return {};
  return { telemetry: { metadata: JSON.stringify({ 'x-request-id': requestId, traceparent }) } };
}

function isTraced(): boolean {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider && 'shutdown' in provider.getDelegate();
}
