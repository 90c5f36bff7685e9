import type { AuthEvent } from '@auth-account/contracts/events';
import { DeliveryError } from './delivery-error.ts';

const firstMs = 1_000;
const hourMs = 60 * 60_000;

/** Chooses the pause after a failed attempt, in milliseconds; fits BullMQ's `settings.backoffStrategy`. */
export type Backoff = (
  attemptsMade: number,
  type?: string,
  error?: Error,
  job?: { readonly data: Pick<AuthEvent, 'type'> },
) => number;

/**
 * Limits for our own pause before a mail to a person is sent again, in ms. A code is valid for 10 minutes. A
 * notification may report that somebody else has the account.
 */
const maximumOf = new Map<string, number>([
  ['service.auth.events.code_requested', 30_000],
  ['service.auth.events.notice', 300_000],
]);

/** Limit for the pause that a subscriber's `Retry-After` can demand, in ms. */
export const maximumRetryAfterMs = hourMs;

/**
 * Creates an exponential backoff with full jitter. The pause is between 0 and 1 s · 2^(attempts − 1), so that events
 * that failed together are not retried together. It is at most `maximumMs`, for notifications 5 min and for codes 30 s.
 * The subscriber's `Retry-After` prolongs the pause, up to `maximumMs`. After a 410 Gone the pause does not grow,
 * because the job waits in the queue for as long as its subscriber is suspended.
 */
export function createBackoff(random: () => number = Math.random, maximumMs = maximumRetryAfterMs): Backoff {
  return (attemptsMade, _type, error, job) => {
    const { status, retryAfterMs = 0 } = error instanceof DeliveryError ? error : {};
    const doublings = status === 410 ? 0 : attemptsMade - 1;
    const longest = maximumOf.get(job?.data.type ?? '') ?? maximumMs;
    const jitter = Math.round(random() * Math.min(longest, maximumMs, firstMs * 2 ** doublings));
    return Math.max(jitter, Math.min(retryAfterMs, maximumMs));
  };
}
