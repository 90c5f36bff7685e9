export { type AccessTokenClaims, type AccessTokenSettings, createAccessTokenSigner } from './access-token.ts';
export { type AccessTokenAlgorithm, assertAccessTokenKeys, publicKeySet } from './access-token-keys.ts';
export { createAccessTokenVerifier, type VerifiedAccessToken } from './access-token-verifier.ts';
export { type KeyEntry, type KeySet, loadKeyFile, parseKeySet } from './key-file.ts';
export type { KeySource } from './key-source.ts';
export {
  assertRefreshTokenKeys,
  createRefreshTokens,
  type RefreshTokenParts,
  type RefreshTokens,
  refreshTokenHash,
} from './refresh-token.ts';
export { type KeyFileWatch, type WatchKeyFileOptions, watchKeyFile } from './watch-key-file.ts';
