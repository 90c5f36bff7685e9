export type { VerifiedAccessToken, VerifyAccessToken } from './access-token-verifier.ts';
export {
  createAccessTokenVerifier,
  findExpiredClaims,
  findTokenFault,
  type TokenFault,
  tokenFaults,
} from './access-token-verifier.ts';
export { type AccessTokenClaims, type AccessTokenSettings, accessTokenType } from './claims.ts';
export { isSignedBy, signatureSchemes } from './is-signed-by.ts';
export { createKeyFinder, type FindKey } from './key-finder.ts';
export { type KeyEntry, type KeySet, parseKeySet } from './key-set.ts';
export { type KeySource, oncePerSet, toKeySource } from './key-source.ts';
export {
  type AccessTokenAlgorithm,
  accessTokenAlgorithms,
  algorithmOf,
  importPublicKeys,
  type PublicKey,
  publicKeySet,
} from './public-keys.ts';
export { readBearer } from './read-bearer.ts';
export { createCachedVerifier, createVerifierCache, type VerifierCacheOptions } from './verifier-cache.ts';
