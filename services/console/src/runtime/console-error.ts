import type { ErrorCode } from '../contract/answers.ts';

/** Status of each code. */
const statuses: Readonly<Record<ErrorCode, number>> = {
  signed_out: 401,
  forbidden: 403,
  wrong_origin: 403,
  reason_missing: 400,
  invalid: 400,
  unknown: 404,
  refused: 409,
  changed: 409,
  limited: 429,
  unavailable: 503,
  internal: 500,
};

interface ConsoleErrorOptions {
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** The error of a request. Its message is for staff, and has no personal data. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: ConsoleErrorOptions = {}) {
    const { status = statuses[code], retryAfterSeconds, ...others } = options;
    super(message, others);
    this.code = code;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
