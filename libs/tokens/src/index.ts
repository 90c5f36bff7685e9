export { createAccessTokenSigner } from './access-token.ts';
export { assertAccessTokenKeys } from './access-token-keys.ts';
export { createEmailChangeTokens, createRemovalStopTokens, type UndoTokens } from './email-change-token.ts';
export { createEmailCodes, type EmailCodes } from './email-code.ts';
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
export { createSealedSecrets, type SealedSecrets } from './sealed-secrets.ts';
export { createSealedTokens, type SealedTokens } from './sealed-tokens.ts';
export { type KeptKeyKind, MissingKeyError } from './secrets.ts';
export { type KeyFileWatch, reportKeys, watchKeys } from './watch-key-file.ts';
export { writeKeyFile, writePublicKeyFile } from './write-key-file.ts';
