import { randomUUID } from 'node:crypto';
import {
  type AccessTokenClaims,
  type AccessTokenSettings,
  accessTokenType,
  oncePerSet,
  toKeySource,
} from '@auth-account/verifier/access-token';
import { importSigningKey } from './access-token-keys.ts';
import { signJwt } from './sign-jwt.ts';

/**
 * Signs access tokens (RFC 9068) with the first key of the set, by that key's algorithm. Throws if the key can't sign.
 */
export function createAccessTokenSigner(settings: AccessTokenSettings): (claims: AccessTokenClaims) => string {
  const { issuer, audience, ttlSeconds, now = Date.now } = settings;
  const source = toKeySource(settings.keys);
  const signingKey = oncePerSet(importSigningKey);
  signingKey(source.current());
  return (claims) => {
    const iat = Math.floor(now() / 1_000);
    const registered = { iss: issuer, aud: audience, sub: claims.user_id, jti: randomUUID() };
    const payload = { ...claims, client_id: audience, ...registered, iat, exp: iat + ttlSeconds };
    return signJwt(payload, accessTokenType, signingKey(source.current()));
  };
}
