import type { RequestOrigin } from '../request/request-origin.ts';

/** Ends the work for a request whose client has gone. Nobody hears the error, and it is no fault of ours. */
export class RequestAbandoned extends Error {
  constructor() {
    super('the client has given the request up');
    this.name = 'RequestAbandoned';
  }
}

/**
 * Throws {@link RequestAbandoned} if the client has given the request up. To be called before what would harm a client
 * that has asked again meanwhile, and gone on with that answer. Best effort: it sees what has come of the connection's
 * end, and what is done after it, a commit that waits for instance, is not taken back.
 */
export function assertClientConnected({ isAbandoned }: RequestOrigin): void {
  if (isAbandoned?.()) throw new RequestAbandoned();
}
