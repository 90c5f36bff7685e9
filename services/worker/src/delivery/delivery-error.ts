/** Details of a failed delivery. */
export interface DeliveryErrorOptions {
  /** Status of the subscriber's answer, if it answered. */
  readonly status?: number | undefined;
  /** The pause that its `Retry-After` asks for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** A subscriber did not accept an event: it gave no answer, or one other than 2xx. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { status, retryAfterMs, cause }: DeliveryErrorOptions = {}) {
    super(message, { cause });
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}
