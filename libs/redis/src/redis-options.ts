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
 *
 * `socketTimeout` ends a connection on which something is waited for and nothing comes, and only such a one: a host that
 * vanished without a word is noticed by that alone. A command that has timed out goes on being waited for.
 */
export function failFastOptions(commandTimeoutMs = 1_000): RedisSettings {
  return {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: commandTimeoutMs,
    connectTimeout: connectTimeoutMs,
    socketTimeout: commandTimeoutMs + 1_000,
    retryStrategy,
  };
}

/**
 * A connection that only listens, and subscribes again by itself after each reconnect. That Redis still answers shows at
 * the subscription's renewals.
 */
export function subscriberOptions(): RedisSettings {
  return {
    autoResubscribe: true,
    maxRetriesPerRequest: null,
    connectTimeout: connectTimeoutMs,
    socketTimeout: 2_000,
    retryStrategy,
  };
}

/** For so long at most, in ms, a BullMQ worker lets Redis hold back the answer to its question for jobs. */
const longestWaitMs = 10_000;

/**
 * A connection of a BullMQ worker: it waits in Redis for jobs, and for Redis where that is away. The worker copies it for
 * its blocking question, so the socket must be allowed to be silent for as long as that takes.
 */
export function workerOptions(): RedisSettings {
  return {
    maxRetriesPerRequest: null,
    connectTimeout: connectTimeoutMs,
    socketTimeout: longestWaitMs + 2_000,
    retryStrategy,
  };
}
