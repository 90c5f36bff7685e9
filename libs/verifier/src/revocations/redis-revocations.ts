import { failFastOptions, openRedis, type RedisConfig, redisKeys } from '@auth-account/redis';
import { createDenialPages, type DenialCursor } from '@auth-account/redis/denial-pages';
import { createDenyListReader } from '@auth-account/redis/deny-list-reader';
import type { RevocationSource } from './revocation-source.ts';

export interface RedisRevocationsOptions extends RedisConfig {
  /** That of the service. */
  readonly KEY_PREFIX: string;
  /** Called for faults of the connection, which mends itself. */
  readonly onError?: (error: Error) => void;
}

/** Denials in an answer. */
const pageSize = 1_000;

/**
 * Opens a connection to the service's Redis, to learn what is denied from the deny list itself. It needs the rights of
 * docs/verifying.md ("Its Redis user"), and can write nothing.
 */
export function redisRevocations({ KEY_PREFIX, onError, ...config }: RedisRevocationsOptions): RevocationSource {
  // The first question may come before the connection: it waits, within the time of a command.
  const settings = { ...failFastOptions(), enableOfflineQueue: true };
  // biome-ignore lint/plugin: a sibling has no compose.ts of ours, and wants one line.
  const redis = openRedis(config, settings);
  redis.on('error', (error) => onError?.(error));
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
