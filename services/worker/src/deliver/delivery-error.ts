/** A subscriber did not take an event: it did not answer, or not with 2xx. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  /** What its `Retry-After` asks for, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
  }
}
