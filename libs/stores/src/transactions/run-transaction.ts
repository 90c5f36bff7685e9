import { setTimeout as delay } from 'node:timers/promises';
import { type ClientSession, type MongoClient, MongoError, MongoServerError } from 'mongodb';
import { isDuplicateKey } from '../mongo/store-errors.ts';
import type { SessionHold } from '../session/session-hold.ts';
import { createKeyedLock } from './keyed-lock.ts';

/** Options of one transaction. */
export interface TransactionRequest {
  /**
   * Asks the store whether this work has taken effect. Called if a commit was sent but not acknowledged, before
   * anything is retried or reported to the caller.
   */
  readonly isCommitted: () => Promise<boolean>;
  /**
   * For work that writes sessions: a hold that is taken before each retry of the work, and released when the
   * transaction has ended.
   */
  readonly hold?: SessionHold | undefined;
  /** Milliseconds after which no further attempt starts, including the wait for the lock. Default: the runner's. */
  readonly deadlineMs?: number;
  /** Time from which the deadline counts, on the clock of `performance.now()`; the present time by default. */
  readonly begunAt?: number;
  /**
   * Id of the group or user whose document many requests may want to write at the same time. A process runs
   * transactions with the same key one after another.
   */
  readonly lockKey?: string | undefined;
  /**
   * Goes before others that wait for the same `lockKey`. Account recovery must not queue behind the requests that it
   * ends.
   */
  readonly isUrgent?: boolean;
}

/** Runs the work in a transaction: see {@link createTransactionRunner}. */
export type RunTransaction = <T>(
  work: (session: ClientSession) => Promise<T>,
  request: TransactionRequest,
) => Promise<T>;

export type TransactionOutcome = 'committed' | 'refused' | 'failed';
export type HoldStep = 'taken' | 'released';

/** Hooks through which a service counts and traces its transactions. */
export interface TransactionHooks {
  /** Called when the work or the commit is about to be retried. */
  readonly onRetry?: (kind: 'work' | 'commit', error: unknown) => void;
  /**
   * Called when a hold was taken or released, with an error if that failed. Such a failure only makes conflicts
   * likelier.
   */
  readonly onHold?: (step: HoldStep, error?: unknown) => void;
  /**
   * Called with the outcome: `refused` if the work itself or a unique index rejected the transaction; `failed` after
   * any other error of MongoDB.
   */
  readonly onEnd?: (outcome: TransactionOutcome) => void;
  /** Creates a span around the transaction with all its attempts. The span does not include the wait for the lock. */
  readonly inSpan?: <T>(run: () => Promise<T>) => Promise<T>;
}

/** Milliseconds after which no further attempt starts, unless the runner or the request says otherwise. */
export const defaultDeadlineMs = 5_000;
/** Maximum number of waiting transactions. More could not begin before the deadline. */
const maximumWaiting = 1_000;
const firstPauseMs = 25;
const maximumPauseMs = 1_000;

/**
 * Runs a client's multi-document transactions with majority write concern.
 *
 * - After a conflict with another transaction (`TransientTransactionError`) the work runs again, so the caller must
 *   create ids outside the work.
 * - A commit with an unknown result is repeated (`commitTransaction` allows that). If there is still no answer,
 *   `isCommitted` decides. The driver's own `withTransaction` runs the work again instead, so a registration whose
 *   commit reply was lost would find its own email address and report it as taken.
 * - A transaction that has not taken effect is aborted. Without the abort its locks would live for MongoDB's 60 s, and
 *   a late commit could still take effect.
 * - Transactions with the same `lockKey` (they write the document of one group, or end all sessions of one user) run
 *   one after another, so that only transactions of different processes can conflict.
 *
 * Throws what the work throws, the driver's error if the store remained unavailable, or `ERR-DEPENDENCY-UNAVAILABLE` if
 * too many transactions wait for one key or the wait takes too long.
 */
export function createTransactionRunner(
  client: MongoClient,
  hooks: TransactionHooks = {},
  runnersDeadlineMs = defaultDeadlineMs,
): RunTransaction {
  const { inSpan = (run) => run() } = hooks;
  const inTurn = createKeyedLock({ waitMs: runnersDeadlineMs, maximumWaiting });
  return (work, request) => {
    const { lockKey, isUrgent, begunAt = performance.now() } = request;
    const passedMs = performance.now() - begunAt;
    const deadlineMs = Math.max(0, (request.deadlineMs ?? runnersDeadlineMs) - passedMs);
    const run = (leftMs: number) => inSpan(() => runAndReport(client, work, { ...request, deadlineMs: leftMs }, hooks));
    return lockKey === undefined ? run(deadlineMs) : inTurn(lockKey, run, { isUrgent, waitMs: deadlineMs });
  };
}

/** A request with the time that is left for its attempts. */
type Attempts = TransactionRequest & { readonly deadlineMs: number };

async function runAndReport<T>(
  client: MongoClient,
  work: (session: ClientSession) => Promise<T>,
  request: Attempts,
  hooks: TransactionHooks,
): Promise<T> {
  const hold = createReportedHold(request, hooks);
  try {
    const result = await runUntilKnown(client, work, { ...request, hold }, hooks);
    hooks.onEnd?.('committed');
    return result;
  } catch (error) {
    hooks.onEnd?.(isRefusal(error) ? 'refused' : 'failed');
    throw error;
  } finally {
    await hold.release();
  }
}

