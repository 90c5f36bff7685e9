import type { RedisOptions } from 'ioredis';

/** Leaves out `replyMapping`, because the constructor's type does not accept the type that the options have for it. */
export type RedisSettings = Omit<RedisOptions, 'replyMapping'>;

const maximumReconnectPauseMs = 500;
const connectTimeoutMs = 2_000;

/**
 * Keeps ioredis from sending its name to the server. Redis 7.2 and later refuse that command to users with few rights,
 * and log each refusal in their ACL log.
 */
const disableClientInfo = true;

/** Reconnects for ever, with pauses of at most half a second, because revocations wait for it. */
const retryStrategy = (times: number): number => Math.min(times * 50, maximumReconnectPauseMs);

/**
 * Options of a connection whose commands fail at once while Redis is unreachable, and after `commandTimeoutMs` if it
 * hangs. They are for callers that must answer, and can fall back on MongoDB or a retry.
 *
 * `socketTimeout` ends a connection if an answer is awaited and nothing arrives. Only this detects a host that vanished
 * silently. A command that has timed out still counts as awaiting an answer.
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
 * Options of a connection that only subscribes. It subscribes again by itself after each reconnect. The subscription's
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

/** Limit for the time that a BullMQ worker's blocking command waits for jobs, in milliseconds. */
const maxWaitMs = 10_000;

/**
 * Options of a BullMQ worker's connection. It waits for jobs, and for Redis while Redis is unreachable. The worker
 * duplicates the connection for its blocking command, so the socket may be silent for as long as that command waits.
 */
export function workerOptions(): RedisSettings {
  return {
    maxRetriesPerRequest: null,
    connectTimeout: connectTimeoutMs,
    disableClientInfo,
    socketTimeout: maxWaitMs + 2_000,
    retryStrategy,
  };
}
