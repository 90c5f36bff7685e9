import { setTimeout as delay } from 'node:timers/promises';
import { type ClientSession, type MongoClient, MongoError } from 'mongodb';

/** What a transaction needs beyond its work. */
export interface TransactionOptions {
  /**
   * Asks the store whether this work has taken effect. It is asked after a commit that was sent and not acknowledged,
   * before anything is tried again or told to the caller.
   */
  readonly isCommitted: () => Promise<boolean>;
  /** No attempt starts after this many milliseconds. */
  readonly deadlineMs?: number;
  /** The work or the commit is about to be tried again. */
  readonly onRetry?: (kind: 'work' | 'commit', error: unknown) => void;
}

/** {@link runTransaction} with its client and metrics given: what use cases ask for. */
export type RunTransaction = <T>(
  work: (session: ClientSession) => Promise<T>,
  options: Pick<TransactionOptions, 'isCommitted'>,
) => Promise<T>;

const defaultDeadlineMs = 5_000;
const maximumPauseMs = 50;

/**
 * Runs `work` in one multi-document transaction with majority write concern.
 *
 * - A conflict with another transaction (`TransientTransactionError`) runs the work again: its ids must be made before.
 * - An unknown result of the commit is asked for again (`commitTransaction` may be repeated), and what gives no answer
 *   is resolved by `isCommitted`. The driver's own `withTransaction` runs the work again instead, so that a
 *   registration whose commit reply was lost would meet its own address and be told that it is taken.
 *
 * Throws what the work throws, or the driver's error where the store stayed away.
 */
export async function runTransaction<T>(
  client: MongoClient,
  work: (session: ClientSession) => Promise<T>,
  { isCommitted, deadlineMs = defaultDeadlineMs, onRetry }: TransactionOptions,
): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  const isOver = () => performance.now() >= deadline;
  let sent: { readonly result: T } | undefined;

  for (;;) {
    const session = client.startSession();
    try {
      session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } });
      const result = await work(session);
      sent = { result };
      await commit(session, isOver, onRetry);
      return result;
    } catch (error) {
      if (session.inTransaction()) await session.abortTransaction();
      // A commit that was sent may have taken effect, whatever came back.
      if (sent !== undefined && (await isCommitted())) return sent.result;
      if (!hasLabel(error, 'TransientTransactionError') || isOver()) throw error;
      onRetry?.('work', error);
    } finally {
      await session.endSession();
    }
    await delay(Math.random() * maximumPauseMs);
  }
}

async function commit(
  session: ClientSession,
  isOver: () => boolean,
  onRetry: TransactionOptions['onRetry'],
): Promise<void> {
  for (;;) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      if (!hasLabel(error, 'UnknownTransactionCommitResult') || isOver()) throw error;
      onRetry?.('commit', error);
    }
    await delay(Math.random() * maximumPauseMs);
  }
}

function hasLabel(error: unknown, label: string): boolean {
  return error instanceof MongoError && error.hasErrorLabel(label);
}
