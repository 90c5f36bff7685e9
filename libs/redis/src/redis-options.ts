import type { RedisOptions } from 'ioredis';

/** Without `replyMapping`: the constructor's type refuses the option's own. */
export type RedisSettings = Omit<RedisOptions, 'replyMapping'>;

const maximumReconnectPauseMs = 500;
const connectTimeoutMs = 2_000;

/**
 * Without naming ioredis to the server: Redis 7.2 and later refuse that to users with few rights, and note each refusal
 * in their ACL log.
 */
const disableClientInfo = true;

/** Reconnects for ever, with pauses of at most half a second, because revocations wait for it. */
const retryStrategy = (times: number): number => Math.min(times * 50, maximumReconnectPauseMs);

/**
 * Options of a connection whose commands fail at once while Redis is away, and after `commandTimeoutMs` if it hangs:
 * for callers that must answer, and can fall back on MongoDB or a retry.
 *
 * `socketTimeout` ends a connection if an answer is awaited and nothing arrives. Only this detects a host that vanished
 * silently. A command that has timed out still counts as awaited.
 */
export function failFastOptions(commandTimeoutMs = 1_000): RedisSettings {
  return {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: commandTimeoutMs,
    connectTimeout: connectTimeoutMs,
    disableClientInfo,
    socketTimeout: commandTimeoutMs + 1_000,
    retryStrategy,
  };
}

/**
 * Options of a connection that only subscribes, and subscribes again by itself after each reconnect. The subscription's
 * renewals show whether Redis still answers.
 */
export function subscriberOptions(): RedisSettings {
  return {
    autoResubscribe: true,
    maxRetriesPerRequest: null,
    connectTimeout: connectTimeoutMs,
    disableClientInfo,
    socketTimeout: 2_000,
    retryStrategy,
  };
}

/** Longest time in ms for which a BullMQ worker's blocking command waits for jobs. */
const longestWaitMs = 10_000;

/**
 * Options of a BullMQ worker's connection: it waits for jobs, and for Redis while that is away. The worker duplicates
 * it for its blocking command, so the socket may be silent for as long as that takes.
 */
export function workerOptions(): RedisSettings {
  return {
    maxRetriesPerRequest: null,
    connectTimeout: connectTimeoutMs,
    disableClientInfo,
    socketTimeout: longestWaitMs + 2_000,
    retryStrategy,
  };
}
