import { setTimeout as delay } from 'node:timers/promises';
import type { ForceLogoutCommand } from '@auth-account/contracts/events/force-logout';
import type { Job, JobType } from 'bullmq';
import { type ForceLogoutQueue, type ForceLogoutResult, parseForceLogout } from './force-logout.ts';

/**
 * `waiting`: the job waits for a worker, or for the end of the pause after a failed attempt. `failed`: it is not
 * retried.
 */
export type ForceLogoutState = 'waiting' | 'running' | 'done' | 'failed';

/** A forced logout in the queue. */
export interface ForceLogoutJobStatus {
  readonly id: string;
  readonly state: ForceLogoutState;
  /** The command; undefined if the job's data is not a command. */
  readonly command: ForceLogoutCommand | undefined;
  readonly orderedAt: Date;
  readonly finishedAt: Date | undefined;
  /** Number of attempts that have ended. */
  readonly attempts: number;
  /** Error of the last failed attempt. */
  readonly error: string | undefined;
  readonly result: ForceLogoutResult | undefined;
}

type ForceLogoutJob = Job<ForceLogoutCommand, ForceLogoutResult, string>;

const queueStates = {
  waiting: ['waiting', 'delayed', 'prioritized'],
  running: ['active'],
  done: ['completed'],
  failed: ['failed'],
} as const satisfies Record<ForceLogoutState, readonly JobType[]>;

/** Finds the forced logout with that id. Completed jobs are kept for seven days, failed jobs for a month. */
export async function findForceLogout(queue: ForceLogoutQueue, id: string): Promise<ForceLogoutJobStatus | undefined> {
  // The state is read first. So the job that is read afterwards has all fields that belong to that state.
  const state = await queue.getJobState(id);
  const job = await queue.getJob(id);
  return job === undefined || state === 'unknown' ? undefined : toStatus(job, stateOf(state));
}

/** Lists at most `limit` forced logouts of a state, newest first. */
export async function listForceLogouts(
  queue: ForceLogoutQueue,
  state: ForceLogoutState,
  limit: number,
): Promise<ForceLogoutJobStatus[]> {
  const jobs = await queue.getJobs([...queueStates[state]], 0, limit - 1, false);
  // A job that is removed while the list is read leaves a gap.
  const found = (jobs as (ForceLogoutJob | undefined)[]).filter((job) => job !== undefined);
  return found
    .map((job) => toStatus(job, state))
    .sort((a, b) => b.orderedAt.getTime() - a.orderedAt.getTime())
    .slice(0, limit);
}

/** Polls until the forced logout has completed or failed, for at most `timeoutMs`, and returns its status. */
export async function awaitForceLogout(
  queue: ForceLogoutQueue,
  id: string,
  timeoutMs: number,
): Promise<ForceLogoutJobStatus | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const status = await findForceLogout(queue, id);
    const isOver = status?.state === 'done' || status?.state === 'failed';
    if (isOver || performance.now() >= deadline) return status;
    await delay(50);
  }
}

function stateOf(state: string): ForceLogoutState {
  const states = Object.keys(queueStates) as ForceLogoutState[];
  return states.find((name) => (queueStates[name] as readonly string[]).includes(state)) ?? 'waiting';
}

function toStatus(job: ForceLogoutJob, state: ForceLogoutState): ForceLogoutJobStatus {
  return {
    id: job.id ?? '',
    state,
    command: readCommand(job.data),
    orderedAt: new Date(job.timestamp),
    finishedAt: job.finishedOn === undefined ? undefined : new Date(job.finishedOn),
    attempts: job.attemptsMade,
    error: state === 'done' ? undefined : job.failedReason || undefined,
    result: state === 'done' ? (job.returnvalue ?? undefined) : undefined,
  };
}

function readCommand(data: unknown): ForceLogoutCommand | undefined {
  try {
    return parseForceLogout(data);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
