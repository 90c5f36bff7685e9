import { withSpan } from '@auth-account/telemetry';
import { readBearer, type VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { RequestHandler } from 'express';
import { extendContext } from '../request-context.ts';

export interface AuthenticateDeps {
  readonly verify: (token: string) => Promise<VerifiedAccessToken>;
  /** The last check of the token, if the route has one. */
  readonly assertNotDenied?: ((caller: VerifiedAccessToken) => Promise<void>) | undefined;
}

/**
 * Verifies the access token (signature, claims, expiry, deny list) and puts its claims into the context. Raises
 * `IAD_JWT_ACCESS_INVALID` and `IAD_JWT_ACCESS_EXPIRED`.
 */
export function authenticate({ verify, assertNotDenied }: AuthenticateDeps): RequestHandler {
  return async (req, res, next) => {
    const token = readBearer(req.headers.authorization);
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
