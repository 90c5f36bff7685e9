export {
  type AccessTokenAlgorithm,
  type AccessTokenClaims,
  type AccessTokenSettings,
  createAccessTokenVerifier,
  createCachedVerifier,
  createVerifierCache,
  findExpiredClaims,
  type KeyEntry,
  type KeySet,
  type KeySource,
  oncePerSet,
  parseKeySet,
  publicKeySet,
  readBearer,
  type VerifiedAccessToken,
  type VerifierCacheOptions,
  type VerifyAccessToken,
} from '@auth-account/verifier/access-token';
export { createAccessTokenSigner } from './access-token.ts';
export { assertAccessTokenKeys } from './access-token-keys.ts';
export { createEmailChangeTokens, type EmailChangeTokens } from './email-change-token.ts';
export { createEmailCodes, type EmailCodeParts, type EmailCodes } from './email-code.ts';
export { generateSecretKey, generateSigningKey } from './generate-key.ts';
export { loadKeyFile } from './key-file.ts';
export { readSecret } from './read-secret.ts';
export {
  assertRefreshTokenKeys,
  createRefreshTokens,
  type RefreshTokenParts,
  type RefreshTokens,
  refreshTokenHash,
} from './refresh-token.ts';
export { createStatementSigner, type StatedRevocations } from './revocation-statement.ts';
export type { KeyFileWatch } from './watch-key-file.ts';
export { watchKeys } from './watch-keys.ts';
export { type WriteKeyFileOptions, writeKeyFile } from './write-key-file.ts';
export { writePublicKeyFile } from './write-public-key-file.ts';
