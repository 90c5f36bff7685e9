import { AppError } from '@auth-account/errors';
import type { VerifiedAccessToken } from '@auth-account/tokens';
import type { RequestHandler } from 'express';
import { extendContext } from '../request-context.ts';

/** RFC 6750 section 2.1: the scheme in any case, one space, a token of the b64token alphabet. */
const bearerPattern = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * Verifies the access token and puts its claims into the context. Raises `IAD_JWT_ACCESS_INVALID` and
 * `IAD_JWT_ACCESS_EXPIRED`. It does not look at the deny list: logout, by decision, must not.
 */
export function authenticate(verify: (token: string) => Promise<VerifiedAccessToken>): RequestHandler {
  return async (req, res, next) => {
    const { authorization } = req.headers;
    if (authorization === undefined) {
      // RFC 6750 section 3.1: a request without credentials gets no error word.
      throw new AppError('IAD_JWT_ACCESS_INVALID', { headers: { 'WWW-Authenticate': 'Bearer' } });
    }
    const token = bearerPattern.exec(authorization)?.[1];
    if (token === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    extendContext(res, { caller: await verify(token) });
    next();
  };
}
