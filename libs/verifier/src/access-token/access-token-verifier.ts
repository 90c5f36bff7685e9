import { AppError, isAppError } from '@auth-account/errors';
import { readTokenText, type TokenText } from './access-token-form.ts';
import { type AccessTokenClaims, type AccessTokenSettings, accessTokenType } from './claims.ts';
import { isSignedBy } from './is-signed-by.ts';
import { createKeyFinder } from './key-finder.ts';
import { toKeySource } from './key-source.ts';

/** A verified token: its claims and its expiry, in seconds since the epoch. */
export interface VerifiedAccessToken extends AccessTokenClaims {
  readonly exp: number;
}

/** Verifies an access token (see {@link createAccessTokenVerifier}). */
export type VerifyAccessToken = (token: string) => Promise<VerifiedAccessToken>;

/** Tolerated difference of clocks, in seconds. */
export const leewaySeconds = 5;

/**
 * Creates the function that verifies access tokens: signature, then claims, then expiry. It does not check the deny
 * list.
 *
 * The function accepts only a well-formed token of this issuer and audience, signed by one of the keys with that
 * key's own algorithm, with a life of at most `ttlSeconds` and the leeway. For any other text it throws
 * `IAD_JWT_ACCESS_INVALID`. If the token's only fault is that it has expired, it throws `IAD_JWT_ACCESS_EXPIRED`
 * (`findExpiredClaims` returns the claims). An unknown `kid` may belong to a new key, so the source of the keys looks
 * again first.
 */
export async function createAccessTokenVerifier(settings: AccessTokenSettings): Promise<VerifyAccessToken> {
  const { now = Date.now } = settings;
  const findKey = createKeyFinder(toKeySource(settings.keys));

  return async (token) => {
    const text = readTokenText(token, accessTokenType);
    if (text === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const key = await findKey(text);
    if (key === undefined || !isSignedBy(key, token)) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const nowMs = now();
    const verified = readClaims(text.payload, settings, nowMs);
    if (verified.exp <= Math.floor(nowMs / 1_000) - leewaySeconds) {
      throw new AppError('IAD_JWT_ACCESS_EXPIRED', { cause: new ExpiredClaims(verified) });
    }
    return verified;
  };
}

/**
 * Cause of an `IAD_JWT_ACCESS_EXPIRED`. It is not an Error, because expired tokens are frequent and a second stack
 * trace for each would cost CPU.
 */
class ExpiredClaims {
  readonly claims: AccessTokenClaims;

  constructor(claims: AccessTokenClaims) {
    this.claims = claims;
  }
}

/**
 * Returns the claims of the token that was refused with `IAD_JWT_ACCESS_EXPIRED`. They are genuine, but may be used
 * only to identify the bearer. Returns undefined for every other error.
 */
export function findExpiredClaims(error: unknown): AccessTokenClaims | undefined {
  return isAppError(error) && error.cause instanceof ExpiredClaims ? error.cause.claims : undefined;
}

/**
 * Checks the claims of RFC 7519 section 4.1, RFC 9068 section 4, and our own. The caller checks the expiry, which has
 * its own error code.
 */
function readClaims(
  payload: TokenText['payload'],
  { issuer, audience, ttlSeconds }: Pick<AccessTokenSettings, 'issuer' | 'audience' | 'ttlSeconds'>,
  nowMs: number,
): VerifiedAccessToken {
  const { iss, user_id, sub, aud, jti, home_group_id, account_type, sid, ver, device_id, exp, iat, nbf } = payload;
  const { auth_time, amr, acr } = payload;
  const isTime = (value: unknown): value is number => isCount(value) && value <= nowMs / 1000 + leewaySeconds;
  const isGood =
    iss === issuer &&
    isText(user_id) &&
    sub === user_id &&
    // Exactly one audience, the way we write it. A token with a list would be valid for another service too.
    aud === audience &&
    isText(jti) &&
    isText(home_group_id) &&
    (account_type === 'HOME' || account_type === 'OFFICE') &&
    isText(sid) &&
    isCount(ver) &&
    isText(device_id) &&
    isCount(exp) &&
    isTime(iat) &&
    iat < exp &&
    // A token with a longer life, issued before the setting was lowered, would outlast its entry in the deny list.
    exp - iat <= ttlSeconds + leewaySeconds &&
    (nbf === undefined || isTime(nbf)) &&
    (auth_time === undefined || isTime(auth_time)) &&
    (amr === undefined || (Array.isArray(amr) && amr.every(isText))) &&
    (acr === undefined || isText(acr));
  if (!isGood) throw new AppError('IAD_JWT_ACCESS_INVALID');
  const proof = { ...(auth_time !== undefined && { auth_time }), ...(amr && { amr }), ...(acr && { acr }) };
  return { user_id, home_group_id, account_type, sid, ver, device_id, exp, ...proof };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
