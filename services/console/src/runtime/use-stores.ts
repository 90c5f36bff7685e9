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
      if (error instanceof OperationError || (store.redis.status === 'ready' && !isOutage(error))) throw error;
      throw unavailable(`Redis cannot be used: ${(error as Error).message}`, error);
    }
  };
}

/** Refusals of a Redis that is full, fails over, or is being loaded or set up. */
const outages =
  /^(?:Command timed out$|OOM |READONLY |MISCONF |NOREPLICAS |LOADING |MASTERDOWN |CLUSTERDOWN |EXECABORT )/;
const isOutage = (error: unknown) => error instanceof Error && outages.test(error.message);

/** Passes the counts of accounts, whose names are HMACs by the server's keys. */
export function usingCounts(useRedis: Use<RedisStore>, serverKeys: KeyFileWatch | undefined): UseCounts {
  return async (work) => {
    if (serverKeys === undefined) throw new OperationError('refused', 'SERVER_KEYS_FILE is not set for the console.');
    const secrets = () => serverKeys.current().keys.map(readSecret);
    return useRedis(({ redis, keyPrefix }) => work(createAccountCounts({ redis, keyPrefix, secrets })));
  };
}
