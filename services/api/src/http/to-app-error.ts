import { type AppError as AnyAppError, AppError, isAppError } from '@auth-account/errors';
import { DenyListUnavailable } from '@auth-account/messaging/deny-list';
import { isBrokenSocket, isStoreUnavailable } from '@auth-account/stores';
import { RequestAbandoned } from '../usecases/assert-client-connected.ts';

const retryAfterSeconds = 2;

/** A socket that breaks under a handler is MongoDB's or Redis's: what a client's says does not come here as an error. */
const isDependencyAway = (error: unknown) =>
  isStoreUnavailable(error) || isBrokenSocket(error) || error instanceof DenyListUnavailable;

/** Errors of Express's body reader and router carry a `type` and a `status`. */
interface HttpErrorLike {
  readonly type?: unknown;
  readonly status?: unknown;
}

/** What the client is told of an error that a handler threw: the one place where foreign errors get a code. */
export function toAppError(error: unknown): AnyAppError {
  if (isAppError(error)) return error;
  if (isDependencyAway(error) || error instanceof RequestAbandoned) {
    return new AppError('ERR-DEPENDENCY-UNAVAILABLE', { retryAfterSeconds, cause: error });
  }
  const { type, status } = (error ?? {}) as HttpErrorLike;
  if (type === 'entity.too.large') return new AppError('ERR-PAYLOAD-TOO-LARGE', { cause: error });
  if (type === 'encoding.unsupported') return new AppError('ERR-UNSUPPORTED-MEDIA-TYPE', { cause: error });
  // The body ended before its announced length, or the path was no valid percent-encoding.
  if (type === 'request.aborted' || type === 'request.size.invalid') return unreadable(error);
  if (error instanceof URIError || status === 400) return new AppError('ERR-ROUTE-NOT-FOUND', { cause: error });
  return new AppError('ERR-INTERNAL', { cause: error });
}

function unreadable(cause: unknown): AnyAppError {
  const item = { loc: ['body'], msg: 'The body could not be read', type: 'json_invalid' } as const;
  return new AppError('ERR-VALIDATION-FAILED', { details: [{ ...item, loc: ['body'] }], cause });
}
