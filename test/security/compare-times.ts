import { areaUnderCurve, median } from '../support/area-under-curve.ts';

/** Takes the time of a request about something known, and about something unknown, in milliseconds. */
export interface Sides {
  known(): Promise<number>;
  unknown(): Promise<number>;
}

export interface Comparison {
  /** Probability that a random time of the known is above one of the unknown: 0.5 if they do not differ. */
  readonly area: number;
  /** The distance from 0.5 that the area of equal distributions does not have by chance. */
  readonly tolerance: number;
  readonly words: string;
}

export interface CompareOptions {
  /** Number of pairs in a batch. */
  readonly pairs: number;
  /** The result that ends the comparison before its last batch. */
  readonly until: 'same' | 'different';
}

const batches = 4;

/**
 * For two equal distributions the AUC is normally distributed around 0.5, with a standard deviation of √(1 / 6n) for n
 * pairs. The bound is four deviations away.
 */
const toleranceFor = (pairs: number) => 4 * Math.sqrt(1 / (6 * pairs));

/**
 * Compares times in pairs, each in random order. If a batch brings another result than expected, more batches are added
 * to it: chance is soon outweighed, and a real difference stays.
 */
export async function compareTimes(sides: Sides, { pairs, until }: CompareOptions): Promise<Comparison> {
  const [known, unknown]: [number[], number[]] = [[], []];
  const takeKnown = async () => known.push(await sides.known());
  const takeUnknown = async () => unknown.push(await sides.unknown());
  for (let batch = 1; ; batch += 1) {
    for (let pair = 0; pair < pairs; pair += 1) {
      const order = Math.random() < 0.5 ? [takeKnown, takeUnknown] : [takeUnknown, takeKnown];
      for (const take of order) await take();
    }
    const [area, tolerance] = [areaUnderCurve(known, unknown), toleranceFor(known.length)];
    const result = Math.abs(area - 0.5) < tolerance ? 'same' : 'different';
    if (result !== until && batch < batches) continue;
    const medians = [known, unknown].map((times) => median(times).toFixed(2));
    const words = `${known.length} pairs: AUC ${area.toFixed(3)}, medians ${medians.join(' and ')} ms`;
    return { area, tolerance, words };
  }
}
