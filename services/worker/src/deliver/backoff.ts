import { DeliveryError } from './delivery-error.ts';

const firstMs = 1_000;
const hourMs = 60 * 60_000;

/** Chooses the pause after a failed attempt, in milliseconds; fits BullMQ's `settings.backoffStrategy`. */
export type Backoff = (attemptsMade: number, type?: string, error?: Error) => number;

/**
 * Exponential backoff with full jitter: anything between 0 and 1 s · 2^(attempts − 1), at most `maximumMs`, so that what
 * failed together does not come back together. A `Retry-After` of the subscriber's is waited for first, as long at most.
 */
export function createBackoff(random: () => number = Math.random, maximumMs = hourMs): Backoff {
  return (attemptsMade, _type, error) => {
    const jitter = Math.round(random() * Math.min(maximumMs, firstMs * 2 ** (attemptsMade - 1)));
    const asked = error instanceof DeliveryError ? (error.retryAfterMs ?? 0) : 0;
    return Math.max(jitter, Math.min(asked, maximumMs));
  };
}
