import type { Locale } from '@auth-account/contracts/events';

/** The part of a request that goes into everything it causes. Use cases see this, never the HTTP request. */
export interface RequestOrigin {
  readonly requestId: string;
  /** Time at which all of it was received, in milliseconds on the clock of `performance.now()`. */
  readonly receivedAt?: number;
  /** Returns true if the client's connection has ended. The client may have repeated the request since, and gone on. */
  readonly isAbandoned?: () => boolean;
  /** Language that the client asks for; English by default. */
  readonly locale?: Locale;
  /** `Idempotency-Key`, if the route takes one and the client sent it. */
  readonly idempotencyKey?: string | undefined;
  /** Address of the client, behind the trusted hops; undefined if its connection is gone. */
  readonly address: string | undefined;
  /** W3C trace context: of the active span, or without tracing that of the request, if it is well-formed. */
  readonly traceparent?: string | undefined;
}
