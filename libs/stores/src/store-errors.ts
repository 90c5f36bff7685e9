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

/** Codes with which the server says the same; the driver labels them in transactions and on writes only. */
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

/** The driver (7.8) does not wrap what a socket says that the other end has just closed. */
const brokenSocketCodes = new Set<unknown>(['EPIPE', 'ECONNRESET']);

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** Does the error say that the store is away or between primaries, so that the same request may succeed later? */
export function isStoreUnavailable(error: unknown): boolean {
  if (!(error instanceof MongoError)) return brokenSocketCodes.has(codeOf(error));
  if (unavailableNames.has(error.name) || unavailableCodes.has(error.code)) return true;
  return ['RetryableWriteError', 'TransientTransactionError', 'UnknownTransactionCommitResult'].some((label) =>
    error.hasErrorLabel(label),
  );
}

/** Did a unique index refuse the write? `index` narrows it to the one of that name. */
export function isDuplicateKey(error: unknown, index?: string): boolean {
  return (
    error instanceof MongoServerError &&
    error.code === duplicateKey &&
    (index === undefined || error.message.includes(`index: ${index} `))
  );
}
