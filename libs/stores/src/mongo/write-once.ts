import { type Db, type Document, MongoNetworkError, MongoWriteConcernError } from 'mongodb';
import { isRetryable } from './store-errors.ts';

/** Milliseconds for which an answer waits for a majority, even if the command found nothing to write. */
const majorityMs = 2_000;

/**
 * Sends a write that the driver neither retries nor prepares to retry. Retryable writes cost more, because they also
 * store a transaction record, and an image of any document that they return. Returns the answer; undefined if the
 * answer is lost, so that the write may or may not have happened. The caller must then read the state and go on from
 * there.
 */
export async function writeOnce(db: Db, command: Document): Promise<Document | undefined> {
  try {
    return await db.command({ ...command, writeConcern: { w: 'majority', wtimeout: majorityMs } });
  } catch (error) {
    const isLost = error instanceof MongoNetworkError || error instanceof MongoWriteConcernError;
    if (isLost || isRetryable(error)) return undefined;
    throw error;
  }
}
