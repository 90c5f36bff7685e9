import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { openRedis } from './open-redis.ts';
import { failFastOptions } from './redis-options.ts';

/** Settings of clients that never connect, because they wait for their first command. */
const settings = { ...failFastOptions(), lazyConnect: true };
const file = fileURLToPath(import.meta.url);

describe('openRedis', () => {
  test('openRedis opens one server, with the name and the authorities of its certificate', () => {
    const config = {
      REDIS_URL: 'rediss://auth:secret@cache:6380/1',
      REDIS_CA_FILE: file,
      REDIS_TLS_SERVER_NAME: 'redis',
    };
    const redis = openRedis(config, settings);
    expect(redis).toBeInstanceOf(Redis);
    expect(redis.options).toMatchObject({
      ...{ host: 'cache', port: 6380, db: 1, username: 'auth', password: 'secret', enableOfflineQueue: false },
      tls: { ca: expect.any(Buffer), servername: 'redis' },
    });
  });

  test('openRedis opens the primary that Sentinel names; the sentinels have a user of their own', () => {
    const sentinel = { REDIS_SENTINEL_USERNAME: 'watcher', REDIS_SENTINEL_PASSWORD: 'other' };
    const redis = openRedis({ REDIS_URL: 'rediss+sentinel://:secret@s1,s2/main', ...sentinel }, settings);
    expect(redis.options).toMatchObject({
      ...{ name: 'main', password: 'secret', sentinelUsername: 'watcher', sentinelPassword: 'other' },
      sentinels: [
        { host: 's1', port: 26_379 },
        { host: 's2', port: 26_379 },
      ],
      ...{ tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true },
    });
  });

  test('openRedis opens a cluster, and leaves its nodes’ names to the TLS client', () => {
    const cluster = openRedis({ REDIS_URL: 'rediss+cluster://:secret@a,b' }, settings) as Cluster;
    expect(cluster).toBeInstanceOf(Cluster);
    expect(cluster.options).toMatchObject({ enableOfflineQueue: false, redisOptions: { password: 'secret', tls: {} } });
    const found: unknown[] = [];
    cluster.options.dnsLookup?.('node-1.example', (error, address) => found.push(error, address));
    expect(found).toEqual([null, 'node-1.example']);
    cluster.disconnect();
  });

  test('openRedis refreshes a cluster’s slots every two seconds, or never if it is configured so', () => {
    const intervals = [{}, { slotsRefreshMs: 0 }].map((cluster) => {
      const redis = openRedis({ REDIS_URL: 'redis+cluster://a' }, settings, cluster) as Cluster;
      redis.disconnect();
      return redis.options.slotsRefreshInterval;
    });
    expect(intervals).toEqual([2_000, 0]);
  });

  test('openRedis connects again where a primary has become a replica', () => {
    const { reconnectOnError } = openRedis({ REDIS_URL: 'redis://cache' }, settings).options as Redis['options'];
    expect(reconnectOnError?.(new Error("READONLY You can't write against a read only replica."))).toBe(true);
    expect(reconnectOnError?.(new Error('ERR wrong number of arguments'))).toBe(false);
  });
});
