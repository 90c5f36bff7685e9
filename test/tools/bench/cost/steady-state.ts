import { medianOf } from './median-of.ts';

/** Rounds that are compared with as many before them. */
export const comparedRounds = 8;
/** Largest difference of their medians at which the cost counts as standing still. */
export const stillWithin = 0.03;

/**
 * Tells whether a cost has stopped changing: the median of the last rounds differs by less than 3 % from that of the
 * rounds before. Fewer rounds or a wider bound would not do: the event loop's part of a refresh falls by a sixth from
 * 3,000 operations to 20,000, with every other round a sixth dearer.
 */
export function standsStill(rounds: readonly number[]): boolean {
  if (rounds.length < 2 * comparedRounds) return false;
  const last = medianOf(rounds.slice(-comparedRounds));
  const before = medianOf(rounds.slice(-2 * comparedRounds, -comparedRounds));
  return Math.abs(last - before) < stillWithin * before;
}
