import { MongoError, MongoServerError } from 'mongodb';

const duplicateKey = 11000;

/** Names of the driver's errors for a store that was not reached or could not answer in time. */
const unavailableNames = new Set([
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoServerSelectionError',
  'MongoPoolClearedError',
  'PoolClearedOnNetworkError',
  'MongoPoolClosedError',
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoWaitQueueTimeoutError',
  'MongoOperationTimeoutError',
]);

/**
 * Codes after which the same command may succeed. The driver labels such errors only in transactions and on its
 * retryable writes.
 */
const retryableCodes = new Set<unknown>([
  6, // HostUnreachable
  7, // HostNotFound
  89, // NetworkTimeout
  91, // ShutdownInProgress
  189, // PrimarySteppedDown
  262, // ExceededTimeLimit
  9001, // SocketException
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11602, // InterruptedDueToReplStateChange
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
]);

/** Codes of a server that could not answer in time. */
const lateCodes = new Set<unknown>([
  50, // MaxTimeMSExpired
  64, // WriteConcernTimeout
  187, // LinearizableReadConcernError
  251, // NoSuchTransaction, if no majority confirms it
]);

const brokenSocketCodes = new Set<unknown>(['EPIPE', 'ECONNRESET']);

/**
 * Returns true if the error means that the store is unreachable or has no primary at the moment, so that the same
 * request may succeed later.
 */
export function isStoreUnavailable(error: unknown): boolean {
  if (!(error instanceof MongoError)) return false;
  if (unavailableNames.has(error.name) || lateCodes.has(error.code) || isRetryable(error)) return true;
  return ['RetryableWriteError', 'TransientTransactionError', 'UnknownTransactionCommitResult'].some((label) =>
    error.hasErrorLabel(label),
  );
}

/** Returns true if the server could not carry out the command, mostly because it is no longer the primary. */
export function isRetryable(error: unknown): boolean {
  return error instanceof MongoError && retryableCodes.has(error.code);
}

/**
 * Returns true if the error means that the other end of a socket has just closed it. The driver (7.8) passes on such an
 * error unchanged if it was waiting for the socket to drain. The error does not show whose socket it was, and errors of
 * Redis's sockets look the same.
 */
export function isBrokenSocket(error: unknown): boolean {
  return error instanceof Error && 'code' in error && brokenSocketCodes.has(error.code);
}

/**
 * Returns true if a unique index refused the write. With `field`, only an index on that field counts; the index's name
 * does not matter.
 */
export function isDuplicateKey(error: unknown, field?: string): boolean {
  return (
    error instanceof MongoServerError &&
    error.code === duplicateKey &&
    (field === undefined || Object.hasOwn(error.keyPattern ?? {}, field))
  );
}
