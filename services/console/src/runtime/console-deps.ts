import type { ForceLogoutQueue } from '@auth-account/messaging';
import type { Mongo, RedisStore, Use } from '@auth-account/operations';
import type { UseCounts } from '@auth-account/operations/accounts';
import type { Logger } from '@auth-account/telemetry';
import type { ConsoleConfig } from '../config.ts';
import type { Role } from '../contract/roles.ts';
import type { ConsoleMetrics } from './metrics.ts';

/** Stores, configuration and clock for the routes of the console's api. All connections stay open. */
export interface ConsoleDeps {
  readonly mongo: Mongo;
  /** Passes `mongo`. */
  readonly useMongo: Use<Mongo>;
  readonly redis: RedisStore;
  /** Passes `redis`. */
  readonly useRedis: Use<RedisStore>;
  /** Rejects with an `OperationError` of the kind `refused` without SERVER_KEYS_FILE. */
  readonly useCounts: UseCounts;
  /** Queue of forced logouts, which stays open. */
  readonly queue: ForceLogoutQueue;
  /** Returns the role that a member of staff has now; undefined without a session that lives. */
  readonly roleOf: (person: { readonly subject: string; readonly name: string }) => Promise<Role | undefined>;
  /** Milliseconds to wait for the result of a forced logout. */
  readonly logoutMs: number;
  readonly maxTokenSeconds: () => number;
  readonly config: ConsoleConfig;
  /** The time by the database's clock. */
  readonly now: () => Date;
  readonly logger: Logger;
  readonly metrics: ConsoleMetrics;
}
