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
 * that has meanwhile repeated the request and gone on with that answer. Best effort: it knows only a connection's end
 * that was already seen. Later work, for example a commit that waits, is not taken back.
 */
export function assertClientConnected({ isAbandoned }: RequestOrigin): void {
  if (isAbandoned?.()) throw new RequestAbandoned();
}
