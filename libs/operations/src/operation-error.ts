import { DenyListUnavailable } from '@auth-account/messaging/deny-list';
import { isBrokenSocket, isStoreUnavailable } from '@auth-account/stores';

/**
 * - `unknown`: there is no such account, session, event and so on
 * - `refused`: a rule forbids it, such as that it is so already
 * - `changed`: it has changed since the operation was planned
 * - `invalid`: the input is against a rule
 * - `unavailable`: MongoDB, Redis or a worker did not answer, or not in time
 */
export type OperationErrorKind = 'unknown' | 'refused' | 'changed' | 'invalid' | 'unavailable';

/** Errors whose text a program extends or replaces, to name its own command, option or page. */
export type OperationErrorCode =
  | 'account_changed'
  | 'force_logout_pending'
  | 'subscriber_suspended'
  | 'nothing_selected'
  | 'missing_needs_subscriber'
  | 'span_is_empty';

export interface OperationErrorOptions {
  readonly code?: OperationErrorCode;
  /** Id or name that the code is about. */
  readonly subject?: string;
  readonly cause?: unknown;
}

/** The error of an operation that has no result. Its message is for the operator, and can be shown as it is. */
export class OperationError extends Error {
  override readonly name = 'OperationError';
  readonly kind: OperationErrorKind;
  readonly code: OperationErrorCode | undefined;
  readonly subject: string | undefined;

  constructor(kind: OperationErrorKind, message: string, options: OperationErrorOptions = {}) {
    const { code, subject, ...others } = options;
    super(message, others);
    this.kind = kind;
    this.code = code;
    this.subject = subject;
  }
}

/** Returns the error that operators see; undefined if the error is a bug or of the program. */
export function toOperationError(error: unknown): OperationError | undefined {
  if (error instanceof OperationError) return error;
  const { message } = error instanceof Error ? error : { message: String(error) };
  if (isStoreUnavailable(error)) return unavailable(`MongoDB: ${message}`, error);
  if (error instanceof DenyListUnavailable) return unavailable(`Redis: ${message}`, error);
  // The error does not show whether it comes from MongoDB or from Redis.
  return isBrokenSocket(error) ? unavailable(`a connection broke: ${message}`, error) : undefined;
}

/** Creates the error for a server that does not answer. */
export function unavailable(message: string, cause: unknown): OperationError {
  return new OperationError('unavailable', message, { cause });
}
