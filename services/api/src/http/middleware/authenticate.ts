import { AppError } from '@auth-account/errors';
import { withSpan } from '@auth-account/telemetry';
import type { VerifiedAccessToken } from '@auth-account/tokens';
import type { RequestHandler } from 'express';
import { extendContext } from '../request-context.ts';

/** RFC 6750 section 2.1: the scheme in any case, one space, a token of the b64token alphabet. */
const bearerPattern = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i;

export interface AuthenticateDeps {
  readonly verify: (token: string) => Promise<VerifiedAccessToken>;
  /** The last check, if the route has one. */
  readonly assertNotDenied?: ((caller: VerifiedAccessToken) => Promise<void>) | undefined;
}

/**
 * Verifies the access token and puts its claims into the context: signature, claims, expiry, deny list. Raises
 * `IAD_JWT_ACCESS_INVALID` and `IAD_JWT_ACCESS_EXPIRED`.
 */
export function authenticate({ verify, assertNotDenied }: AuthenticateDeps): RequestHandler {
  return async (req, res, next) => {
    const { authorization } = req.headers;
    if (authorization === undefined) {
      // RFC 6750 section 3.1: a request without credentials gets no error word.
      throw new AppError('IAD_JWT_ACCESS_INVALID', { headers: { 'WWW-Authenticate': 'Bearer' } });
    }
    const token = bearerPattern.exec(authorization)?.[1];
    if (token === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const caller = await withSpan('access_token.verify', {}, async () => {
      const claims = await verify(token);
      extendContext(res, { bearer: claims });
      await assertNotDenied?.(claims);
      return claims;
    });
    extendContext(res, { caller });
    next();
  };
}
