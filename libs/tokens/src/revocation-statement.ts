import { type AccessTokenSettings, oncePerSet, toKeySource } from '@auth-account/verifier/access-token';
import { type RevocationStatement, statementAudience, statementType } from '@auth-account/verifier/statement';
import { importSigningKey } from './access-token-keys.ts';
import { signJwt } from './sign-jwt.ts';

/** A statement about revocations, without the claims that its signer adds. */
export type StatedRevocations = Omit<RevocationStatement, 'iss' | 'aud' | 'iat'>;

/**
 * Signs statements about revocations for an internal service, with the same key as access tokens. Type and audience
 * distinguish a statement from an access token.
 */
export function createStatementSigner({
  issuer,
  keys,
  now = Date.now,
}: Pick<AccessTokenSettings, 'keys' | 'issuer' | 'now'>): (
  internalService: string,
  statement: StatedRevocations,
) => string {
  const source = toKeySource(keys);
  const signingKey = oncePerSet(importSigningKey);
  return (internalService, statement) => {
    const claims: RevocationStatement = {
      iss: issuer,
      aud: statementAudience(internalService),
      iat: Math.floor(now() / 1_000),
      ...statement,
    };
    return signJwt(claims, statementType, signingKey(source.current()));
  };
}
