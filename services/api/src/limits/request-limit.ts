import { setTimeout as delay } from 'node:timers/promises';
import type { LimitKeys, RedisClient } from '@auth-account/redis';
import { LRUCache } from 'lru-cache';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { createMemoryCounts, type MemoryCount } from './memory-counts.ts';

export interface RequestLimitOptions {
  readonly redis: RedisClient;
  readonly keys: LimitKeys;
  /** Part of the Redis keys: `address` for limits by network, `account` for all others. */
  readonly per?: 'address' | 'account';
  /** Part of the Redis keys. */
  readonly name: string;
  /** Limit for the requests within the window. */
  readonly points: number;
  /** Length of the window, in seconds. The window begins with its first request. */
  readonly seconds: number;
}

/** Counts the requests of a network, an account, a session or an internal service. */
export interface RequestLimit {
  /** Length of the window, in milliseconds. */
  readonly windowMs: number;
  /**
   * Returns the Redis key of that network, account, session or internal service. The key's value is the number of
   * requests in the present window.
   */
  keyOf(who: string): string;
  /**
   * Returns the milliseconds for which this process still refuses without asking Redis, because the present window is
   * full; 0 if Redis must be asked.
   */
  refusedFor(who: string): number;
  /** Makes this process refuse `who` for `ms` milliseconds without asking Redis. */
  refuse(who: string, ms: number): void;
  /**
   * Counts one request as `weight` points. Returns the milliseconds to wait if it exceeds the limit, otherwise
   * undefined. Never fails. After {@link patience} refusals, each further refusal is answered a second later.
   */
  count(who: string, weight?: number): Promise<number | undefined>;
  /**
   * Counts in this process only, as `count` does while Redis is away. Returns the count of the present window. Never
   * fails.
   */
  countHere(who: string, weight: number): MemoryCount;
}

/** Limit for the refused clients that a process remembers, some 200 bytes each. */
const rememberedRefusals = 10_000;
/** Refusals within a window that are answered at once. */
const patience = 10;
/** Milliseconds by which each further refusal is delayed. */
const holdMs = 1_000;

/**
 * Creates a limit on requests, counted in Redis. While Redis is away, each process counts for itself. Once a client is
 * over the limit, the process refuses it without asking Redis again until the window ends, so that a flood costs Redis
 * no more than the limit. After some refusals the answers are delayed, so that a client that always asks again at once
 * gets one answer a second per connection.
 */
export function createRequestLimit({
  redis,
  keys,
  per = 'address',
  name,
  points,
  seconds,
}: RequestLimitOptions): RequestLimit {
  const insurance = createMemoryCounts(seconds);
  const limiter = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: keys.nameOf(name),
    points,
    duration: seconds,
    rejectIfRedisNotReady: true,
  });
  // The cache is created when it is first needed, because it allocates the memory of all its keys at once.
  let refused: LRUCache<string, { refusals: number }> | undefined;
  const tagOf = (who: string) => keys.tagOf(per, name, who);
  // The remaining time is below zero if the refusal is over and nobody has asked since.
  const refusedFor = (who: string) => Math.max(0, refused?.getRemainingTTL(who) ?? 0);
  const refuse = (who: string, ms: number) => {
    if (ms <= 0 || refusedFor(who) > 0) return;
    refused ??= new LRUCache({ max: rememberedRefusals });
    refused.set(who, { refusals: 1 }, { ttl: ms });
  };
  const countHere = (who: string, weight = 1) => insurance.add(tagOf(who), weight);
  const waitHere = (who: string, weight?: number) => {
    const { count, endsInMs } = countHere(who, weight);
    return count > points ? endsInMs : undefined;
  };
  return {
    windowMs: seconds * 1_000,
    keyOf: (who) => limiter.getKey(tagOf(who)),
    refusedFor,
    refuse,
    async count(who, weight) {
      const entry = refused?.get(who);
      if (entry !== undefined) {
        entry.refusals += 1;
        if (entry.refusals > patience) await delay(holdMs);
        return Math.max(1, refusedFor(who));
      }
      const waitMs = await waitOf(limiter.consume(tagOf(who), weight)).catch(() => waitHere(who, weight));
      if (waitMs !== undefined) refuse(who, waitMs);
      return waitMs;
    },
    countHere,
  };
}

/**
 * Returns rate-limiter-flexible's verdict as a value, because the library rejects with a result if the limit is
 * reached.
 */
async function waitOf(consumed: Promise<RateLimiterRes>): Promise<number | undefined> {
  try {
    await consumed;
    return undefined;
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return Math.max(0, refusal.msBeforeNext);
    throw refusal;
  }
}
