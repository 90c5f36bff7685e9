/** Details of a failed delivery. */
export interface DeliveryErrorOptions {
  /** Status of the subscriber's answer, if it answered. */
  readonly status?: number | undefined;
  /** The pause that the answer's `Retry-After` asks for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** Thrown if a subscriber did not accept an event, because it gave no answer or a status other than 2xx. */
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
