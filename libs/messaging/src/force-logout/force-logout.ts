import { randomUUID } from 'node:crypto';
import {
  type ForceLogoutCommand,
  type ForceLogoutTarget,
  forceLogoutForms,
  forceLogoutQueue,
} from '@auth-account/contracts';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import { type JobsOptions, Queue } from 'bullmq';
import { Compile } from 'typebox/compile';
import { eventJobOptions, queueTelemetry } from '../events/queues.ts';

/** What a forced logout has done; the worker leaves it with the job. */
export interface ForceLogoutResult {
  /** `repeated`: it had been carried out before, and was only announced again. */
  readonly kind: 'done' | 'repeated';
  /** How many sessions the command ended, now or when it was first carried out. */
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
 * Tried until it is done, with the worker's pauses. For an operator to see, what was done stays for as long as its id has
 * effect once, and what is malformed for a month.
 */
const jobOptions = {
  ...eventJobOptions,
  removeOnComplete: { age: 7 * daySeconds, count: 10_000 },
  removeOnFail: { age: 30 * daySeconds },
} as const satisfies JobsOptions;

/**
 * Reads a job's data. Throws a `TypeError` that says what is wrong with it, and never repeats what it holds.
 */
export function parseForceLogout(data: unknown): ForceLogoutCommand {
  if (typeof data !== 'object' || data === null) throw new TypeError('the command is no object');
  const [target, ...others] = targets.filter((name) => (data as Record<string, unknown>)[name] !== undefined);
  if (target === undefined || others.length > 0) {
    throw new TypeError(`the command must have exactly one of ${targets.join(', ')}`);
  }
  const validator = validators[target];
  if (validator.Check(data)) return data;
  const [first] = validator.Errors(data);
  throw new TypeError(`the command is malformed: ${first?.instancePath || '/'} ${first?.message}`);
}

/**
 * The queue for whoever orders forced logouts, over a connection of the caller's, which stays the caller's to close. Over
 * one with `failFastOptions` an order fails at once where Redis is away.
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
 * Orders a forced logout and gives the job's id. An order that is repeated with the same id has effect once; without one
 * each is an order of its own. The sessions have ended when the job has completed.
 *
 * @example
 * await requestForceLogout(queue, { user_id, reason: 'account blocked' }, `block-${incidentId}`);
 *
 * Throws a `TypeError` where the command is malformed or the id is empty, a number or has a `:` in it.
 */
export async function requestForceLogout(
  queue: ForceLogoutQueue,
  command: ForceLogoutCommand,
  jobId: string = randomUUID(),
): Promise<string> {
  // BullMQ numbers jobs itself, and its keys are parted by colons.
  if (!/^(?!\d+$)[^:]+$/.test(jobId)) throw new TypeError('a job id must not be empty, a number or have a colon in it');
  await queue.add('force-logout', parseForceLogout(command), { jobId });
  return jobId;
}
