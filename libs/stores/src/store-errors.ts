import { MongoError, MongoServerError } from 'mongodb';

const duplicateKey = 11000;

/** Names of the driver's errors that say that the store was not reached or could not answer in time. */
const unavailableNames = new Set([
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoServerSelectionError',
  'MongoPoolClearedError',
  'MongoPoolClosedError',
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoWaitQueueTimeoutError',
  'MongoOperationTimeoutError',
]);

/** Does the error say that the store is away or between primaries, so that the same request may succeed later? */
export function isStoreUnavailable(error: unknown): boolean {
  if (!(error instanceof MongoError)) return false;
  if (unavailableNames.has(error.name)) return true;
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
