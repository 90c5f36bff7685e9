import { randomUUID } from 'node:crypto';
import type { AccountType } from '@auth-account/contracts';
import { AppError } from '@auth-account/errors';
import { type CryptoKey, errors, importJWK, type JWK, jwtVerify, SignJWT } from 'jose';
import type { KeyEntry, KeySet } from './key-file.ts';

/** The algorithms that a deployment may choose; only the chosen one is accepted. */
export type AccessTokenAlgorithm = 'EdDSA' | 'ES256';

/** What an access token says of its bearer (decisions, "Tokens"). */
export interface AccessTokenClaims {
  readonly user_id: string;
  readonly home_group_id: string;
  readonly account_type: AccountType;
  /** Session. */
  readonly sid: string;
  /** Version of the session's claims; the deny list holds the smallest that is still good. */
  readonly ver: number;
  readonly device_id: string;
}

/** A verified token: its claims and its end, in seconds since the epoch. */
export interface VerifiedAccessToken extends AccessTokenClaims {
  readonly exp: number;
}

export interface AccessTokenSettings {
  readonly keys: KeySet;
  readonly algorithm: AccessTokenAlgorithm;
  readonly issuer: string;
  readonly audience: string;
  /** Milliseconds since the epoch; the system's clock where absent. */
  readonly now?: () => number;
}

const type = 'at+jwt';
/** Difference of clocks that is forgiven, in seconds. */
const leewaySeconds = 5;

/**
 * Makes the function that signs access tokens (RFC 9068) with the first key of the set.
 *
 * `ttlSeconds` is the token's lifetime.
 */
export async function createAccessTokenSigner(
  settings: AccessTokenSettings & { readonly ttlSeconds: number },
): Promise<(claims: AccessTokenClaims) => Promise<string>> {
  const { algorithm, issuer, audience, ttlSeconds, now = Date.now } = settings;
  const [first] = settings.keys.keys;
  const key = await importKey(first, algorithm);
  if (key.type !== 'private') throw new Error(`key ${first.kid} cannot sign: it has no private part`);
  const header = { alg: algorithm, typ: type, kid: first.kid };
  return (claims) => {
    const issuedAt = Math.floor(now() / 1000);
    return new SignJWT({ ...claims, client_id: audience })
      .setProtectedHeader(header)
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(claims.user_id)
      .setJti(randomUUID())
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ttlSeconds)
      .sign(key);
  };
}

/**
 * Makes the function that verifies access tokens: signature, then claims, then expiry. It does not know the deny list.
 *
 * The function raises `IAD_JWT_ACCESS_INVALID` for anything but a well-formed token of this issuer and audience, signed
 * by one of the keys with the configured algorithm, and `IAD_JWT_ACCESS_EXPIRED` where only its time is over.
 */
export async function createAccessTokenVerifier(
  settings: AccessTokenSettings,
): Promise<(token: string) => Promise<VerifiedAccessToken>> {
  const { algorithm, issuer, audience, now = Date.now } = settings;
  const keys = await importPublicKeys(settings.keys, algorithm);
  const options = { algorithms: [algorithm], issuer, audience, typ: type, clockTolerance: leewaySeconds };
  return async (token) => {
    const nowMs = now();
    try {
      const { payload } = await jwtVerify(
        token,
        ({ kid }) => {
          const key = kid === undefined ? undefined : keys.get(kid);
          if (key === undefined) throw new errors.JWKSNoMatchingKey();
          return key;
        },
        { ...options, currentDate: new Date(nowMs), requiredClaims: ['exp', 'iat', 'sub', 'jti'] },
      );
      return readClaims(payload, nowMs);
    } catch (error) {
      throw toTokenError(error, nowMs);
    }
  };
}

/** The public half of the set, for `/.well-known/jwks.json`. */
export function publicKeySet(keys: KeySet, algorithm: AccessTokenAlgorithm): { keys: JWK[] } {
  return { keys: keys.keys.map((key) => ({ ...publicJwk(key), use: 'sig', alg: algorithm })) };
}

async function importPublicKeys(set: KeySet, algorithm: AccessTokenAlgorithm): Promise<Map<string, CryptoKey>> {
  const entries = set.keys.map(async (key) => [key.kid, await importKey(publicJwk(key), algorithm)] as const);
  return new Map(await Promise.all(entries));
}

async function importKey(jwk: KeyEntry, algorithm: AccessTokenAlgorithm): Promise<CryptoKey> {
  const [kty, crv] = algorithm === 'EdDSA' ? ['OKP', 'Ed25519'] : ['EC', 'P-256'];
  if (jwk.kty !== kty || jwk.crv !== crv) {
    throw new Error(`key ${jwk.kid} does not fit ${algorithm}: it must be of kty ${kty} and crv ${crv}`);
  }
  const key = await importJWK(jwk as JWK, algorithm);
  if (key instanceof Uint8Array) throw new Error(`key ${jwk.kid} is a symmetric key`);
  return key;
}

function publicJwk({ kid, kty, crv, x, y }: KeyEntry): KeyEntry {
  return { kid, kty, crv, x, ...(y === undefined ? {} : { y }) };
}

function toTokenError(error: unknown, nowMs: number): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof errors.JWTExpired) {
    // jose has held issuer and audience against the token by now, but ours not yet: claims come before expiry.
    readClaims(error.payload, nowMs);
    return new AppError('IAD_JWT_ACCESS_EXPIRED', { cause: error });
  }
  if (error instanceof errors.JOSEError || error instanceof TypeError) {
    return new AppError('IAD_JWT_ACCESS_INVALID', { cause: error });
  }
  throw error;
}

function readClaims(payload: Record<string, unknown>, nowMs: number): VerifiedAccessToken {
  const { user_id, sub, home_group_id, account_type, sid, ver, device_id, exp, iat } = payload;
  const isGood =
    isText(user_id) &&
    sub === user_id &&
    isText(home_group_id) &&
    (account_type === 'HOME' || account_type === 'OFFICE') &&
    isText(sid) &&
    Number.isSafeInteger(ver) &&
    isText(device_id) &&
    (iat as number) <= nowMs / 1000 + leewaySeconds;
  if (!isGood) throw new AppError('IAD_JWT_ACCESS_INVALID');
  return { user_id, home_group_id, account_type, sid, ver: ver as number, device_id, exp: exp as number };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0;
}
