import { join } from 'node:path';
import { type ApiParts, compose } from '@auth-account/api/compose';
import { apiConfig } from '@auth-account/api/config';
import { loadConfig } from '@auth-account/config';
import type { Check } from '@auth-account/lifecycle';
import { waitUntil } from '@auth-account/local-stack';
import { type Collections, collectionsOf, ensureIndexes } from '@auth-account/stores';
import { createLogger, createMetrics, type Logger } from '@auth-account/telemetry';
import { MongoClient } from 'mongodb';
import { shareHashThreads } from '../processes/shared-hash-threads.ts';
import { sumOf } from '../sum-of-metric.ts';
import { cheapHashes, testEnvironment, uniqueName, unlimitedRequests } from '../test-environment.ts';
import { internalServiceSecretsFile } from '../verifier/internal-services.ts';
import { type ApiDriver, apiAt } from './api-driver.ts';
import { passkeySettings } from './passkeys.ts';
import { providerSettings } from './providers.ts';

export { testEnvironment, uniqueName };

/** An api in this process, on the shared MongoDB and Redis, with a separate database and key prefix. */
export interface TestApi extends ApiDriver {
  readonly base: string;
  readonly database: string;
  readonly keyPrefix: string;
  readonly mongo: MongoClient;
  readonly collections: Collections;
  /** Returns the sum of a metric's values with these labels. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  /** Ends the api and drops its database. */
  close(options?: { readonly keepData?: boolean }): Promise<void>;
}

/**
 * Returns the environment of a service in a test: the shared servers, and a separate database and key prefix in them.
 */
export function serviceEnvironment(name: string): Record<string, string> {
  const { mongodbUri, redisUrl, keysDir } = testEnvironment();
  return {
    MONGODB_URI: mongodbUri,
    MONGODB_DATABASE: name,
    REDIS_URL: redisUrl,
    KEY_PREFIX: name,
    VALIDATE_RESPONSES: 'true',
    BIND_ADDRESS: '127.0.0.1',
    ACCESS_TOKEN_KEYS_FILE: join(keysDir, 'access-token-keys.json'),
    REFRESH_TOKEN_KEYS_FILE: join(keysDir, 'refresh-token-keys.json'),
    SERVER_KEYS_FILE: join(keysDir, 'server-keys.json'),
    REVOCATION_FEED_SECRETS_FILE: internalServiceSecretsFile(keysDir),
    ...passkeySettings,
    ...providerSettings(),
    // No shedding under load: other tests keep the machine busy.
    HASH_QUEUE_TIMEOUT_MS: '60000',
    // All tests share one network.
    ...unlimitedRequests,
  };
}

/**
 * Returns the environment of a gateway: like the api's, but with the public halves of the run's access token keys. A
 * test's own key file stays.
 */
export function gatewayEnvironment<E extends Readonly<Record<string, string | undefined>>>(env: E): E {
  const { keysDir } = testEnvironment();
  if (env.ACCESS_TOKEN_KEYS_FILE !== join(keysDir, 'access-token-keys.json')) return env;
  return { ...env, ACCESS_TOKEN_KEYS_FILE: join(keysDir, 'access-token-public-keys.json') };
}

async function untilRedisIsReady(checks: readonly Check[]): Promise<void> {
  const isReady = async () => (await checks.find(({ name }) => name === 'redis')?.run())?.reason === undefined;
  await waitUntil(isReady, { what: 'Redis to be ready', timeoutMs: 60_000, intervalMs: 5 });
}

/** Starts the api with cheap hashes and without a warm-up, unless the options say otherwise. */
export async function startTestApi(
  env: Readonly<Record<string, string>> = {},
  overrides: Parameters<typeof compose>[1] = {},
  logger: Logger = createLogger({ service: 'api', level: process.env.TEST_LOG_LEVEL ?? 'silent' }),
): Promise<TestApi> {
  const name = uniqueName();
  const config = loadConfig(apiConfig, {
    env: { ...serviceEnvironment(name), ...cheapHashes, API_PORT: '0', ...env },
  });
  const mongo = new MongoClient(testEnvironment().mongodbUri);
  const db = mongo.db(config.MONGODB_DATABASE);
  await ensureIndexes(db);
  const metrics = createMetrics({ service: 'api' });
  const close = async (parts: ApiParts | undefined, keepData: boolean) => {
    for (const step of parts?.shutdown ?? []) await step.run();
    if (!keepData) await db.dropDatabase();
    await mongo.close();
  };
  const open = async (parts: ApiParts) => {
    await parts.start();
    if (env.REDIS_URL === undefined) await untilRedisIsReady(parts.readiness);
    return parts;
  };
  // Some tests start without Redis. Limits are counted in memory if Redis answers too slowly. With an hour, no stall of
  // a machine changes counts. A warm-up would save no time here.
  const upgradeTimes = { unknownMs: 500 };
  const quick = { limitTimeoutMs: 3_600_000, warmUpLimitMs: 0, upgradeTimes, createHashThreads: shareHashThreads };
  const composed = compose({ config, logger, metrics }, { ...quick, ...overrides });
  const api = await composed.then(open).catch(async (error: unknown) => {
    await close(await composed.catch(() => undefined), env.MONGODB_DATABASE !== undefined);
    throw error;
  });
  const base = `http://127.0.0.1:${api.address().port}`;
  return {
    ...apiAt(base),
    base,
    database: config.MONGODB_DATABASE,
    keyPrefix: config.KEY_PREFIX,
    mongo,
    collections: collectionsOf(db),
    metric: (name, labels) => sumOf(metrics.registry, name, labels),
    close: ({ keepData = false } = {}) => close(api, keepData),
  };
}
