export { type AccessTokenClaims, type AccessTokenSettings, createAccessTokenSigner } from './access-token.ts';
export { type AccessTokenAlgorithm, assertAccessTokenKeys, publicKeySet } from './access-token-keys.ts';
export {
  createAccessTokenVerifier,
  findExpiredClaims,
  type VerifiedAccessToken,
  type VerifyAccessToken,
} from './access-token-verifier.ts';
export { createEmailChangeTokens, type EmailChangeTokens } from './email-change-token.ts';
export { createEmailCodes, type EmailCodeParts, type EmailCodes } from './email-code.ts';
export { generateSecretKey, generateSigningKey } from './generate-key.ts';
export { type KeyEntry, type KeySet, loadKeyFile, parseKeySet } from './key-file.ts';
export type { KeySource } from './key-source.ts';
export { readSecret } from './read-secret.ts';
export {
  assertRefreshTokenKeys,
  createRefreshTokens,
  type RefreshTokenParts,
  type RefreshTokens,
  refreshTokenHash,
} from './refresh-token.ts';
export { createCachedVerifier, createVerifierCache, type VerifierCacheOptions } from './verifier-cache.ts';
export type { KeyFileWatch } from './watch-key-file.ts';
export { watchKeys } from './watch-keys.ts';
export { type WriteKeyFileOptions, writeKeyFile } from './write-key-file.ts';
export { writePublicKeyFile } from './write-public-key-file.ts';
