import { MongoError, MongoServerError } from 'mongodb';

const duplicateKey = 11000;

/** Names of the driver's errors that say that the store was not reached or could not answer in time. */
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

/** Codes with which the server reports the same; the driver labels them in transactions and on writes only. */
const unavailableCodes = new Set<unknown>([
  50, // MaxTimeMSExpired
  91, // ShutdownInProgress
  187, // LinearizableReadConcernError
  189, // PrimarySteppedDown
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11602, // InterruptedDueToReplStateChange
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
]);

const brokenSocketCodes = new Set<unknown>(['EPIPE', 'ECONNRESET']);

/**
 * Returns true if the error means that the store is away or between primaries, so that the same request may succeed
 * later.
 */
export function isStoreUnavailable(error: unknown): boolean {
  if (!(error instanceof MongoError)) return false;
  if (unavailableNames.has(error.name) || unavailableCodes.has(error.code)) return true;
  return ['RetryableWriteError', 'TransientTransactionError', 'UnknownTransactionCommitResult'].some((label) =>
    error.hasErrorLabel(label),
  );
}

/**
 * Returns true if the error means that the other end of a socket has just closed it. The driver (7.8) passes on such an
 * error unchanged if it waits for the socket to drain. The error does not tell whose socket it was: Redis's look the
 * same.
 */
export function isBrokenSocket(error: unknown): boolean {
  return error instanceof Error && 'code' in error && brokenSocketCodes.has(error.code);
}

/** Returns true if a unique index refused the write. `index` narrows it to the one of that name. */
export function isDuplicateKey(error: unknown, index?: string): boolean {
  return (
    error instanceof MongoServerError &&
    error.code === duplicateKey &&
    (index === undefined || error.message.includes(`index: ${index} `))
  );
}
