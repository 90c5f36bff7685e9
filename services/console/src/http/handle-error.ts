import { toOperationError } from '@auth-account/operations';
import type { Logger } from '@auth-account/telemetry';
import type { ErrorRequestHandler } from 'express';
import type { ErrorAnswer } from '../contract/answers.ts';
import { ConsoleError } from '../runtime/console-error.ts';
import { factsOf } from './begin-request.ts';

/** Turns every error into an `ErrorAnswer`, and is the only place that does. Faults of the console are logged. */
export function handleError(logger: Logger): ErrorRequestHandler {
  return (error, _req, res, next) => {
    const { requestId, route } = factsOf(res);
    const { code, message, status, retryAfterSeconds } = toConsoleError(error);
    if (status >= 500) logger.error({ err: error, request_id: requestId, route }, 'request failed');
    if (res.headersSent) {
      next(error);
      return;
    }
    if (retryAfterSeconds !== undefined) res.setHeader('Retry-After', String(retryAfterSeconds));
    res.status(status).json({ error: { code, message, request_id: requestId } } satisfies ErrorAnswer);
  };
}

function toConsoleError(error: unknown): ConsoleError {
  if (error instanceof ConsoleError) return error;
  const { kind, message } = toOperationError(error) ?? {};
  if (kind !== undefined) return new ConsoleError(kind, message ?? '');
  const { status } = Object(error) as { status?: unknown };
  // Errors of Express and of its parser of bodies.
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new ConsoleError('invalid', 'The request cannot be read.', { status });
  }
  return new ConsoleError('internal', 'This is a bug of the console. Its log has the request.');
}
