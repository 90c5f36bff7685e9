import { forceLogoutQueue } from '@auth-account/contracts';
import type { DenyList } from '@auth-account/messaging';
import type { RedisClient, RedisKeys } from '@auth-account/redis';
import {
  type Collections,
  createStores,
  type RunTransaction,
  runTransaction,
  type TransactionOutcome,
} from '@auth-account/stores';
import { createAuditLog, type Logger } from '@auth-account/telemetry';
import type { MongoClient } from 'mongodb';
import { createBackoff } from '../delivery/backoff.ts';
import { type Consumer, createJobConsumer } from '../delivery/event-consumers.ts';
import { createErrorLog } from '../jobs/error-log.ts';
import type { WorkerMetrics } from '../jobs/metrics.ts';
import { createForceLogout } from './force-logout.ts';
import { createForceLogoutJob } from './force-logout-job.ts';

export interface ForceLogoutConsumerDeps {
  readonly mongo: MongoClient;
  readonly collections: Collections;
  readonly denyList: DenyList;
  /** Waits for Redis. */
  readonly consuming: RedisClient;
  readonly keys: RedisKeys;
  readonly metrics: WorkerMetrics;
  readonly logger: Logger;
  readonly now: () => Date;
}

/** Commands carried out at once. */
const concurrency = 10;

/** Longest pause between two attempts, in ms: a forced logout is not to wait long for a MongoDB that is back. */
const maximumPauseMs = 15_000;

/** Wires the queue of forced logouts. */
export function createForceLogoutConsumer(deps: ForceLogoutConsumerDeps): Consumer {
  const { mongo, collections, denyList, consuming, keys, metrics, logger, now } = deps;
  const onRetry = (kind: 'work' | 'commit') => metrics.transactionRetries.inc({ kind });
  const onEnd = (outcome: TransactionOutcome) => metrics.transactions.inc({ outcome });
  const transaction: RunTransaction = (work, options) => runTransaction(mongo, work, { ...options, onRetry, onEnd });
  const { users, sessions, idempotency } = createStores(collections);
  const writeAudit = createAuditLog(logger);
  const forceLogout = createForceLogout({
    users,
    sessions,
    done: idempotency,
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
