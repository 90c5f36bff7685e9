import { describe, expect, test } from '@jest/globals';
import { type Course, createRandom, simulateSession } from './simulate-refresh.ts';

/**
 * The network of docs/adr/0008-generations-in-place-of-a-grace-window.md. It loses 30 % of the answers, and a fifth of
 * the requests are up to 400 s late.
 */
const network = { random: createRandom(5), lostAnswers: 0.3, lateRequests: 0.2, lateMs: 400_000 };
const sessions = 20_000;
const course: Course = { network, retryWindowMs: 30_000, refreshes: 30 };

const quantile = (sorted: readonly number[], part: number) => sorted[Math.floor(sorted.length * part)] as number;

// guarantees: owner-stays-logged-in
test('20,000 owners of 30 refreshes each over a bad network: none is logged out', () => {
  let loggedOut = 0;
  for (let i = 0; i < sessions; i += 1) loggedOut += simulateSession(course).isRevoked ? 1 : 0;
  expect(loggedOut).toBe(0);
});

test('the same owners are never logged out if there is no retry window at all', () => {
  for (let i = 0; i < 2_000; i += 1) {
    expect(simulateSession({ ...course, retryWindowMs: 0 }).isRevoked).toBe(false);
  }
});

describe('a thief in each of the 20,000 sessions', () => {
  const outcomes = Array.from({ length: sessions }, () => {
    return simulateSession({ ...course, refreshes: 60, theftAfter: 1 + Math.floor(network.random() * 29) });
  });
  const lived = outcomes.map(({ thiefRefreshes }) => thiefRefreshes).sort((a, b) => a - b);

  test('a thief in any of the 20,000 sessions is always seen', () => {
    expect(outcomes.filter(({ isRevoked }) => !isRevoked)).toEqual([]);
  });

  // guarantees: theft-noticed-late
  test('a thief is seen after two refreshes of his at the median, and no more than five at the 99th percentile', () => {
    const figures = { median: quantile(lived, 0.5), p90: quantile(lived, 0.9), p99: quantile(lived, 0.99) };
    if (process.env.MODEL_FIGURES) console.log({ ...figures, max: lived.at(-1) });
    expect(figures.median).toBeLessThanOrEqual(2);
    expect(figures.p99).toBeLessThanOrEqual(5);
  });
});
