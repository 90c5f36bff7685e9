import { AppError } from '@auth-account/errors';
import type { RequestHandler } from 'express';
import type { FindInternalService } from '../../security/internal-service-secrets.ts';
import { extendContext } from '../request-context.ts';

/** Limit for the length of a credential, in characters. */
const longest = 512;

/** Puts the internal service into the context. Raises `ERR-INVALID-CREDENTIALS`. */
export function authenticateInternalService(findInternalService: FindInternalService): RequestHandler {
  return (req, res, next) => {
    const [, credential] = /^Bearer ([\w.-]+)$/i.exec(req.headers.authorization ?? '') ?? [];
    const internalService = credential && credential.length <= longest ? findInternalService(credential) : undefined;
    if (internalService === undefined) throw new AppError('ERR-INVALID-CREDENTIALS');
    extendContext(res, { internalService });
    next();
  };
}
