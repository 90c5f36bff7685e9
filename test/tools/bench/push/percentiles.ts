/** Percentiles of latencies in milliseconds. */
export interface Percentiles {
  readonly count: number;
  readonly min: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export function percentilesOf(milliseconds: readonly number[]): Percentiles {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (share: number) => rounded(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return { count: sorted.length, min: at(0), p50: at(0.5), p99: at(0.99), max: at(1) };
}

export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
