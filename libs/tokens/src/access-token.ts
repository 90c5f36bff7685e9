import { randomUUID } from 'node:crypto';
import type { AccountType } from '@auth-account/contracts';
import { SignJWT } from 'jose';
import { type AccessTokenAlgorithm, importSigningKey } from './access-token-keys.ts';
import type { KeySet } from './key-file.ts';
import { type KeySource, oncePerSet, toKeySource } from './key-source.ts';

/** Claims of an access token about its bearer (decisions, "Tokens"). */
export interface AccessTokenClaims {
  readonly user_id: string;
  readonly home_group_id: string;
  readonly account_type: AccountType;
  /** Session id. */
  readonly sid: string;
  /** Version of the session's claims; the deny list holds the smallest version that is still good. */
  readonly ver: number;
  readonly device_id: string;
}

export interface AccessTokenSettings {
  /** Keys: the first signs, all verify. A change of the source applies from the next token on. */
  readonly keys: KeySet | KeySource;
  readonly algorithm: AccessTokenAlgorithm;
  readonly issuer: string;
  readonly audience: string;
  /** Life of a token in seconds: the signer sets it, and the verifier accepts no longer one. */
  readonly ttlSeconds: number;
  /** Returns milliseconds since the epoch; the system's clock if absent. */
  readonly now?: () => number;
}

/** RFC 9068 section 2.1. */
export const accessTokenType = 'at+jwt';

/**
 * Creates the function that signs access tokens (RFC 9068) with the first key of the set. Rejects if that key can't
 * sign.
 */
export async function createAccessTokenSigner(
  settings: AccessTokenSettings,
): Promise<(claims: AccessTokenClaims) => Promise<string>> {
  const { algorithm, issuer, audience, ttlSeconds, now = Date.now } = settings;
  const source = toKeySource(settings.keys);
  const signingKey = oncePerSet((set) => importSigningKey(set, algorithm));
  await signingKey(source.current());
  return async (claims) => {
    const { kid, key } = await signingKey(source.current());
    const issuedAt = Math.floor(now() / 1000);
    return new SignJWT({ ...claims, client_id: audience })
      .setProtectedHeader({ alg: algorithm, typ: accessTokenType, kid })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(claims.user_id)
      .setJti(randomUUID())
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ttlSeconds)
      .sign(key);
  };
}
