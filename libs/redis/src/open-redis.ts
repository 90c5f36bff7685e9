import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { Cluster, Redis } from 'ioredis';
import { parseRedisAddress, type RedisAddress } from './redis-address.ts';
import type { RedisClient } from './redis-client.ts';
import type { RedisSettings } from './redis-options.ts';

/** Environment variables with Redis's address and the options of the connection. */
export interface RedisConfig {
  /** See {@link parseRedisAddress}. */
  readonly REDIS_URL: string;
  /** PEM file of the authorities that sign the servers' certificates; default: the system's authorities. */
  readonly REDIS_CA_FILE?: string;
  /** PEM files of a client certificate and its key, for servers that require a client certificate. */
  readonly REDIS_CERT_FILE?: string;
  readonly REDIS_KEY_FILE?: string;
  /**
   * Name in the servers' certificates, if it differs from their address. A cluster's nodes may announce other
   * addresses.
   */
  readonly REDIS_TLS_SERVER_NAME?: string;
  readonly REDIS_SENTINEL_USERNAME?: string;
  readonly REDIS_SENTINEL_PASSWORD?: string;
}

/** Options of a connection to a cluster. */
export interface ClusterSettings {
  /**
   * Milliseconds between two reads of the slot map. Redirections alone sometimes do not lead a client to a promoted
   * replica. 0 (never) is for a program that must end by itself, because a timer of ioredis keeps the process alive if
   * the connection ends during a read.
   */
  readonly slotsRefreshMs?: number;
}

const defaultSlotsRefreshMs = 2_000;
/**
 * Number of redirections and retries before a command fails. With the pauses between them, these tries take about a
 * fifth of a second.
 */
const maxRedirections = 4;
const redirectionPauseMs = 50;

/** If the primary has become a replica, the command fails, and the next command finds the new primary. */
const reconnectOnError = (error: Error) => error.message.startsWith('READONLY');

/**
 * Opens a connection to one Redis, to the primary that Sentinel names, or to a cluster, depending on `REDIS_URL`.
 * Connects at once, and reconnects for ever. Throws if the configuration is wrong.
 */
export function openRedis(
  config: RedisConfig,
  settings: RedisSettings,
  { slotsRefreshMs = defaultSlotsRefreshMs }: ClusterSettings = {},
): RedisClient {
  const address = parseRedisAddress(config.REDIS_URL);
  const { nodes, username, password, db } = address;
  const tls = tlsOf(config, address);
  const options: RedisSettings = {
    ...settings,
    reconnectOnError,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls === undefined ? {} : { tls }),
  };
  if (address.kind === 'cluster') return openCluster(nodes, options, slotsRefreshMs);
  if (address.kind === 'single') return new Redis({ ...options, ...nodes[0], db });
  const { REDIS_SENTINEL_USERNAME: sentinelUsername, REDIS_SENTINEL_PASSWORD: sentinelPassword } = config;
  // There is no `failoverDetector`, because ioredis 6 gives up for ever if it hears of the failover while it
  // reconnects. The detector is not needed, because Sentinel disconnects the clients of a former primary that comes
  // back.
  return new Redis({
    ...options,
    db,
    name: address.sentinelName ?? '',
    sentinels: [...nodes],
    sentinelCommandTimeout: settings.connectTimeout ?? 0,
    ...(settings.retryStrategy ? { sentinelRetryStrategy: settings.retryStrategy } : {}),
    ...(sentinelUsername === undefined ? {} : { sentinelUsername }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(tls === undefined ? {} : { sentinelTLS: tls, enableTLSForSentinelMode: true }),
  });
}

function openCluster(nodes: RedisAddress['nodes'], settings: RedisSettings, slotsRefreshInterval: number): Cluster {
  const { retryStrategy, enableOfflineQueue = true, ...redisOptions } = settings;
  return new Cluster([...nodes], {
    redisOptions,
    enableOfflineQueue,
    slotsRefreshInterval,
    maxRedirections,
    retryDelayOnFailover: redirectionPauseMs,
    retryDelayOnClusterDown: redirectionPauseMs,
    ...(retryStrategy ? { clusterRetryStrategy: retryStrategy } : {}),
    // Certificates are issued for names. Without this line the client would resolve the names and compare addresses.
    ...(settings.tls ? { dnsLookup: (name, found) => found(null, name) } : {}),
  });
}

function tlsOf(config: RedisConfig, { isTls }: RedisAddress): ConnectionOptions | undefined {
  if (!isTls) return undefined;
  const { REDIS_CA_FILE: ca, REDIS_CERT_FILE: cert, REDIS_KEY_FILE: key, REDIS_TLS_SERVER_NAME: servername } = config;
  return {
    ...(ca === undefined ? {} : { ca: readFileSync(ca) }),
    ...(cert === undefined ? {} : { cert: readFileSync(cert) }),
    ...(key === undefined ? {} : { key: readFileSync(key) }),
    ...(servername === undefined ? {} : { servername }),
  };
}
