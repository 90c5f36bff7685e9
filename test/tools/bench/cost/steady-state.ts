import { median } from '../../../support/area-under-curve.ts';

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
  const last = median(rounds.slice(-comparedRounds));
  const before = median(rounds.slice(-2 * comparedRounds, -comparedRounds));
  return Math.abs(last - before) < stillWithin * before;
}

/** The most cores that other processes may take in a round that counts as quiet. */
export const maxOthers = 0.2;

interface Disturbed {
  /** Cores that other processes and the hypervisor took during the round. */
  readonly others: number;
}

/** Returns how many rounds to repeat for `wanted` quiet ones. Repetitions stop at half of `wanted`. */
export function roundsToRepeat(rounds: readonly Disturbed[], wanted: number): number {
  const quiet = rounds.filter(({ others }) => others <= maxOthers).length;
  return Math.max(0, Math.min(wanted - quiet, Math.ceil(1.5 * wanted) - rounds.length));
}

/** Returns the `wanted` rounds in which other processes did least. */
export function quietestRounds<T extends Disturbed>(rounds: readonly T[], wanted: number): T[] {
  return rounds.toSorted((a, b) => a.others - b.others).slice(0, wanted);
}
