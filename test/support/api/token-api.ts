import { compose } from '@auth-account/api/compose';
import { apiConfig } from '@auth-account/api/config';
import { loadConfig } from '@auth-account/config';
import { type Collections, collectionsOf, ensureIndexes } from '@auth-account/stores';
import { createLogger, createMetrics, type Logger } from '@auth-account/telemetry';
import { type Db, MongoClient } from 'mongodb';
import type { Answer } from '../http-client.ts';
import { shareHashThreads } from '../processes/shared-hash-threads.ts';
import { type ApiDriver, apiAt } from './api-driver.ts';
import { serviceEnvironment, testEnvironment, uniqueName } from './test-api.ts';

/** The clock of all apis of a fixture. It moves only when the test moves it. */
export interface TestClock {
  /** Milliseconds since the epoch. */
  now(): number;
  pass(ms: number): void;
}

export interface TokenApi extends ApiDriver {
  readonly base: string;
  /** Refreshes, with this `DPoP` header if it is given. */
  refresh(refreshToken: string, proof?: string): Promise<Answer>;
  close(): Promise<void>;
}

/** Any number of apis in this process over one database, with one clock. */
export interface TokenFixture {
  readonly clock: TestClock;
  readonly database: string;
  readonly mongo: MongoClient;
  readonly collections: Collections;
  /** `env` overrides the environment of a test's api; `logger` writes nothing unless the test passes its own. */
  start(env?: Readonly<Record<string, string>>, logger?: Logger): Promise<TokenApi>;
  /** Ends the apis that still run, and drops the database. */
  close(): Promise<void>;
}

const silentLogger = () => createLogger({ service: 'api', level: process.env.TEST_LOG_LEVEL ?? 'silent' });

/** Passwords are not under test here, so hashes are as cheap as Argon2 allows. */
const cheapHashes = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1' };

export interface TokenFixtureOptions {
  /** Milliseconds between two checks of a key file. */
  readonly keyFileIntervalMs?: number;
  /** A separate MongoDB instead of the shared one. */
  readonly mongodbUri?: string;
}

export async function openTokenFixture(options: TokenFixtureOptions = {}): Promise<TokenFixture> {
  const { keyFileIntervalMs = 20, mongodbUri = testEnvironment().mongodbUri } = options;
  const name = uniqueName();
  const mongo = new MongoClient(mongodbUri);
  const db: Db = mongo.db(name);
  await ensureIndexes(db);
  const running = new Set<TokenApi>();
  let time = Date.now();
  const clock: TestClock = {
    now: () => time,
    pass(ms) {
      time += ms;
    },
  };

  return {
    clock,
    database: name,
    mongo,
    collections: collectionsOf(db),
    async start(env = {}, logger = silentLogger()) {
      const settings = { ...serviceEnvironment(name), MONGODB_URI: mongodbUri, API_PORT: '0', ...cheapHashes, ...env };
      const api = await compose(
        {
          config: loadConfig(apiConfig, { env: settings }),
          logger,
          metrics: createMetrics({ service: 'api' }),
        },
        { now: clock.now, keyFileIntervalMs, warmUpLimitMs: 0, createHashThreads: shareHashThreads },
      );
      await api.start();
      const base = `http://127.0.0.1:${api.address().port}`;
      const driver = apiAt(base);
      const started: TokenApi = {
        ...driver,
        base,
        refresh: (refresh_token, DPoP) => driver.refreshTokens({ refresh_token }, DPoP === undefined ? {} : { DPoP }),
        async close() {
          running.delete(started);
          for (const step of api.shutdown) await step.run();
        },
      };
      running.add(started);
      return started;
    },
    async close() {
      for (const api of running) await api.close();
      await db.dropDatabase();
      await mongo.close();
    },
  };
}
