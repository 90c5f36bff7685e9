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
 * that has since repeated the request and used the second answer. This is best effort: the end of a connection may not
 * have been noticed yet, and work that has already begun, for example a commit that waits, is not undone.
 */
export function assertClientConnected({ isAbandoned }: RequestOrigin): void {
  if (isAbandoned?.()) throw new RequestAbandoned();
}
