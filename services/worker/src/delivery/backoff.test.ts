import type { AuthEvent } from '@auth-account/contracts/events';
import { describe, expect, test } from '@jest/globals';
import { createBackoff } from './backoff.ts';
import { DeliveryError } from './delivery-error.ts';

const hourMs = 3_600_000;
const longest = createBackoff(() => 1);
const shortest = createBackoff(() => 0);

describe('the pause after a failed delivery', () => {
  test('the pause after a failed delivery is random, up to a bound that doubles with each attempt', () => {
    expect([1, 2, 3, 4].map((attempt) => longest(attempt))).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect([1, 2, 3, 4].map((attempt) => shortest(attempt))).toEqual([0, 0, 0, 0]);
  });

  test('the pause after a failed delivery is never longer than an hour, after any number of attempts', () => {
    expect([12, 13, 100, 1_000_000].map((attempt) => longest(attempt))).toEqual([2_048_000, hourMs, hourMs, hourMs]);
  });

  test('the pause after a failed delivery is 30 s at most for a code, and 5 min for a notification', () => {
    const afterAttempts = (type: AuthEvent['type']) =>
      [1, 6, 9, 10, 100].map((attempt) => longest(attempt, 'custom', undefined, { data: { type } }));
    expect(afterAttempts('service.auth.events.code_requested')).toEqual([1_000, 30_000, 30_000, 30_000, 30_000]);
    expect(afterAttempts('service.auth.events.notice')).toEqual([1_000, 32_000, 256_000, 300_000, 300_000]);
  });

  test('the pause after a failed delivery does not grow if the answer was 410 Gone', () => {
    expect(longest(10, 'custom', new DeliveryError('answered 410', { status: 410 }))).toBe(1_000);
    expect(longest(10, 'custom', new DeliveryError('answered 409', { status: 409 }))).toBe(512_000);
  });

  test('the pause after a failed delivery is at least what Retry-After asks for, and an hour at most', () => {
    const asking = (retryAfterMs: number) => new DeliveryError('answered 503', { retryAfterMs });
    expect(shortest(1, 'custom', asking(30_000))).toBe(30_000);
    expect(longest(10, 'custom', asking(30_000))).toBe(512_000);
    expect(shortest(1, 'custom', asking(10 * hourMs))).toBe(hourMs);
  });
});
