import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { longestTokenSeconds } from '@auth-account/config';
import type { Logger } from '@auth-account/telemetry';
import {
  type AccessTokenClaims,
  assertAccessTokenKeys,
  assertRefreshTokenKeys,
  createAccessTokenSigner,
  createAccessTokenVerifier,
  createRefreshTokens,
  createVerifierCache,
  type KeyFileWatch,
  type KeySet,
  publicKeySet,
  type RefreshTokens,
  type VerifiedAccessToken,
  type WatchKeyFileOptions,
  watchKeyFile,
} from '@auth-account/tokens';
import type { ApiConfig } from '../config.ts';
import { loadCommonPasswords } from '../security/common-passwords.ts';
import { createHashGate } from '../security/hash-gate.ts';
import { hashSlots } from '../security/hash-slots.ts';
import { createHashThreads, type HashThreads } from '../security/hash-threads.ts';
import { loadPasswordBlockList, type PasswordBlockList } from '../security/password-block-list.ts';
import { createPasswordHasher, type PasswordHasher } from '../security/password-hasher.ts';
import { readProcessLimits } from '../security/process-limits.ts';
import { createServerSecrets, readServerSecrets, type ServerSecrets } from '../security/server-secrets.ts';
import type { ApiMetrics } from './metrics.ts';

/** What tests replace. */
export interface TestOverrides {
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Milliseconds between two looks at a key file. */
  readonly keyFileIntervalMs?: number;
}

/** Passwords and tokens: what needs keys or the processor, and no connection. */
export interface Security {
  readonly hasher: PasswordHasher;
  /** Is it one that nobody may choose? */
  readonly isBlockedPassword: (password: string) => boolean;
  /** Which Argon2 binding was loaded. */
  readonly argon2Name: string;
  readonly signAccessToken: (claims: AccessTokenClaims) => Promise<string>;
  readonly verifyAccessToken: (token: string) => Promise<VerifiedAccessToken>;
  readonly refreshTokens: RefreshTokens;
  readonly serverSecrets: ServerSecrets;
  /** What `/.well-known/jwks.json` answers: always the keys as they now are. */
  readonly publicKeys: unknown;
  /** Looks at the key files no more, and ends the hash threads. */
  close(): Promise<void>;
}

/** Reads the key files and loads Argon2. Throws where a key file is not there or not right. */
export async function composeSecurity(
  config: ApiConfig,
  metrics: ApiMetrics,
  logger: Logger,
  { now = Date.now, keyFileIntervalMs }: TestOverrides = {},
): Promise<Security> {
  const algorithm = config.ACCESS_TOKEN_ALGORITHM;
  const interval = keyFileIntervalMs === undefined ? {} : { intervalMs: keyFileIntervalMs };
  const checkAccess = (set: KeySet) => assertAccessTokenKeys(set, algorithm, 'sign');
  const [accessKeys, refreshKeys, serverKeys] = await Promise.all([
    watchKeys(config.ACCESS_TOKEN_KEYS_FILE, { check: checkAccess, ...interval }, logger),
    watchKeys(config.REFRESH_TOKEN_KEYS_FILE, { check: assertRefreshTokenKeys, ...interval }, logger),
    watchKeys(config.SERVER_KEYS_FILE, { check: readServerSecrets, ...interval }, logger),
  ]);
  const access = {
    keys: accessKeys,
    algorithm,
    issuer: config.TOKEN_ISSUER,
    audience: config.TOKEN_AUDIENCE,
    ttlSeconds: config.ACCESS_TOKEN_TTL_SECONDS,
    now,
  };
  const accepted = { ...access, ttlSeconds: longestTokenSeconds(config) };
  const hashThreads = await createHashThreads({
    onFallback: (error) => logger.warn({ err: error }, 'the faster Argon2 binding does not load'),
    onDeath: (error) => logger.error({ err: error }, 'a hash thread died'),
  });
  return {
    hasher: await composeHasher(hashThreads, config, metrics, logger),
    isBlockedPassword: await composeBlockList(config, logger),
    argon2Name: hashThreads.argon2.name,
    signAccessToken: await createAccessTokenSigner(access),
    verifyAccessToken: createVerifierCache(await createAccessTokenVerifier(accepted), {
      ...access,
      maxEntries: config.TOKEN_CACHE_ENTRIES,
      onLookup: (result) => metrics.tokenLookups.inc({ result }),
    }),
    refreshTokens: createRefreshTokens(refreshKeys),
    serverSecrets: createServerSecrets(serverKeys),
    publicKeys: {
      get keys() {
        return publicKeySet(accessKeys.current(), algorithm).keys;
      },
    },
    async close() {
      await hashThreads.close();
      for (const keys of [accessKeys, refreshKeys, serverKeys]) keys.close();
    },
  };
}

async function composeBlockList(
  { PASSWORD_BLOCKLIST: name, PASSWORD_BLOCKLIST_FILE: file }: ApiConfig,
  logger: Logger,
): Promise<Security['isBlockedPassword']> {
  const lists: PasswordBlockList[] = [];
  const add = (source: string, list: PasswordBlockList) => {
    logger.info({ source, passwords: list.size }, 'blocked passwords read');
    lists.push(list);
  };
  if (name === 'common') add(name, await loadCommonPasswords());
  if (file !== undefined) add(file, await loadPasswordBlockList(file));
  return (password) => lists.some((list) => list.has(password));
}

function composeHasher(
  { argon2, bcrypt }: HashThreads,
  config: ApiConfig,
  metrics: ApiMetrics,
  logger: Logger,
): Promise<PasswordHasher> {
  const cost = { memoryKib: config.ARGON2_MEMORY_KIB, passes: config.ARGON2_PASSES, lanes: config.ARGON2_LANES };
  const machine = { cores: availableParallelism(), memoryBytes: totalmem() };
  const limits = readProcessLimits({ readText: findText, machine });
  const { slots, memoryMib, isTooSmall } = hashSlots({
    limits,
    concurrency: config.HASH_CONCURRENCY,
    memoryMib: config.HASH_MEMORY_MIB,
    hashKib: cost.memoryKib,
  });
  logger.info({ slots, memoryMib, cores: limits.cores, queue: config.HASH_QUEUE_LIMIT }, 'hash gate');
  if (isTooSmall) logger.warn({ memoryMib, hashKib: cost.memoryKib }, 'a password hash needs more memory than allowed');
  const gate = createHashGate({
    slots,
    queueLimit: config.HASH_QUEUE_LIMIT,
    waitMs: config.HASH_QUEUE_TIMEOUT_MS,
    onShed: (reason) => metrics.hashesShed.inc({ reason }),
    onDone({ waitedMs, tookMs }) {
      metrics.hashWait.observe(waitedMs / 1_000);
      metrics.hashDuration.observe(tookMs / 1_000);
    },
  });
  metrics.hashSlots.set(slots);
  metrics.observeHashLoad(() => gate);
  return createPasswordHasher({ argon2, bcrypt, gate, cost });
}

/** The kernel's files are small and in memory; the files of the other cgroup version are not there. */
function findText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function watchKeys(
  file: string,
  options: Pick<WatchKeyFileOptions, 'check' | 'intervalMs'>,
  logger: Logger,
): Promise<KeyFileWatch> {
  return watchKeyFile(file, {
    ...options,
    onChange: ({ keys }) => logger.info({ file, kids: keys.map(({ kid }) => kid) }, 'key file taken'),
    onError: (error) => logger.error({ err: error, file }, 'key file not taken: the former keys stay'),
  });
}
