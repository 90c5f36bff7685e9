import { AppError } from '@auth-account/errors';
import type { RequestHandler } from 'express';
import { readRequestId } from './begin-request.ts';

/**
 * Refuses requests without a request id (400 `PMA_TRACE_ID_MISSING`; in mode `generate` the generated one will do) and
 * with a malformed one (422 `ERR-VALIDATION-FAILED`).
 */
export function requireRequestId(mode: 'require' | 'generate'): RequestHandler {
  return (req, _res, next) => {
    const requestId = readRequestId(req.headers['x-request-id']);
    if (requestId === undefined && mode === 'require') throw new AppError('PMA_TRACE_ID_MISSING');
    if (requestId === null) {
      const msg = 'Value must be a single header of 1 to 128 characters of A-Z a-z 0-9 . _ ~ : / + = -';
      throw new AppError('ERR-VALIDATION-FAILED', {
        details: [{ loc: ['header', 'X-Request-ID'], msg, type: 'string_pattern_mismatch' }],
      });
    }
    next();
  };
}
