import type { MongoClient } from 'mongodb';
import { createKeyedLock } from './keyed-lock.ts';
import { type RunTransaction, runTransaction, type TransactionOptions } from './run-transaction.ts';

/** Hooks through which a service counts and traces its transactions. */
export interface TransactionHooks extends Pick<TransactionOptions, 'onRetry' | 'onEnd'> {
  /** Puts a span around the transaction with all its attempts; waiting for a turn is not part of it. */
  readonly inSpan?: <T>(run: () => Promise<T>) => Promise<T>;
}

/** Milliseconds for which a transaction may wait for its turn and be tried again, both together. */
const deadlineMs = 5_000;
/** More could not have their turn in that time. */
const maximumWaiting = 1_000;

/**
 * Creates the transactions of a client. Those that name the same `group` (they write the document of one group, or end all
 * sessions of one user) run one after the other, so that only those of different processes can conflict. Raises
 * `ERR-DEPENDENCY-UNAVAILABLE` if too many wait for one group, or if the wait takes too long.
 */
export function createTransactionRunner(client: MongoClient, hooks: TransactionHooks = {}): RunTransaction {
  const { inSpan = (run) => run(), ...counted } = hooks;
  const inTurn = createKeyedLock({ waitMs: deadlineMs, maximumWaiting });
  return (work, { group, isCommitted }) => {
    const run = (leftMs: number) =>
      inSpan(() => runTransaction(client, work, { ...counted, isCommitted, deadlineMs: leftMs }));
    return group === undefined ? run(deadlineMs) : inTurn(group, run);
  };
}
