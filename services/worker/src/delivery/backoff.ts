import { DeliveryError } from './webhook.ts';

const firstMs = 1_000;
const hourMs = 60 * 60_000;

/** Chooses the pause after a failed attempt, in milliseconds; fits BullMQ's `settings.backoffStrategy`. */
export type Backoff = (attemptsMade: number, type?: string, error?: Error) => number;

/** Longest that a subscriber's `Retry-After` is waited for, in ms. */
export const maximumRetryAfterMs = hourMs;

/**
 * Exponential backoff with full jitter: anything between 0 and 1 s · 2^(attempts − 1), at most `maximumMs`, so that what
 * failed together does not come back together. A `Retry-After` of the subscriber's is waited for first, as long at most.
 * What was answered 410 Gone comes back at once, to wait for as long as its subscriber is parked.
 */
export function createBackoff(random: () => number = Math.random, maximumMs = maximumRetryAfterMs): Backoff {
  return (attemptsMade, _type, error) => {
    const { status, retryAfterMs = 0 } = error instanceof DeliveryError ? error : {};
    const doublings = status === 410 ? 0 : attemptsMade - 1;
    const jitter = Math.round(random() * Math.min(maximumMs, firstMs * 2 ** doublings));
    return Math.max(jitter, Math.min(retryAfterMs, maximumMs));
  };
}
