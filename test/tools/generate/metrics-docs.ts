import { generateSections, toTable } from './page-sections.ts';
import { type DefinedMetric, findServiceMetrics } from './service-metrics.ts';

/** Writes docs/metrics.md's tables from the services' definitions. With --check it only compares. */

/** The most values of a label that the page lists. Labels with more values are described in the metric's meaning. */
const maximumValues = 8;
/** Labels whose values depend on the deployment, or are obvious. */
const openLabels = new Set(['version', 'node', 'service', 'provider', 'subscriber', 'method', 'status']);

/** Returns false for metrics of prom-client. They differ by platform, so the page only links to them. */
const isOurs = ({ name }: DefinedMetric) => !/^(process|nodejs)_/.test(name);

function toLabel([label, values]: readonly [string, readonly string[]]): string {
  const areFew = values.length > 0 && values.length <= maximumValues && !openLabels.has(label);
  return areFew ? `\`${label}\` (${values.map((value) => `\`${value}\``).join(', ')})` : `\`${label}\``;
}

function toSection(title: string, metrics: readonly DefinedMetric[]): string {
  const sorted = metrics.toSorted((one, other) => one.name.localeCompare(other.name, 'en'));
  const rows = sorted.map(({ name, type, help, labels }) => [
    `\`${name}\``,
    type,
    [...labels].map(toLabel).join('; '),
    help,
  ]);
  return `### ${title}\n\n${toTable(['Metric', 'Type', 'Labels', 'Meaning'], rows)}`;
}

const services = await findServiceMetrics();
const isShared = ({ name }: DefinedMetric) =>
  services.every(({ metrics }) => metrics.some((metric) => metric.name === name));
const tables = [
  toSection('Every service', (services[0]?.metrics ?? []).filter(isOurs).filter(isShared)),
  ...services.map(({ job, metrics }) =>
    toSection(
      job,
      metrics.filter(isOurs).filter((metric) => !isShared(metric)),
    ),
  ),
];
generateSections({ page: 'docs/metrics.md', generator: 'metrics', sections: { metrics: tables.join('\n\n') } });
