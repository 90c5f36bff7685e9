import { mongoConfig, redisConfig } from '@auth-account/config';
import * as Type from '@auth-account/contracts/type';
import { type Mongo, OperationError, type RedisStore, unavailable } from '@auth-account/operations';
import {
  explainRedisError,
  failFastOptions,
  openRedis,
  type RedisClient,
  redisChecks,
  redisKeys,
} from '@auth-account/redis';
import {
  collectionsOf,
  createDatabaseClock,
  createStores,
  createTransactionRunner,
  mongoOptions,
} from '@auth-account/stores';
import { mongoChecks } from '@auth-account/stores/mongo-checks';
import { MongoClient } from 'mongodb';
import type { Shell } from './cli/shell.ts';

const mongoSchema = Type.Object(mongoConfig(mongoChecks));
const redisSchema = Type.Object(redisConfig(redisChecks));

/** Limit in milliseconds for one command to Redis. */
const commandTimeoutMs = 5_000;
const connectTimeoutMs = 5_000;

/** Opens MongoDB for the work and closes it afterwards. Throws at once if it is unreachable. */
export async function withMongo<T>(shell: Shell, work: (mongo: Mongo) => Promise<T>): Promise<T> {
  const config = shell.config(mongoSchema);
  const { MONGODB_URI: uri } = config;
  const client = new MongoClient(uri, { ...mongoOptions('authctl', uri), appName: 'authctl' });
  try {
    await client.connect();
    const clock = createDatabaseClock({ host: () => shell.now().getTime(), onCorrected: () => undefined });
    await clock.ask(client);
    const now = () => new Date(clock.now());
    const db = client.db(config.MONGODB_DATABASE);
    const collections = collectionsOf(db);
    const transaction = createTransactionRunner(client);
    return await work({ db, collections, transaction, stores: createStores(collections, transaction, now), now });
  } finally {
    await client.close();
  }
}

/** Opens Redis for the work and closes it afterwards. Throws an `OperationError` if it is or becomes unreachable. */
export async function withRedis<T>(shell: Shell, work: (store: RedisStore) => Promise<T>): Promise<T> {
  const config = shell.config(redisSchema);
  // The slot map is read only once, because a timer for it could keep the process from ending.
  const redis = openRedis(config, { ...failFastOptions(commandTimeoutMs), retryStrategy }, { slotsRefreshMs: 0 });
  const lost: { error?: Error } = {};
  redis.on('error', (error: Error) => {
    lost.error = explainRedisError(error, config);
  });
  try {
    await untilReady(redis);
    const { KEY_PREFIX: keyPrefix } = config;
    return await work({ redis, keys: redisKeys(keyPrefix), keyPrefix });
  } catch (error) {
    if (error instanceof OperationError || (redis.status === 'ready' && !isTimeOut(error))) throw error;
    const { message } = lost.error ?? (error as Error);
    throw unavailable(`Redis cannot be reached: ${message}`, error);
  } finally {
    redis.disconnect();
  }
}

const isTimeOut = (error: unknown) => error instanceof Error && error.message === 'Command timed out';

/** Gives up within a second if no server listens. */
const retryStrategy = (times: number) => (times > 3 ? null : times * 100);

async function untilReady(redis: RedisClient): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error(`no answer within ${connectTimeoutMs} ms`)), connectTimeoutMs);
  redis.once('ready', resolve);
  redis.once('end', () => reject(new Error('the connection ended')));
  await promise.finally(() => clearTimeout(timer));
}

/** Opens MongoDB and Redis for the work. */
export function withStores<T>(shell: Shell, work: (stores: Mongo & RedisStore) => Promise<T>): Promise<T> {
  return withMongo(shell, (mongo) => withRedis(shell, (store) => work({ ...mongo, ...store })));
}
