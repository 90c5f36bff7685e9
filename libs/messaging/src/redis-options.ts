import type { RedisOptions } from 'ioredis';

/** Without `replyMapping`: the constructor's type refuses the option's own. */
export type RedisSettings = Omit<RedisOptions, 'replyMapping'>;

const maximumReconnectPauseMs = 500;
const connectTimeoutMs = 2_000;

/** Reconnects for ever, at most half a second apart: revocations wait for it. */
const retryStrategy = (times: number): number => Math.min(times * 50, maximumReconnectPauseMs);

/**
 * A connection whose commands fail at once while Redis is away, and after `commandTimeoutMs` where it hangs: for
 * whoever has an answer to give and MongoDB or a retry to fall back on.
 */
export function failFastOptions(commandTimeoutMs = 1_000): RedisSettings {
  return {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: commandTimeoutMs,
    connectTimeout: connectTimeoutMs,
    retryStrategy,
  };
}

/** A connection that only listens, and subscribes again by itself after each reconnect. */
export function subscriberOptions(): RedisSettings {
  return { autoResubscribe: true, maxRetriesPerRequest: null, connectTimeout: connectTimeoutMs, retryStrategy };
}

/** A connection of a BullMQ worker: it waits in Redis for jobs, and for Redis where that is away. */
export function workerOptions(): RedisSettings {
  return { maxRetriesPerRequest: null, connectTimeout: connectTimeoutMs, retryStrategy };
}
