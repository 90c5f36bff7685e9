import { type AuthEvent, urgentTopic } from '@auth-account/contracts/events';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import { ProxyTracerProvider, trace } from '@opentelemetry/api';
import { type JobsOptions, Queue, type WorkerOptions } from 'bullmq';
import { BullMQOtel } from 'bullmq-otel';
import { mustArrive } from './delivery-rules.ts';

/** A queue of events. Its job ids are {@link eventJobId}s, so adding an event again has no effect. */
export type EventQueue = Queue<AuthEvent, void, string>;

/**
 * Returns the name of a subscriber's queue for a channel. Each subscriber has its own queue, because consumers that
 * share a queue compete for its jobs.
 */
export function subscriberQueueName(channel: string, subscriber: string): string {
  return `${channel}.${subscriber}`;
}

const daySeconds = 24 * 60 * 60;

/**
 * Options of the worker. BullMQ's defaults lose events, because a job whose worker is killed twice fails as "stalled
 * more than allowable limit", however many attempts it has left. With these options a job fails only when its own
 * attempts are used up, and a dead worker is noticed within seconds.
 */
export const reliableWorkerOptions = {
  lockDuration: 5_000,
  stalledInterval: 2_500,
  maxStalledCount: Number.MAX_SAFE_INTEGER,
  ...queueTelemetry(),
} as const satisfies Partial<WorkerOptions>;

/** Delivery ends because of the event's age, not because of the number of attempts: see `giveUpAfterMs`. */
const practicallyUnlimited = 1_000_000;

export const eventJobOptions = {
  attempts: practicallyUnlimited,
  backoff: { type: 'custom' },
  // The outbox records deliveries, so removing a job too early costs a repeated delivery, but loses no event.
  removeOnComplete: { age: daySeconds, count: 20_000 },
  // The dead letter in MongoDB outlives the job.
  removeOnFail: { age: 7 * daySeconds, count: 20_000 },
  // Without this limit, every attempt would add its stack trace to the job.
  stackTraceLimit: 1,
} as const satisfies JobsOptions;

/**
 * Options of jobs that a subscriber consumes itself. Its workers don't know our custom backoff, so the pauses are
 * BullMQ's own (full jitter up to 1 s · 2^attempt). With this number of attempts a job is tried for about a day.
 */
export const consumedJobOptions = {
  ...eventJobOptions,
  attempts: 18,
  backoff: { type: 'exponential', delay: 1_000, jitter: 1 },
} as const satisfies JobsOptions;

/**
 * Options of a job that a subscriber consumes itself. The job is retried until it succeeds, with pauses of 0 to 10
 * minutes.
 */
const patientJobOptions = {
  attempts: practicallyUnlimited,
  backoff: { type: 'fixed', delay: 600_000, jitter: 1 },
} as const satisfies JobsOptions;

/**
 * Opens a queue only for adding jobs, over a fail-fast connection that the caller closes. Opening sends no command,
 * because if a first command failed, BullMQ would remember the failure and refuse every later job.
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
 * Returns the id of the job that delivers an event to a subscriber. It contains the event's id. Each replay has a
 * different job id, because the earlier job may still exist.
 */
export function eventJobId(eventId: string, replayedAt?: Date): string {
  return replayedAt === undefined ? eventId : `${eventId}.${replayedAt.getTime()}`;
}

/** Returns the event's id from an {@link eventJobId}. */
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
 * Returns special options for an urgent event. If the queue's jobs have a limit of attempts, an event that must arrive
 * gets special options too. `lifo` puts a job at the head of its queue at no cost to others, but priorities would put
 * every job into a sorted set.
 */
function optionsFor(queue: EventQueue, event: AuthEvent): JobsOptions {
  if (event.type === urgentTopic) return { lifo: true };
  const isLimited = queue.defaultJobOptions.attempts !== practicallyUnlimited;
  return isLimited && mustArrive(event) ? patientJobOptions : {};
}

/**
 * Returns BullMQ's option to carry traces in its jobs; empty if the process is not traced, so that jobs stay small and
 * fast.
 */
export function queueTelemetry(): { readonly telemetry?: BullMQOtel } {
  return isTraced() ? { telemetry: new BullMQOtel({ tracerName: 'bullmq' }) } : {};
}

/** Returns the options that put a job into the request's trace instead of the current one. */
function jobTrace(requestId: string, traceparent: string | undefined): Pick<JobsOptions, 'telemetry'> {
  if (traceparent === undefined || !isTraced()) return {};
  return { telemetry: { metadata: JSON.stringify({ 'x-request-id': requestId, traceparent }) } };
}

function isTraced(): boolean {
  const provider = trace.getTracerProvider();
  return provider instanceof ProxyTracerProvider && 'shutdown' in provider.getDelegate();
}
