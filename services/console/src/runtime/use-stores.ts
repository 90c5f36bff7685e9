import {
  type Mongo,
  OperationError,
  type RedisStore,
  toOperationError,
  type Use,
  unavailable,
} from '@auth-account/operations';
import type { UseCounts } from '@auth-account/operations/accounts';
import { createAccountCounts } from '@auth-account/redis';
import { type KeyFileWatch, readSecret } from '@auth-account/tokens';

/** Passes the open MongoDB to operations. */
export function usingMongo(mongo: Mongo): Use<Mongo> {
  return async (work) => {
    try {
      return await work(mongo);
    } catch (error) {
      throw toOperationError(error) ?? error;
    }
  };
}

/** Passes the open Redis to operations. */
export function usingRedis(store: RedisStore): Use<RedisStore> {
  return async (work) => {
    try {
      return await work(store);
    } catch (error) {
      if (error instanceof OperationError || (store.redis.status === 'ready' && !isTimeOut(error))) throw error;
      throw unavailable(`Redis cannot be reached: ${(error as Error).message}`, error);
    }
  };
}

const isTimeOut = (error: unknown) => error instanceof Error && error.message === 'Command timed out';

/** Passes the counts of accounts, whose names are HMACs by the server's keys. */
export function usingCounts(useRedis: Use<RedisStore>, serverKeys: KeyFileWatch | undefined): UseCounts {
  return async (work) => {
    if (serverKeys === undefined) throw new OperationError('refused', 'SERVER_KEYS_FILE is not set for the console.');
    const secrets = () => serverKeys.current().keys.map(readSecret);
    return useRedis(({ redis, keyPrefix }) => work(createAccountCounts({ redis, keyPrefix, secrets })));
  };
}
