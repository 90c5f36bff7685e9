/** The part of a request that goes into everything it causes: use cases see this, and never the HTTP request. */
export interface RequestOrigin {
  readonly requestId: string;
  /** When all of it had come in, in milliseconds on the clock of `performance.now()`. */
  readonly receivedAt?: number;
  /** Has the client's connection ended? Then it may have asked for the same again since, and gone on. */
  readonly isAbandoned?: () => boolean;
  /** `Idempotency-Key`, if the route takes one and it came. */
  readonly idempotencyKey?: string | undefined;
  /** Address of the client, by the hops that are trusted; undefined if its connection is gone. */
  readonly address: string | undefined;
  /** W3C trace context: of the active span, or without tracing of the request, if that had a well-formed one. */
  readonly traceparent?: string | undefined;
}
