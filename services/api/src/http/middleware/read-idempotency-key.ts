import { AppError } from '@auth-account/errors';
import type { RequestHandler } from 'express';
import { extendContext } from '../request-context.ts';

/** 1 to 128 visible ASCII characters. Node joins two headers with a comma and a space, and the space does not match. */
const keyPattern = /^[\x21-\x7e]{1,128}$/;

/** Puts the optional `Idempotency-Key` into the context. Raises `ERR-VALIDATION-FAILED` for a malformed key. */
export const readIdempotencyKey: RequestHandler = (req, res, next) => {
  const header = req.headers['idempotency-key'];
  if (header !== undefined) {
    const key = String(header);
    if (!keyPattern.test(key)) {
      const msg = 'Value must be a single header of 1 to 128 visible ASCII characters';
      throw new AppError('ERR-VALIDATION-FAILED', {
        details: [{ loc: ['header', 'Idempotency-Key'], msg, type: 'string_pattern_mismatch' }],
      });
    }
    extendContext(res, { idempotencyKey: key });
  }
  next();
};
