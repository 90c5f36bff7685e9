import { explainRedisError, failFastOptions, openRedis, type RedisConfig, redisKeys } from '@auth-account/redis';
import { createDenyListReader, type DenialPage, parseDenyListValue } from '@auth-account/redis/deny-list-reader';
import type { Denied, RevocationSource } from './revocation-source.ts';

export interface RedisRevocationsOptions extends RedisConfig {
  /** That of the service. */
  readonly KEY_PREFIX: string;
  /** Called for faults of the connection, which mends itself. */
  readonly onError?: (error: Error) => void;
}

interface Cursor {
  readonly server: string;
  readonly since: number;
}

/** Denials in an answer. */
const pageSize = 1_000;

/** Milliseconds: further denials of the same moment may follow an answer. */
const overlapMs = 1_000;

/**
 * Opens a connection to the service's Redis, to learn what is denied from the deny list itself. It needs the rights of
 * docs/operations.md ("Redis user of a sibling that verifies"), and can write nothing.
 */
export function redisRevocations({ KEY_PREFIX, onError, ...config }: RedisRevocationsOptions): RevocationSource {
  // The first question may come before the connection: it waits, within the time of a command.
  const settings = { ...failFastOptions(), enableOfflineQueue: true };
  // biome-ignore lint/plugin: a sibling has no compose.ts of ours, and wants one line.
  const redis = openRedis(config, settings);
  redis.on('error', (error) => onError?.(explainRedisError(error, config)));
  const keys = redisKeys(KEY_PREFIX);
  const reader = createDenyListReader(redis, keys);
  let pageLimit = pageSize;

  async function pageSince(cursor: Cursor | undefined): Promise<DenialPage> {
    const page = await reader.page(cursor?.since ?? 0, pageLimit);
    if (page === undefined) throw new Error('the deny list is not complete');
    // Another server completed the list: its clock, and what it has, may differ.
    return cursor === undefined || page.server === cursor.server ? page : pageSince(undefined);
  }

  /** A session without a value was denied so long ago that its entry has gone. */
  async function valuesOf({ denials }: DenialPage): Promise<Denied[]> {
    if (denials.length === 0) return [];
    const values = await reader.find(denials.map(({ sessionId }) => sessionId));
    if (values === undefined) throw new Error('the deny list is not complete');
    return denials.flatMap(({ sessionId }, i) => {
      const value = parseDenyListValue(values[i]);
      if (value === undefined) return [];
      return [{ sessionId, below: value.kind === 'revoked' ? Number.POSITIVE_INFINITY : value.ver }];
    });
  }

  return {
    async read(cursor) {
      const page = await pageSince(cursor as Cursor | undefined);
      const denied = await valuesOf(page);
      const { server, denials, until } = page;
      if (denials.length < pageLimit) {
        pageLimit = pageSize;
        return { denied, cursor: { server, since: until - overlapMs } satisfies Cursor, hasMore: false };
      }
      const last = denials.at(-1)?.at ?? 0;
      // More denials of one millisecond than fit into an answer: the next one takes twice as many.
      if (last === denials[0]?.at) pageLimit *= 2;
      return { denied, cursor: { server, since: last } satisfies Cursor, hasMore: true };
    },
    close: () => redis.disconnect(),
  };
}
