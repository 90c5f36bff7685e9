import { randomUUID } from 'node:crypto';
import {
  type ForceLogoutCommand,
  type ForceLogoutTarget,
  forceLogoutForms,
  forceLogoutQueue,
} from '@auth-account/contracts/events/force-logout';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import { type JobsOptions, Queue } from 'bullmq';
import { Compile } from 'typebox/schema';
import { eventJobOptions, queueTelemetry } from '../events/queues.ts';
import { faultsOf } from '../faults-of.ts';

/** Result of a forced logout. The worker stores it in the job. */
export interface ForceLogoutResult {
  /** `repeated`: the command had been carried out before, so its sessions were only denied and closed again. */
  readonly kind: 'done' | 'repeated';
  /** Number of sessions that the command ended, now or when it was first carried out. */
  readonly sessions: number;
}

export type ForceLogoutQueue = Queue<ForceLogoutCommand, ForceLogoutResult, string>;

const targets = Object.keys(forceLogoutForms) as ForceLogoutTarget[];

const validators = {
  user_id: Compile(forceLogoutForms.user_id),
  session_id: Compile(forceLogoutForms.session_id),
  home_group_id: Compile(forceLogoutForms.home_group_id),
};

const daySeconds = 24 * 60 * 60;

/**
 * Job options. A forced logout is retried until it has completed, with the worker's pauses. A completed job is kept for
 * seven days. Until then, its id prevents a repetition. A malformed job is kept for operators for a month.
 */
const jobOptions = {
  ...eventJobOptions,
  removeOnComplete: { age: 7 * daySeconds, count: 10_000 },
  removeOnFail: { age: 30 * daySeconds },
} as const satisfies JobsOptions;

/** Reads a job's data. Throws a `TypeError` that names the fault, and never repeats the content. */
export function parseForceLogout(data: unknown): ForceLogoutCommand {
  if (typeof data !== 'object' || data === null) throw new TypeError('the command is not an object');
  const [target, ...others] = targets.filter((name) => (data as Record<string, unknown>)[name] !== undefined);
  if (target === undefined || others.length > 0) {
    throw new TypeError(`the command must have exactly one of ${targets.join(', ')}`);
  }
  const validator = validators[target];
  if (validator.Check(data)) return data;
  const [fault] = faultsOf(forceLogoutForms[target], data);
  throw new TypeError(`the command is malformed: ${fault}`);
}

/**
 * Opens the queue for ordering forced logouts, over a connection that the caller closes. If the connection has
 * `failFastOptions`, an order fails at once when Redis is unreachable.
 */
export function openForceLogoutQueue(connection: RedisClient, keys: RedisKeys): ForceLogoutQueue {
  return new Queue(forceLogoutQueue, {
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
 * Orders a forced logout and returns the job's id. Orders with the same id take effect only once. Orders without an id
 * are independent of each other. Once the job has completed, the sessions have ended.
 *
 * @example
 * await requestForceLogout(queue, { user_id, reason: 'account blocked' }, `block-${incidentId}`);
 *
 * Throws a `TypeError` if the command is malformed, or if the id is empty, is a number or contains a `:`.
 */
export async function requestForceLogout(
  queue: ForceLogoutQueue,
  command: ForceLogoutCommand,
  jobId: string = randomUUID(),
): Promise<string> {
  // BullMQ numbers jobs itself, and separates the parts of its keys by colons.
  if (!/^(?!\d+$)[^:]+$/.test(jobId)) throw new TypeError('a job id must not be empty, a number or have a colon in it');
  await queue.add('force-logout', parseForceLogout(command), { jobId });
  return jobId;
}
