export type Percentiles = ReturnType<typeof percentilesOf>;

/** Returns percentiles of latencies in milliseconds. */
export function percentilesOf(milliseconds: readonly number[]) {
  const sorted = milliseconds.toSorted((a, b) => a - b);
  const at = (share: number) => rounded(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return { count: sorted.length, min: at(0), p50: at(0.5), p99: at(0.99), max: at(1) };
}

export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Returns the milliseconds of the machine's monotonic clock, which has the same zero in all processes. */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export function paragraphs(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Formats rows under a head, as Markdown. */
export function markdownTable(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
