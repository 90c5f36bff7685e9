/** What of a request goes into everything that it causes. */
export interface RequestOrigin {
  readonly requestId: string;
  /** `Idempotency-Key`, where the route takes one and it came. */
  readonly idempotencyKey?: string | undefined;
  /** Address of the client, by the hops that are trusted; undefined where its connection is gone. */
  readonly address: string | undefined;
  /** W3C trace context of the request, where it had a well-formed one. */
  readonly traceparent?: string | undefined;
}
