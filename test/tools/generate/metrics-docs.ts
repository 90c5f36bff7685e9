import { readFileSync, writeFileSync } from 'node:fs';
import { type DefinedMetric, findServiceMetrics } from './service-metrics.ts';

/**
 * Writes docs/metrics.md's tables from the services' definitions, between its two markers. With --check it writes
 * nothing and exits with 1 if they are out of date.
 */

const PAGE = new URL('../../../docs/metrics.md', import.meta.url);
const [START, END] = ['<!-- metrics:start -->', '<!-- metrics:end -->'];
const HEAD = ['| Metric | Type | Labels | Meaning |', '| --- | --- | --- | --- |'];

/** Labels with more values are described by the metric's meaning. */
const maximumValues = 8;
/** Labels whose values depend on the deployment, or are obvious. */
const openLabels = new Set(['version', 'node', 'service', 'subscriber', 'method', 'status']);

/** Returns false for metrics of prom-client, which differ from platform to platform: the page links to them. */
const isOurs = ({ name }: DefinedMetric) => !/^(process|nodejs)_/.test(name);

function toLabel([label, values]: readonly [string, readonly string[]]): string {
  const areFew = values.length > 0 && values.length <= maximumValues && !openLabels.has(label);
  return areFew ? `\`${label}\` (${values.map((value) => `\`${value}\``).join(', ')})` : `\`${label}\``;
}

function toLine({ name, type, help, labels }: DefinedMetric): string {
  const cells = [`\`${name}\``, type, [...labels].map(toLabel).join('; '), help];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function toTable(title: string, metrics: readonly DefinedMetric[]): string {
  const lines = metrics.toSorted((one, other) => one.name.localeCompare(other.name, 'en')).map(toLine);
  return [`### ${title}`, '', ...HEAD, ...lines, ''].join('\n');
}

function withTables(page: string, tables: string): string {
  const [start, end] = [page.indexOf(START), page.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`docs/metrics.md has no ${START} followed by ${END}`);
  return `${page.slice(0, start)}${START}\n\n${tables}\n${page.slice(end)}`;
}

const services = await findServiceMetrics();
const isShared = ({ name }: DefinedMetric) =>
  services.every(({ metrics }) => metrics.some((metric) => metric.name === name));
const tables = [
  toTable('Every service', (services[0]?.metrics ?? []).filter(isOurs).filter(isShared)),
  ...services.map(({ job, metrics }) =>
    toTable(
      job,
      metrics.filter(isOurs).filter((metric) => !isShared(metric)),
    ),
  ),
];
const before = readFileSync(PAGE, 'utf8');
const after = withTables(before, tables.join('\n'));

if (!process.argv.includes('--check')) {
  writeFileSync(PAGE, after);
} else if (after !== before) {
  console.error('docs/metrics.md: the tables are out of date. Run: npm run generate');
  process.exitCode = 1;
}
