import type { RedisClient, RedisKeys } from '@auth-account/redis';
import type { Collections, RunTransaction, Stores } from '@auth-account/stores';
import type { Db } from 'mongodb';

/** MongoDB, over a connection that the program opens and closes. */
export interface Mongo {
  readonly db: Db;
  readonly collections: Collections;
  readonly transaction: RunTransaction;
  readonly stores: Stores;
  /** The time by the database's clock, whatever this machine's clock shows. */
  readonly now: () => Date;
}

/** Redis, over a connection that the program opens and closes. */
export interface RedisStore {
  readonly redis: RedisClient;
  readonly keys: RedisKeys;
  readonly keyPrefix: string;
}

/**
 * Lets the work use a store. A program opens the connection for the work, or passes one that it keeps open. Rejects with
 * an `OperationError` of the kind `unavailable` if the store cannot be reached.
 */
export type Use<S> = <T>(work: (store: S) => Promise<T>) => Promise<T>;
