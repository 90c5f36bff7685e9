import { randomUUID } from 'node:crypto';
import {
  type AccessTokenClaims,
  type AccessTokenSettings,
  accessTokenType,
  oncePerSet,
  toKeySource,
} from '@auth-account/verifier/access-token';
import { SignJWT } from 'jose';
import { importSigningKey } from './access-token-keys.ts';

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
