import { type ForceLogoutCommand, forceLogoutQueue } from '@auth-account/contracts';
import { type ForceLogoutResult, parseForceLogout } from '@auth-account/messaging';
import type { DenyList } from '@auth-account/messaging/deny-list';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import type { RunTransaction, Stores } from '@auth-account/stores';
import { createAuditLog, type Logger } from '@auth-account/telemetry';
import { type Job, UnrecoverableError } from 'bullmq';
import { createBackoff } from '../delivery/backoff.ts';
import { type Consumer, createJobConsumer } from '../delivery/event-consumers.ts';
import { createErrorLog } from '../runtime/error-log.ts';
import type { WorkerMetrics } from '../runtime/metrics.ts';
import { createForceLogout } from './force-logout.ts';

export interface ForceLogoutConsumerDeps {
  readonly stores: Stores;
  readonly transaction: RunTransaction;
  readonly denyList: DenyList;
  /** Connection that waits for Redis. */
  readonly consuming: RedisClient;
  readonly keys: RedisKeys;
  readonly metrics: WorkerMetrics;
  readonly logger: Logger;
  readonly now: () => Date;
}

/** Limit for the commands that are carried out at once. */
const concurrency = 10;

/** Limit for the pause between two attempts, in ms. A forced logout should not wait long once MongoDB is back. */
const maximumPauseMs = 15_000;

/** Wires the queue of forced logouts. */
export function createForceLogoutConsumer(deps: ForceLogoutConsumerDeps): Consumer {
  const { stores, transaction, denyList, consuming, keys, metrics, logger, now } = deps;
  const writeAudit = createAuditLog(logger);
  const forceLogout = createForceLogout({
    users: stores.users,
    sessions: stores.sessions,
    done: stores.idempotency,
    transaction,
    denyList,
    onRevoked({ _id: session_id, user_id }, request_id) {
      const event = { event: 'session.revoked', user_id, session_id, reason: 'forced' };
      writeAudit({ outcome: 'success', ...event, request_id });
    },
    now,
  });
  return createJobConsumer(
    { queueName: forceLogoutQueue, connection: consuming, keys, onError: createErrorLog(logger, 'forced logouts') },
    createForceLogoutJob({ forceLogout, metrics, logger }),
    { concurrency, backoffStrategy: createBackoff(Math.random, maximumPauseMs) },
  );
}

interface ForceLogoutJobDeps {
  readonly forceLogout: (command: ForceLogoutCommand, commandId: string) => Promise<ForceLogoutResult>;
  readonly metrics: Pick<WorkerMetrics, 'forceLogouts'>;
  readonly logger: Logger;
}

type ForceLogoutJob = Pick<Job<unknown>, 'id' | 'data' | 'timestamp' | 'attemptsMade'>;

/**
 * Creates the processor of the forced-logout queue; BullMQ stores its result in the job. An error of `forceLogout` is
 * rethrown, and the job is tried again. A malformed command throws an `UnrecoverableError` that says what is wrong with
 * it, and is never tried again.
 */
function createForceLogoutJob({ forceLogout, metrics, logger }: ForceLogoutJobDeps) {
  function read(job: ForceLogoutJob): ForceLogoutCommand {
    try {
      return parseForceLogout(job.data);
    } catch (error) {
      metrics.forceLogouts.inc({ outcome: 'malformed' });
      logger.error({ err: error, job_id: job.id }, 'malformed forced logout: not retried');
      throw Object.assign(new UnrecoverableError((error as Error).message), { cause: error });
    }
  }

  return async (job: ForceLogoutJob): Promise<ForceLogoutResult> => {
    const command = read(job);
    const context = { job_id: job.id, command };
    try {
      const result = await forceLogout(command, commandIdOf(job));
      metrics.forceLogouts.inc({ outcome: result.kind });
      logger.info({ ...context, ...result }, 'forced logout');
      return result;
    } catch (error) {
      metrics.forceLogouts.inc({ outcome: 'failed' });
      logger.warn({ ...context, err: error, attempt: job.attemptsMade + 1 }, 'forced logout failed: will be retried');
      throw error;
    }
  };
}

/**
 * Adds the time to a numeric or missing id, because BullMQ numbers jobs without an id, and starts again at 1 if Redis
 * was emptied.
 */
function commandIdOf({ id = '', timestamp }: ForceLogoutJob): string {
  return /^\d*$/.test(id) ? `${id}-${timestamp}` : id;
}
