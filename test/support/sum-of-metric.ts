import type { Metrics } from '@auth-account/telemetry';

/** Returns the sum of a metric's values with these labels. */
export async function sumOf(
  registry: Metrics['registry'],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const values = (await registry.getSingleMetric(name)?.get())?.values ?? [];
  const wanted = Object.entries(labels);
  return values
    .filter((value) => wanted.every(([label, text]) => (value.labels as Record<string, unknown>)[label] === text))
    .reduce((sum, { value }) => sum + value, 0);
}
