import { AppError } from '@auth-account/errors';
import type { RequestHandler } from 'express';
import type { FindSibling } from '../../security/sibling-secrets.ts';
import { extendContext } from '../request-context.ts';

/** Limit for the length of a credential, in characters. */
const longest = 512;

/** Puts the sibling service into the context. Raises `ERR-INVALID-CREDENTIALS`. */
export function authenticateSibling(findSibling: FindSibling): RequestHandler {
  return (req, res, next) => {
    const [, credential] = /^Bearer ([\w.-]+)$/i.exec(req.headers.authorization ?? '') ?? [];
    const sibling = credential && credential.length <= longest ? findSibling(credential) : undefined;
    if (sibling === undefined) throw new AppError('ERR-INVALID-CREDENTIALS');
    extendContext(res, { sibling });
    next();
  };
}
