import type { Round } from './measure-operation.ts';

/** The most cores that other processes may take in a round that counts as quiet. */
export const maxOthers = 0.2;

/** Returns how many rounds to repeat for `wanted` quiet ones. Repetitions stop at half of `wanted`. */
export function roundsToRepeat(rounds: readonly Pick<Round, 'others'>[], wanted: number): number {
  const quiet = rounds.filter(({ others }) => others <= maxOthers).length;
  return Math.max(0, Math.min(wanted - quiet, Math.ceil(1.5 * wanted) - rounds.length));
}

/** Returns the `wanted` rounds in which other processes did least. */
export function quietestRounds<T extends Pick<Round, 'others'>>(rounds: readonly T[], wanted: number): T[] {
  return rounds.toSorted((a, b) => a.others - b.others).slice(0, wanted);
}
