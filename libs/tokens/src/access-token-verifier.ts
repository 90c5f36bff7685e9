import { AppError } from '@auth-account/errors';
import { type CryptoKey, errors, jwtVerify } from 'jose';
import { type AccessTokenClaims, type AccessTokenSettings, accessTokenType } from './access-token.ts';
import { readKid } from './access-token-form.ts';
import { importPublicKeys } from './access-token-keys.ts';
import { oncePerSet, toKeySource } from './key-source.ts';

/** A verified token: its claims and its end, in seconds since the epoch. */
export interface VerifiedAccessToken extends AccessTokenClaims {
  readonly exp: number;
}

/** Verifies an access token: see {@link createAccessTokenVerifier}. */
export type VerifyAccessToken = (token: string) => Promise<VerifiedAccessToken>;

/** Difference of clocks that is forgiven, in seconds. */
export const leewaySeconds = 5;

/**
 * Makes the function that verifies access tokens: signature, then claims, then expiry. It does not know the deny list.
 *
 * The function raises `IAD_JWT_ACCESS_INVALID` for anything but a well-formed token of this issuer and audience, signed
 * by one of the keys with the configured algorithm, and `IAD_JWT_ACCESS_EXPIRED` where only its time is over. A `kid` that
 * is not there makes the source of the keys look again first: it may be a key that has just been put in.
 */
export async function createAccessTokenVerifier(settings: AccessTokenSettings): Promise<VerifyAccessToken> {
  const { algorithm, issuer, audience, now = Date.now } = settings;
  const source = toKeySource(settings.keys);
  const publicKeys = oncePerSet((set) => importPublicKeys(set, algorithm));
  await publicKeys(source.current());
  const options = { algorithms: [algorithm], issuer, audience, typ: accessTokenType, clockTolerance: leewaySeconds };

  async function findKey(kid: string): Promise<CryptoKey | undefined> {
    const known = (await publicKeys(source.current())).get(kid);
    if (known !== undefined) return known;
    await source.reread();
    return (await publicKeys(source.current())).get(kid);
  }

  return async (token) => {
    const kid = readKid(token, algorithm, accessTokenType);
    const key = kid === undefined ? undefined : await findKey(kid);
    if (key === undefined) throw new AppError('IAD_JWT_ACCESS_INVALID');
    const nowMs = now();
    const currentDate = new Date(nowMs);
    const requiredClaims = ['exp', 'iat', 'sub', 'jti'];
    try {
      const { payload } = await jwtVerify(token, key, { ...options, currentDate, requiredClaims });
      return readClaims(payload, audience, nowMs);
    } catch (error) {
      throw toTokenError(error, audience, nowMs);
    }
  };
}

function toTokenError(error: unknown, audience: string, nowMs: number): Error {
  if (error instanceof errors.JWTExpired) {
    // jose has held the issuer against the token by now, but our claims not yet: they come before expiry.
    readClaims(error.payload, audience, nowMs);
    return new AppError('IAD_JWT_ACCESS_EXPIRED', { cause: error });
  }
  const isRefusal = error instanceof errors.JOSEError || error instanceof TypeError;
  if (isRefusal) return new AppError('IAD_JWT_ACCESS_INVALID', { cause: error });
  return error instanceof Error ? error : new Error('the token could not be verified', { cause: error });
}

function readClaims(payload: Record<string, unknown>, audience: string, nowMs: number): VerifiedAccessToken {
  const { user_id, sub, aud, jti, home_group_id, account_type, sid, ver, device_id, exp, iat } = payload;
  const isGood =
    isText(user_id) &&
    sub === user_id &&
    // One audience, as we write it: a list is good for somebody else too.
    aud === audience &&
    isText(jti) &&
    isText(home_group_id) &&
    (account_type === 'HOME' || account_type === 'OFFICE') &&
    isText(sid) &&
    isCount(ver) &&
    isText(device_id) &&
    isCount(exp) &&
    isCount(iat) &&
    iat < exp &&
    iat <= nowMs / 1000 + leewaySeconds;
  if (!isGood) throw new AppError('IAD_JWT_ACCESS_INVALID');
  return { user_id, home_group_id, account_type, sid, ver, device_id, exp };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
