import { maxTokenSeconds } from '@auth-account/config';
import { routes } from '@auth-account/contracts';
import type { ServerMetadata } from '@auth-account/contracts/http/metadata';
import type { ReportedSettings } from '@auth-account/messaging/process-reports';
import type { Logger } from '@auth-account/telemetry';
import {
  assertAccessTokenKeys,
  assertRefreshTokenKeys,
  createAccessTokenSigner,
  createEmailChangeTokens,
  createEmailCodes,
  createRefreshTokens,
  createRemovalStopTokens,
  createSealedSecrets,
  createSealedTokens,
  createStatementSigner,
  type EmailCodes,
  type KeyFileWatch,
  type RefreshTokens,
  reportKeys,
  type SealedSecrets,
  type SealedTokens,
  type UndoTokens,
  watchKeys,
} from '@auth-account/tokens';
import {
  type AccessTokenClaims,
  algorithmOf,
  createCachedVerifier,
  type KeySet,
  type KeySource,
  publicKeySet,
  type VerifiedAccessToken,
} from '@auth-account/verifier/access-token';
import type { ApiConfig } from '../config.ts';
import type { PublicDocuments } from '../http/operations.ts';
import type { ApiMetrics } from '../runtime/metrics.ts';
import type { createHashThreads } from '../security/hash-threads.ts';
import {
  createFindInternalService,
  type FindInternalService,
  readInternalServiceSecrets,
} from '../security/internal-service-secrets.ts';
import { openHasher } from '../security/open-hasher.ts';
import { wellKnownFiles } from '../security/passkeys/well-known-files.ts';
import { loadBlockLists } from '../security/password-block-list.ts';
import type { PasswordHasher } from '../security/password-hasher.ts';
import { createServerSecrets, readServerSecrets, type ServerSecrets } from '../security/server-secrets.ts';
import { createVerifyDeviceProof, type VerifyDeviceProof } from '../security/verify-device-proof.ts';
import { openProviders, type ProviderParts } from './provider-tokens.ts';

/** Overrides for tests. */
export interface TestOverrides {
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** The same by the host's clock, for times that users' devices and providers write; `now` by default. */
  readonly hostNow?: () => number;
  /** Milliseconds between two checks of a key file. */
  readonly keyFileIntervalMs?: number;
  readonly createHashThreads?: typeof createHashThreads;
}

/** The parts for passwords and tokens, which need keys or CPU but no connection. */
export interface Security extends ProviderParts {
  readonly hasher: PasswordHasher;
  /** Returns true if the password is on a block list. */
  readonly isBlockedPassword: (password: string) => boolean;
  /** Name of the Argon2 binding that was loaded. */
  readonly argon2Name: string;
  readonly signAccessToken: (claims: AccessTokenClaims) => string;
  readonly verifyAccessToken: (token: string) => Promise<VerifiedAccessToken>;
  readonly verifyDeviceProof: VerifyDeviceProof;
  readonly refreshTokens: RefreshTokens;
  readonly codes: EmailCodes;
  readonly emailChangeTokens: UndoTokens;
  readonly removalStopTokens: UndoTokens;
  readonly sealedSecrets: SealedSecrets;
  readonly sealedTokens: SealedTokens;
  readonly secrets: ServerSecrets;
  readonly serverKeys: KeySource;
  /** Returns the ids of the keys that sign and that count, by kind. */
  readonly reportedKeys: () => ReportedSettings['keys'];
  /** Signs the statements about revocations for internal services. */
  readonly signStatement: ReturnType<typeof createStatementSigner>;
  readonly findInternalService: FindInternalService;
  readonly publicDocuments: PublicDocuments;
  /** Stops the checks of the key files, and ends the hash threads. */
  close(): Promise<void>;
}

