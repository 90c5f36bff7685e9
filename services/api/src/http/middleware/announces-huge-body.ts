import type { IncomingMessage } from 'node:http';

/**
 * The reader takes in the rest of a body that is too large before it says so, or its client might not read the answer. Not
 * where more than this many bytes are announced: whatever the answer is, the connection ends with it.
 */
const patienceLimit = 1_048_576;

/** Is the body of the request said to be larger than anybody here would read or throw away? */
export function announcesHugeBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return Number(headers['content-length']) > patienceLimit;
}
