import { Counter } from 'prom-client';
import type { Metrics } from './create-metrics.ts';

export interface ZeroedCounterOptions<L extends string> {
  readonly registry: Metrics['registry'];
  readonly name: string;
  readonly help: string;
  /** Label → every value that it can take. */
  readonly values: Readonly<Record<L, readonly string[]>>;
}

/**
 * Makes a counter with every combination of its labels' values at zero. A series that only begins with its first event
 * hides that event from `rate()` and `increase()`, and from an alert that waits for it.
 */
export function createZeroedCounter<L extends string>(options: ZeroedCounterOptions<L>): Counter<L> {
  const { registry, name, help, values } = options;
  const labelNames = Object.keys(values) as L[];
  const counter = new Counter<L>({ name, help, labelNames, registers: [registry] });
  for (const labels of combinations(labelNames, values)) counter.inc(labels as Record<L, string>, 0);
  return counter;
}

function combinations(
  names: readonly string[],
  values: Readonly<Record<string, readonly string[]>>,
): Record<string, string>[] {
  return names.reduce<Record<string, string>[]>(
    (all, name) => all.flatMap((labels) => (values[name] ?? []).map((value) => ({ ...labels, [name]: value }))),
    [{}],
  );
}
