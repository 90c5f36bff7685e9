/** What of a request goes into everything that it causes. */
export interface RequestOrigin {
  readonly requestId: string;
  /** When all of it had come in, in milliseconds on the clock of `performance.now()`. */
  readonly receivedAt?: number;
  /** Whether the end of the client's connection has come: it may have asked for the same again since, and gone on. */
  readonly isAbandoned?: () => boolean;
  /** `Idempotency-Key`, where the route takes one and it came. */
  readonly idempotencyKey?: string | undefined;
  /** Address of the client, by the hops that are trusted; undefined where its connection is gone. */
  readonly address: string | undefined;
  /** W3C trace context: of the active span, or without tracing of the request, where that had a well-formed one. */
  readonly traceparent?: string | undefined;
}
