import type { RedisClient } from '@auth-account/messaging';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { LimitKeys } from './limit-keys.ts';

export interface AddressLimitOptions {
  readonly redis: RedisClient;
  readonly keys: LimitKeys;
  /** Whose requests are counted together: those of a network, or of an account. */
  readonly per?: 'address' | 'account';
  /** Stands in the keys. */
  readonly name: string;
  /** Requests within the window. */
  readonly points: number;
  /** The window, which begins with its first request. */
  readonly seconds: number;
}

/** Counts what comes from a client's network, or from an account. */
export interface AddressLimit {
  /** The key in Redis of that network or account, whose value is the number of requests in the present window. */
  keyOf(who: string): string;
  /** Counts one request. Milliseconds to wait where it was one too many, undefined where not. It never fails. */
  count(who: string): Promise<number | undefined>;
}

/** A limit by network or by account, in Redis; while Redis is away, each process counts for itself. */
export function createAddressLimit({
  redis,
  keys,
  per = 'address',
  name,
  points,
  seconds,
}: AddressLimitOptions): AddressLimit {
  const limiter = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: keys.nameOf(name),
    points,
    duration: seconds,
    rejectIfRedisNotReady: true,
    insuranceLimiter: new RateLimiterMemory({ points, duration: seconds }),
  });
  const tagOf = (who: string) => keys.tagOf(per, name, who);
  return {
    keyOf: (who) => limiter.getKey(tagOf(who)),
    count: (who) => waitOf(limiter.consume(tagOf(who))),
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
