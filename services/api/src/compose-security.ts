import { availableParallelism } from 'node:os';
import type { Logger } from '@auth-account/telemetry';
import {
  type AccessTokenClaims,
  createAccessTokenSigner,
  createAccessTokenVerifier,
  createRefreshTokens,
  loadKeyFile,
  type RefreshTokens,
  type VerifiedAccessToken,
} from '@auth-account/tokens';
import type { ApiConfig } from './config.ts';
import type { ApiMetrics } from './metrics.ts';
import { loadArgon2 } from './security/argon2-binding.ts';
import { createHashGate } from './security/hash-gate.ts';
import { createPasswordHasher, type PasswordHasher } from './security/password-hasher.ts';

/** Passwords and tokens: what needs keys or the processor, and no connection. */
export interface Security {
  readonly hasher: PasswordHasher;
  /** Which Argon2 binding was loaded. */
  readonly argon2Name: string;
  readonly signAccessToken: (claims: AccessTokenClaims) => Promise<string>;
  readonly verifyAccessToken: (token: string) => Promise<VerifiedAccessToken>;
  readonly refreshTokens: RefreshTokens;
}

/** Reads the key files and loads Argon2. Throws where a key file is not there or not right. */
export async function composeSecurity(config: ApiConfig, metrics: ApiMetrics, logger: Logger): Promise<Security> {
  const [accessKeys, refreshKeys] = await Promise.all([
    loadKeyFile(config.ACCESS_TOKEN_KEYS_FILE),
    loadKeyFile(config.REFRESH_TOKEN_KEYS_FILE),
  ]);
  const access = {
    keys: accessKeys,
    algorithm: config.ACCESS_TOKEN_ALGORITHM,
    issuer: config.TOKEN_ISSUER,
    audience: config.TOKEN_AUDIENCE,
  };
  const gate = createHashGate({
    slots: config.HASH_CONCURRENCY || availableParallelism(),
    queueLimit: config.HASH_QUEUE_LIMIT,
    waitMs: config.HASH_QUEUE_TIMEOUT_MS,
    onShed: (reason) => metrics.hashesShed.inc({ reason }),
  });
  metrics.observeHashQueue(() => gate.waiting);
  const argon2 = await loadArgon2((error) => logger.warn({ err: error }, 'the faster Argon2 binding does not load'));
  const cost = { memoryKib: config.ARGON2_MEMORY_KIB, passes: config.ARGON2_PASSES, lanes: config.ARGON2_LANES };
  return {
    hasher: await createPasswordHasher({ argon2, gate, cost }),
    argon2Name: argon2.name,
    signAccessToken: await createAccessTokenSigner({ ...access, ttlSeconds: config.ACCESS_TOKEN_TTL_SECONDS }),
    verifyAccessToken: await createAccessTokenVerifier(access),
    refreshTokens: createRefreshTokens(refreshKeys),
  };
}
