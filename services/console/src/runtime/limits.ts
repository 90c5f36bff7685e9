import { createHmac } from 'node:crypto';
import type { RedisStore, Use } from '@auth-account/operations';
import { ConsoleError } from './console-error.ts';
import type { ConsoleLimit, ConsoleMetrics } from './metrics.ts';

const windowSeconds = 3_600;

export interface LimitDeps {
  readonly useRedis: Use<RedisStore>;
  /** Secret of the names in Redis, so that a dump of it identifies nobody. */
  readonly secret: string;
  readonly most: Readonly<Record<ConsoleLimit, number>>;
  readonly metrics: Pick<ConsoleMetrics, 'limited'>;
}

/**
 * Counts one more within an hour, which begins with the first. Throws a `ConsoleError`: `limited` above the limit,
 * `unavailable` without Redis, because a look at personal data that nobody counts is not allowed.
 */
export type TakeOne = (limit: ConsoleLimit, who: string) => Promise<void>;

/** Creates the limits on what staff do. */
export function createTakeOne({ useRedis, secret, most, metrics }: LimitDeps): TakeOne {
  const tagOf = (...parts: string[]) =>
    createHmac('sha256', secret)
      .update(JSON.stringify(['console limit', ...parts]))
      .digest('base64url')
      .slice(0, 22);
  return async (limit, who) => {
    const [, count, seconds] = await useRedis(async ({ redis, keys }) => {
      const key = `${keys.limit('console')}:${tagOf(limit, who)}`;
      const taken = await redis.multi().set(key, 0, 'EX', windowSeconds, 'NX').incr(key).ttl(key).exec();
      return (taken ?? []).map(([error, result]) => {
        if (error) throw error;
        return Number(result);
      });
    });
    if (count !== undefined && count <= most[limit]) return;
    metrics.limited.inc({ limit });
    const retryAfterSeconds = Math.max(1, Number(seconds ?? windowSeconds));
    throw new ConsoleError('limited', `More than ${most[limit]} in an hour.`, { retryAfterSeconds });
  };
}
