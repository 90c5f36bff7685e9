import { setTimeout as delay } from 'node:timers/promises';
import type { RedisClient } from '@auth-account/redis';
import { LRUCache } from 'lru-cache';
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
  /**
   * Milliseconds for which this process refuses from memory, as Redis has said that the present window is full; 0 if
   * Redis is to be asked.
   */
  refusedFor(who: string): number;
  /**
   * Counts one request. Milliseconds to wait if it was one too many, undefined if not. It never fails. A client that
   * goes on after {@link patience} refusals is told a second later each time.
   */
  count(who: string): Promise<number | undefined>;
}

/** Networks or accounts that a process remembers to have refused, some 200 bytes each. */
const rememberedRefusals = 10_000;
/** Refusals within a window that are answered at once. */
const patience = 10;
/** By how many milliseconds each further one is held back. */
const holdMs = 1_000;

/**
 * A limit by network or by account, in Redis; while Redis is away, each process counts for itself. A refused client is
 * refused from memory until the window ends, so that a flood reaches Redis only as far as the limit goes, and after
 * some refusals is held back: a client that asks again as soon as it was answered asks once a second on each
 * connection.
 */
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
  const refused = new LRUCache<string, { refusals: number }>({ max: rememberedRefusals });
  const tagOf = (who: string) => keys.tagOf(per, name, who);
  const refusedFor = (who: string) => refused.getRemainingTTL(who);
  return {
    keyOf: (who) => limiter.getKey(tagOf(who)),
    refusedFor,
    async count(who) {
      const entry = refused.get(who);
      if (entry !== undefined) {
        entry.refusals += 1;
        if (entry.refusals > patience) await delay(holdMs);
        return Math.max(1, refusedFor(who));
      }
      const waitMs = await waitOf(limiter.consume(tagOf(who)));
      if (waitMs !== undefined && waitMs > 0) refused.set(who, { refusals: 1 }, { ttl: waitMs });
      return waitMs;
    },
  };
}

/** Returns rate-limiter-flexible's verdict as a value: it rejects with a result if the limit is reached. */
export async function waitOf(consumed: Promise<RateLimiterRes>): Promise<number | undefined> {
  try {
    await consumed;
    return undefined;
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return Math.max(0, refusal.msBeforeNext);
    throw refusal;
  }
}
