import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { LimitKeys } from './limit-keys.ts';

export interface AddressLimitOptions {
  readonly redis: Redis;
  readonly keys: LimitKeys;
  /** Stands in the keys. */
  readonly name: string;
  /** Requests within the window. */
  readonly points: number;
  /** The window, which begins with its first request. */
  readonly seconds: number;
}

/** Counts what comes from a client's network. */
export interface AddressLimit {
  /** The key in Redis of that network, whose value is the number of requests in the present window. */
  keyOf(prefix: string): string;
  /** Counts one request. Milliseconds to wait where it was one too many, undefined where not. It never fails. */
  count(prefix: string): Promise<number | undefined>;
}

/** A limit by network, in Redis; while Redis is away, each process counts for itself. */
export function createAddressLimit({ redis, keys, name, points, seconds }: AddressLimitOptions): AddressLimit {
  const limiter = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: keys.nameOf(name),
    points,
    duration: seconds,
    rejectIfRedisNotReady: true,
    insuranceLimiter: new RateLimiterMemory({ points, duration: seconds }),
  });
  const tagOf = (prefix: string) => keys.tagOf('address', name, prefix);
  return {
    keyOf: (prefix) => limiter.getKey(tagOf(prefix)),
    count: (prefix) => waitOf(limiter.consume(tagOf(prefix))),
  };
}

/** What rate-limiter-flexible says, as a value: it rejects with a result where the limit is reached. */
export async function waitOf(consumed: Promise<RateLimiterRes>): Promise<number | undefined> {
  try {
    await consumed;
    return undefined;
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return Math.max(0, refusal.msBeforeNext);
    throw refusal;
  }
}
