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
 * Verifies access tokens: signature, then claims, then expiry. It does not check the deny list.
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
    if (text === undefined) throw refused('malformed');
    const key = await findKey(text);
    if (key === undefined) throw refused('key');
    if (!isSignedBy(key, token)) throw refused('signature');
    const nowMs = now();
    const verified = readClaims(text.payload, settings, nowMs);
    if (verified.exp <= Math.floor(nowMs / 1_000) - leewaySeconds) {
      throw new AppError('IAD_JWT_ACCESS_EXPIRED', { cause: new ExpiredClaims(verified) });
    }
    return verified;
  };
}

/**
 * First faults of tokens that are refused with `IAD_JWT_ACCESS_INVALID`: `malformed` (not written by our signer), `key`
 * (not in the key set), `early` (issued later than now, by the verifier's clock), `long` (a longer life than is accepted).
 */
export const tokenFaults = [
  ...(['malformed', 'key', 'signature', 'issuer', 'audience'] as const),
  ...(['early', 'long', 'claims'] as const),
] as const;
export type TokenFault = (typeof tokenFaults)[number];

/** Cause of an `IAD_JWT_ACCESS_INVALID`. Like the class below, it is no Error. */
class InvalidToken {
  readonly fault: TokenFault;

  constructor(fault: TokenFault) {
    this.fault = fault;
  }
}

const refused = (fault: TokenFault) => new AppError('IAD_JWT_ACCESS_INVALID', { cause: new InvalidToken(fault) });

/** Returns the fault of the token that was refused with this error; undefined if the error is another. */
export function findTokenFault(error: unknown): TokenFault | 'expired' | undefined {
  if (!isAppError(error)) return undefined;
  if (error.cause instanceof InvalidToken) return error.cause.fault;
  return error.cause instanceof ExpiredClaims ? 'expired' : undefined;
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
  if (iss !== issuer) throw refused('issuer');
  // Exactly one audience, the way we write it. A token with a list would be valid for another service too.
  if (aud !== audience) throw refused('audience');
  const isGood =
    isText(user_id) &&
    sub === user_id &&
    isText(jti) &&
    isText(home_group_id) &&
    (account_type === 'HOME' || account_type === 'OFFICE') &&
    isText(sid) &&
    isCount(ver) &&
    isText(device_id) &&
    isCount(exp) &&
    isCount(iat) &&
    iat < exp &&
    (nbf === undefined || isCount(nbf)) &&
    (auth_time === undefined || isCount(auth_time)) &&
    (amr === undefined || (Array.isArray(amr) && amr.every(isText))) &&
    (acr === undefined || isText(acr));
  if (!isGood) throw refused('claims');
  // A token with a longer life, issued before the setting was lowered, would outlast its entry in the deny list.
  if (exp - iat > ttlSeconds + leewaySeconds) throw refused('long');
  if ([iat, nbf, auth_time].some((time) => Number(time ?? 0) > nowMs / 1000 + leewaySeconds)) throw refused('early');
  const proof = { ...(auth_time !== undefined && { auth_time }), ...(amr && { amr }), ...(acr && { acr }) };
  return { user_id, home_group_id, account_type, sid, ver, device_id, exp, ...proof };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
