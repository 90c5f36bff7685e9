import { type Db, type Document, MongoNetworkError, MongoWriteConcernError } from 'mongodb';
import { isRetryable } from './store-errors.ts';

/** Milliseconds for which an answer waits for a majority; also one that found nothing to write waits. */
const majorityMs = 2_000;

/**
 * Sends a write that the driver neither retries nor prepares to retry: its retryable writes store a record of the
 * transaction too, and an image of a document that they return. Returns the answer; undefined if it is lost, so that the
 * write may or may not have happened: for a caller that then reads and goes on from what it finds.
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
