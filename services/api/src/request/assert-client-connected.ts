import type { RequestOrigin } from './request-origin.ts';

/**
 * Ends the work for a request whose client has left. Nobody receives the error, and it is not a fault of the service.
 */
export class RequestAbandoned extends Error {
  constructor() {
    super('the client has given the request up');
    this.name = 'RequestAbandoned';
  }
}

/**
 * Throws {@link RequestAbandoned} if the client has left. A use case calls it before a step that would harm a client
 * that has repeated the request since and has used the second answer. This check is only best effort. The end of a
 * connection may not have been noticed yet, and work that has begun, for example a waiting commit, is not undone.
 */
export function assertClientConnected({ isAbandoned }: RequestOrigin): void {
  if (isAbandoned?.()) throw new RequestAbandoned();
}