/** Reads the key files and loads Argon2. Throws if a key file is missing or wrong. */
export async function composeSecurity(
  config: ApiConfig,
  metrics: ApiMetrics,
  logger: Logger,
  { now = Date.now, hostNow = now, keyFileIntervalMs, createHashThreads: createThreads }: TestOverrides = {},
): Promise<Security> {
  const watched = { logger, setRefused: metrics.setKeyFileRefused, intervalMs: keyFileIntervalMs };
  const checkAccess = (set: KeySet) => assertAccessTokenKeys(set, 'sign');
  const [accessKeys, refreshKeys, serverKeys, internalServiceKeys] = await Promise.all([
    watchKeys(config.ACCESS_TOKEN_KEYS_FILE, { check: checkAccess, ...watched }),
    watchKeys(config.REFRESH_TOKEN_KEYS_FILE, { check: assertRefreshTokenKeys, ...watched }),
    watchKeys(config.SERVER_KEYS_FILE, { check: readServerSecrets, ...watched }),
    watchInternalServices(config, watched),
  ]);
  const access = {
    keys: accessKeys,
    issuer: config.TOKEN_ISSUER,
    audience: config.TOKEN_AUDIENCE,
    ttlSeconds: config.ACCESS_TOKEN_TTL_SECONDS,
    now,
  };
  const { hasher, argon2Name, close } = await openHasher({
    cost: { memoryKib: config.ARGON2_MEMORY_KIB, passes: config.ARGON2_PASSES, lanes: config.ARGON2_LANES },
    concurrency: config.HASH_CONCURRENCY,
    memoryMib: config.HASH_MEMORY_MIB,
    queueLimit: config.HASH_QUEUE_LIMIT,
    queueTimeoutMs: config.HASH_QUEUE_TIMEOUT_MS,
    metrics,
    logger,
    createThreads,
  });
  return {
    hasher,
    isBlockedPassword: await loadBlockLists(
      { name: config.PASSWORD_BLOCKLIST, file: config.PASSWORD_BLOCKLIST_FILE },
      logger,
    ),
    argon2Name,
    signAccessToken: createAccessTokenSigner(access),
    verifyAccessToken: await createCachedVerifier({
      ...access,
      ttlSeconds: maxTokenSeconds(config),
      maxEntries: config.TOKEN_CACHE_ENTRIES,
      onLookup: (result) => metrics.tokenLookups.inc({ result }),
      onVerdict: (result) => metrics.accessTokens.inc({ result }),
    }),
    verifyDeviceProof: countFaults(createVerifyDeviceProof({ issuer: config.TOKEN_ISSUER, now: hostNow }), metrics),
    refreshTokens: createRefreshTokens(refreshKeys),
    codes: createEmailCodes(serverKeys),
    emailChangeTokens: createEmailChangeTokens(serverKeys),
    removalStopTokens: createRemovalStopTokens(serverKeys),
    sealedSecrets: createSealedSecrets(serverKeys),
    sealedTokens: createSealedTokens(serverKeys),
    ...openProviders(config, { metrics, logger, now: hostNow }),
    secrets: createServerSecrets(serverKeys),
    serverKeys,
    reportedKeys: () => ({
      access: reportKeys(accessKeys),
      refresh: reportKeys(refreshKeys),
      server: reportKeys(serverKeys),
    }),
    signStatement: createStatementSigner(access),
    findInternalService:
      internalServiceKeys === undefined ? () => undefined : createFindInternalService(internalServiceKeys),
    publicDocuments: {
      publicKeys: () => publicKeySet(accessKeys.current()),
      metadata: () => metadataOf(config, accessKeys.current()),
      wellKnown: wellKnownFiles(config),
    },
    async close() {
      await close();
      for (const keys of [accessKeys, refreshKeys, serverKeys, internalServiceKeys]) keys?.close();
    },
  };
}

/** Counts the headers that are no proof. */
function countFaults(verify: VerifyDeviceProof, { deviceProofs }: ApiMetrics): VerifyDeviceProof {
  return (header, request) => {
    const proof = verify(header, request);
    if (typeof proof === 'string') deviceProofs.inc({ fault: proof });
    return proof;
  };
}

/** Watches the file of internal services' secrets. Without such a file there is no feed of revocations. */
async function watchInternalServices(
  { REVOCATION_FEED_SECRETS_FILE: file }: ApiConfig,
  watched: Omit<Parameters<typeof watchKeys>[1], 'check'>,
): Promise<KeyFileWatch | undefined> {
  return file === undefined ? undefined : watchKeys(file, { check: readInternalServiceSecrets, ...watched });
}

/**
 * Returns the metadata of RFC 8414. The URL of the keys begins with the issuer, which is the public URL of the api. RFC
 * 8414 also requires `response_types_supported` and `token_endpoint`, but they would be false here, because login and
 * refresh are not OAuth endpoints.
 */
function metadataOf(config: ApiConfig, { keys }: KeySet): ServerMetadata {
  const algorithms = [...new Set(keys.map(algorithmOf))];
  return {
    issuer: config.TOKEN_ISSUER,
    jwks_uri: config.TOKEN_ISSUER.replace(/\/$/, '') + routes.listPublicKeys.path,
    access_token_signing_alg_values_supported: algorithms,
    id_token_signing_alg_values_supported: algorithms,
    access_token_max_lifetime_seconds: maxTokenSeconds(config),
    acr_values_supported: ['1', '2'],
    dpop_signing_alg_values_supported: ['ES256'],
  };
}
