import { isAppError } from '@auth-account/errors';
import type { AccessTokenClaims } from './access-token.ts';

/** The cause of an `IAD_JWT_ACCESS_EXPIRED`: no error, as a stack of its own would be work for each of many. */
export class ExpiredClaims {
  readonly claims: AccessTokenClaims;

  constructor(claims: AccessTokenClaims) {
    this.claims = claims;
  }
}

/**
 * The claims of the token that an `IAD_JWT_ACCESS_EXPIRED` refused: genuine, and good for nothing but to say whose it was.
 * Undefined for every other error.
 */
export function findExpiredClaims(error: unknown): AccessTokenClaims | undefined {
  return isAppError(error) && error.cause instanceof ExpiredClaims ? error.cause.claims : undefined;
}
