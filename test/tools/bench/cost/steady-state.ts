import { medianOf } from './median-of.ts';

/** Rounds that are compared with as many before them. */
export const comparedRounds = 4;
/** Largest difference of their medians at which the cost counts as standing still. */
export const stillWithin = 0.05;

/**
 * Tells whether a cost has stopped changing: the median of the last rounds differs by less than a twentieth from that of
 * the rounds before.
 */
export function standsStill(rounds: readonly number[]): boolean {
  if (rounds.length < 2 * comparedRounds) return false;
  const last = medianOf(rounds.slice(-comparedRounds));
  const before = medianOf(rounds.slice(-2 * comparedRounds, -comparedRounds));
  return Math.abs(last - before) < stillWithin * before;
}
