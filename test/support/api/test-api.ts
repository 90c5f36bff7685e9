import { type ApiTestOverrides, compose } from '@auth-account/api/compose';
import { apiConfig } from '@auth-account/api/config';
import { loadConfig } from '@auth-account/config';
import { waitUntil } from '@auth-account/local-stack';
import { createMetrics, type Logger } from '@auth-account/telemetry';
import { type Fixture, openFixture, quietLogger } from '../fixture.ts';
import { shareHashThreads } from '../processes/shared-hash-threads.ts';
import { runService } from '../running-service.ts';
import type { Environment } from '../service-environment.ts';
import { patienceMs, testEnvironment } from '../test-environment.ts';
import { apiAt } from './api-driver.ts';

/**
 * The waits of an api in a test that is about something else: no stall of a machine refuses a request or counts limits
 * in memory.
 */
export const patient = {
  limits: patienceMs,
  redis: patienceMs,
  announcement: patienceMs,
  transaction: patienceMs,
} satisfies ApiTestOverrides['waits'];

/** An api in this process. */
export type RunningApi = Awaited<ReturnType<typeof startApi>>;

type SharedParts = 'env' | 'database' | 'keyPrefix' | 'mongo' | 'collections';

/** An api on the shared MongoDB and Redis, with a separate database and key prefix. It ends with its fixture. */
export interface TestApi extends RunningApi, Pick<Fixture, SharedParts> {
  /** Starts another api on the same database and key prefix, which ends before this one at the latest. */
  beside(env?: Environment, overrides?: ApiTestOverrides, logger?: Logger): Promise<TestApi>;
}

/** Starts an api with the environment of a fixture, without a warm-up unless the overrides say otherwise. */
export async function startApi(
  env: Environment,
  overrides: ApiTestOverrides = {},
  logger: Logger = quietLogger('api'),
) {
  const config = loadConfig(apiConfig, { env: { API_PORT: '0', ...env } });
  const metrics = createMetrics({ service: 'api' });
  // Some tests start without Redis. A warm-up would save no time here.
  const quick = { warmUpLimitMs: 0, upgradeTimes: { unknownMs: 500 }, createHashThreads: shareHashThreads };
  const api = await compose({ config, logger, metrics }, { waits: patient, ...quick, ...overrides });
  const { metric, close } = await runService(api, metrics);
  const redis = api.readiness.find(({ name }) => name === 'redis');
  const isReady = async () => (await redis?.run())?.reason === undefined;
  if (env.REDIS_URL === testEnvironment().redisUrl) {
    await waitUntil(isReady, { what: 'Redis to be ready', timeoutMs: 60_000, intervalMs: 5 });
  }
  const base = `http://127.0.0.1:${api.address().port}`;
  return { ...apiAt(base), base, metric, close };
}

/** Starts an api on a fixture. */
export async function startApiOn(
  fixture: Fixture,
  env: Environment = {},
  overrides?: ApiTestOverrides,
  logger?: Logger,
): Promise<TestApi> {
  const { database, mongo, collections, closing } = fixture;
  const own = { ...fixture.env, ...env };
  const api = closing(await startApi(own, overrides, logger));
  const beside: TestApi['beside'] = (...given) => startApiOn(fixture, ...given);
  return { ...api, env: own, database, keyPrefix: own.KEY_PREFIX ?? '', mongo, collections, beside };
}

/** Starts an api with a database and key prefix of its own. It closes all that stands on them. */
export async function startTestApi(
  env: Environment = {},
  overrides?: ApiTestOverrides,
  logger?: Logger,
): Promise<TestApi> {
  const fixture = await openFixture(env);
  try {
    return { ...(await startApiOn(fixture, {}, overrides, logger)), close: fixture.close };
  } catch (error) {
    await fixture.close();
    throw error;
  }
}
