import type { Round } from './measure-operation.ts';

/** Most cores that others may take while a round counts as quiet. */
export const mostOthers = 0.2;

/** Returns how many rounds are still to be repeated until `wanted` of them are quiet; none after half as many again. */
export function roundsToRepeat(rounds: readonly Pick<Round, 'others'>[], wanted: number): number {
  const quiet = rounds.filter(({ others }) => others <= mostOthers).length;
  return Math.max(0, Math.min(wanted - quiet, Math.ceil(1.5 * wanted) - rounds.length));
}

/** Returns the rounds in which others did least. */
export function quietestRounds<T extends Pick<Round, 'others'>>(rounds: readonly T[], wanted: number): T[] {
  return rounds.toSorted((a, b) => a.others - b.others).slice(0, wanted);
}
