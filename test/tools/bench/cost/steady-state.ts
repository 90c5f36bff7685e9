import { medianOf } from './median-of.ts';

/** Number of rounds that are compared with as many before them. */
export const comparedRounds = 8;
/** Largest relative difference of the medians at which the cost counts as steady. */
export const stillWithin = 0.03;

/**
 * Returns true if a cost has stopped changing, so that the median of the last rounds differs by less than 3 % from that
 * of the rounds before. Fewer rounds or a wider bound would not be enough. The event loop's part of a refresh falls by
 * a sixth between 3,000 and 20,000 operations, while every other round costs a sixth more.
 */
export function standsStill(rounds: readonly number[]): boolean {
  if (rounds.length < 2 * comparedRounds) return false;
  const last = medianOf(rounds.slice(-comparedRounds));
  const before = medianOf(rounds.slice(-2 * comparedRounds, -comparedRounds));
  return Math.abs(last - before) < stillWithin * before;
}
