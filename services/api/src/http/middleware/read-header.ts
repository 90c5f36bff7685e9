import { AppError } from '@auth-account/errors';
import type { RequestHandler } from 'express';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { extendContext } from '../request-context.ts';

/** A header that a route may take, and the name of its value in the context. */
interface OptionalHeader {
  readonly name: 'Idempotency-Key' | 'X-Device-Secret';
  readonly as: keyof RequestOrigin;
  /** Node joins two headers with a comma and a space, and the space does not match. */
  readonly pattern: RegExp;
  readonly msg: string;
}

const optionalHeaders: readonly OptionalHeader[] = [
  {
    name: 'Idempotency-Key',
    as: 'idempotencyKey',
    pattern: /^[\x21-\x7e]{1,128}$/,
    msg: 'Value must be a single header of 1 to 128 visible ASCII characters',
  },
  {
    name: 'X-Device-Secret',
    as: 'deviceSecret',
    pattern: /^[\w-]{22,128}$/,
    msg: 'Value must be a single header of 22 to 128 characters A-Z a-z 0-9 - _',
  },
];

/**
 * Returns the steps that put those optional headers of a route into the context. Each raises `ERR-VALIDATION-FAILED` for
 * a malformed header.
 */
export function readHeaders(taken: readonly string[]): RequestHandler[] {
  return optionalHeaders.filter(({ name }) => taken.includes(name)).map(readHeader);
}

const readHeader = ({ name, as, pattern, msg }: OptionalHeader): RequestHandler => {
  const key = name.toLowerCase();
  return (req, res, next) => {
    const value = req.headers[key];
    if (value !== undefined) {
      if (!pattern.test(String(value))) {
        throw new AppError('ERR-VALIDATION-FAILED', {
          details: [{ loc: ['header', name], msg, type: 'string_pattern_mismatch' }],
        });
      }
      extendContext(res, { [as]: String(value) });
    }
    next();
  };
};
