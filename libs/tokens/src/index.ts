export {
  type AccessTokenAlgorithm,
  type AccessTokenClaims,
  type AccessTokenSettings,
  createAccessTokenSigner,
  createAccessTokenVerifier,
  publicKeySet,
  type VerifiedAccessToken,
} from './access-token.ts';
export { type KeyEntry, type KeySet, loadKeyFile, parseKeySet } from './key-file.ts';
export { createRefreshTokens, type RefreshTokenParts, type RefreshTokens, refreshTokenHash } from './refresh-token.ts';
