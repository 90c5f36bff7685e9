import { createKeyedLock, type RunTransaction, runTransaction, type TransactionOutcome } from '@auth-account/stores';
import { withSpan } from '@auth-account/telemetry';
import type { MongoClient } from 'mongodb';

import type { ApiMetrics } from './metrics.ts';

/** Milliseconds for which a transaction may wait for its turn and be tried again, both together. */
const deadlineMs = 5_000;
/** More could not have their turn in that time. */
const maximumWaiting = 1_000;

/**
 * Transactions of this client, whose outcomes and retries are counted. Those that want the document of one group, or
 * end all sessions of one user, come one after the other: only those of different processes can hinder each other. Raises
 * `ERR-DEPENDENCY-UNAVAILABLE` if too many want it.
 */
export function composeTransaction(mongo: MongoClient, metrics: ApiMetrics): RunTransaction {
  const onRetry = (kind: 'work' | 'commit') => metrics.transactionRetries.inc({ kind });
  const onEnd = (outcome: TransactionOutcome) => metrics.transactions.inc({ outcome });
  const inTurn = createKeyedLock({ waitMs: deadlineMs, maximumWaiting });
  return (work, { group, isCommitted }) => {
    const run = (leftMs: number) =>
      withSpan('mongodb.transaction', {}, () =>
        runTransaction(mongo, work, { isCommitted, deadlineMs: leftMs, onRetry, onEnd }),
      );
    return group === undefined ? run(deadlineMs) : inTurn(group, run);
  };
}
