import { explainRedisError, failFastOptions, openRedis, type RedisConfig, redisKeys } from '@auth-account/redis';
import { createDenialPages, type DenialCursor } from '@auth-account/redis/denial-pages';
import { createDenyListReader } from '@auth-account/redis/deny-list-reader';
import type { RevocationSource } from './revocation-source.ts';

export interface RedisRevocationsOptions extends RedisConfig {
  /** `KEY_PREFIX` of the service. */
  readonly KEY_PREFIX: string;
  /** Called for faults of the connection. The connection recovers by itself. */
  readonly onError?: (error: Error) => void;
}

/** Number of denials in an answer. */
const pageSize = 1_000;

/**
 * Opens a connection to the service's Redis, to read the deny list itself. Its Redis user needs the rights in
 * docs/verifying.md ("Its Redis user") and cannot write.
 */
export function redisRevocations({ KEY_PREFIX, onError, ...config }: RedisRevocationsOptions): RevocationSource {
  // The first command may be sent before the connection is open. It then waits, within the time limit of a command.
  const settings = { ...failFastOptions(), enableOfflineQueue: true };
  // biome-ignore lint/plugin: an internal service does not have our compose.ts, and needs one line only.
  const redis = openRedis(config, settings);
  redis.on('error', (error) => onError?.(explainRedisError(error, config)));
  const read = createDenialPages(createDenyListReader(redis, redisKeys(KEY_PREFIX)), pageSize);

  return {
    async read(cursor) {
      const page = await read(cursor as DenialCursor | undefined);
      if (page === undefined) throw new Error('the deny list is not complete');
      return page;
    },
    close: () => redis.disconnect(),
  };
}