const noHold: SessionHold = { take: async () => undefined, release: async () => undefined };

/**
 * Reports the steps of the request's hold. A failed step is reported too, and the transaction goes on without the hold.
 */
function createReportedHold({ hold }: TransactionRequest, { onHold }: TransactionHooks): SessionHold {
  if (hold === undefined) return noHold;
  let isTaken = false;
  const report = (step: HoldStep, done: Promise<void>) =>
    done.then(
      () => onHold?.(step),
      (error: unknown) => onHold?.(step, error),
    );
  return {
    async take(session) {
      isTaken = true;
      await report('taken', hold.take(session));
    },
    async release() {
      if (isTaken) await report('released', hold.release());
    },
  };
}

async function runUntilKnown<T>(
  client: MongoClient,
  work: (session: ClientSession) => Promise<T>,
  { isCommitted, hold, deadlineMs }: Attempts & { readonly hold: SessionHold },
  { onRetry }: TransactionHooks,
): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  const isOver = () => performance.now() >= deadline;
  let sent: { readonly result: T } | undefined;

  for (let attempt = 0; ; attempt += 1) {
    const session = client.startSession();
    let txnNumber: number | undefined;
    try {
      if (attempt > 0) await hold.take(session);
      session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } });
      txnNumber = session.serverSession.txnNumber;
      const result = await work(session);
      sent = { result };
      await commit(session, isOver, onRetry);
      return result;
    } catch (error) {
      // A commit that was sent may have taken effect, whatever the error.
      if (sent !== undefined && (await isCommitted())) return sent.result;
      await abort(client, session, { error, hasBegun: session.serverSession.txnNumber !== txnNumber });
      if (!isTransient(error) || isOver()) throw error;
      onRetry?.('work', error);
    } finally {
      // The driver aborts once more what it has not aborted itself. Nothing depends on that, also if it takes longer than
      // the connection string's `timeoutMS`, the only error that is not ignored there.
      session.endSession().catch(() => undefined);
    }
    await delay(Math.min(pauseMs(attempt), deadline - performance.now()));
  }
}

const noSuchTransaction = 251;
const confirmed = { w: 'majority', wtimeout: 4_500 } as const;

interface Failed {
  readonly error: unknown;
  /** True if the transaction has sent a command: the first one counts up the session's number of transactions. */
  readonly hasBegun: boolean;
}

/**
 * Aborts a transaction that has not ended, even if its commit was sent, in which case the driver itself would abort
 * nothing. If the work was refused, it waits until a majority has what the transaction has read, or throws MongoDB's
 * error, because what the refusal is about may be rolled back.
 */
async function abort(client: MongoClient, session: ClientSession, { error, hasBegun }: Failed): Promise<void> {
  if (isTransient(error)) {
    if (session.inTransaction()) await session.abortTransaction();
    return;
  }
  if (!hasBegun) return;
  try {
    // Only if it finds no transaction does the server wait for a majority. So a second abort confirms the first.
    const isOver = await sendAbort(client, session);
    if (!isOver && isRefusal(error)) await sendAbort(client, session);
  } catch (failure) {
    // Other errors of MongoDB are ignored: the caller gets the first error, and the server ends the transaction later.
    if (!(failure instanceof MongoError) || isRefusal(error)) throw failure;
  }
}

/** Returns false if this command has aborted the transaction, true if it was over. The driver's own abort hides errors. */
async function sendAbort(client: MongoClient, session: ClientSession): Promise<boolean> {
  try {
    await client.db('admin').command({ abortTransaction: 1, writeConcern: confirmed }, { session });
    return false;
  } catch (failure) {
    const isOver = failure instanceof MongoServerError && failure.code === noSuchTransaction;
    if (!isOver || failure.errorResponse.writeConcernError !== undefined) throw failure;
    return true;
  }
}

/** Returns true if the server has ended the transaction, and the same work may succeed. */
const isTransient = (error: unknown) => hasLabel(error, 'TransientTransactionError');

/** Returns true if the work itself or a unique index has rejected the transaction. */
function isRefusal(error: unknown): boolean {
  return !(error instanceof MongoError) || isDuplicateKey(error);
}

async function commit(
  session: ClientSession,
  isOver: () => boolean,
  onRetry: TransactionHooks['onRetry'],
): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      if (!hasLabel(error, 'UnknownTransactionCommitResult') || isOver()) throw error;
      onRetry?.('commit', error);
    }
    await delay(pauseMs(attempt));
  }
}

/**
 * Returns the pause after that attempt. It is random, up to a limit that doubles each time ("full jitter"). Only one of
 * many writers of a document succeeds at a time; with constant pauses the others would hinder each other for ever.
 */
function pauseMs(attempt: number): number {
  return Math.random() * Math.min(maximumPauseMs, firstPauseMs * 2 ** attempt);
}

function hasLabel(error: unknown, label: string): boolean {
  return error instanceof MongoError && error.hasErrorLabel(label);
}
