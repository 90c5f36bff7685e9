import { AsyncResource } from 'node:async_hooks';
import { AppError } from '@auth-account/errors';
import AsyncLock from 'async-lock';

export interface KeyedLockOptions {
  /** Milliseconds after which work that has not begun is refused, unless the caller sets its own limit. */
  readonly waitMs: number;
  /** Maximum number of callers that wait for one key. */
  readonly maximumWaiting: number;
}

/**
 * Runs the work when all earlier work with the same key has succeeded or failed. Passes to the work how many
 * milliseconds of `waitMs` are left. Urgent work goes before all other waiting work, however many callers wait. Throws
 * `ERR-DEPENDENCY-UNAVAILABLE` if too many callers wait, or if the wait was too long. In both cases the work does not
 * begin. Keys don't wait for each other, and unused keys are forgotten.
 */
export type KeyedLock = <T>(
  key: string,
  work: (leftMs: number) => Promise<T>,
  options?: { readonly isUrgent?: boolean | undefined; readonly waitMs?: number },
) => Promise<T>;

const retryAfterSeconds = 2;

export function createKeyedLock(defaults: KeyedLockOptions): KeyedLock {
  const lock = new AsyncLock({ maxPending: defaults.maximumWaiting });

  return async (key, work, { isUrgent = false, waitMs = defaults.waitMs } = {}) => {
    const deadline = performance.now() + waitMs;
    let hasBegun = false;
    const begin = () => {
      hasBegun = true;
      return work(deadline - performance.now());
    };
    try {
      // The end of one piece of work starts the next. Without the bind, the logs and spans of the next piece would be
      // attributed to the earlier piece.
      const place = isUrgent ? { skipQueue: true, maxPending: Number.POSITIVE_INFINITY } : {};
      return await lock.acquire(key, AsyncResource.bind(begin), { timeout: waitMs, ...place });
    } catch (error) {
      if (hasBegun) throw error;
      throw new AppError('ERR-DEPENDENCY-UNAVAILABLE', { retryAfterSeconds, cause: error });
    }
  };
}
