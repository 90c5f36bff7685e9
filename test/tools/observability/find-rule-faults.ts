import { readdirSync, readFileSync } from 'node:fs';
import type { ServiceMetrics } from '../generate/service-metrics.ts';
import { type Selector, selectorsOf } from './promql.ts';
import { readAlerts } from './rule-file.ts';

/** Labels that Prometheus, its service discovery or a histogram adds. */
const scraperLabels = new Set(['namespace', 'instance', 'le']);
const seriesSuffix = /_(bucket|sum|count)$/;

function isMetBy({ operator, value }: Selector['matchers'][number], values: readonly string[]): boolean {
  if (operator === '=') return values.includes(value);
  if (operator === '=~') return values.some((each) => new RegExp(`^(?:${value})$`).test(each));
  return true;
}

function impossibleIn({ metric, matchers }: Selector, services: readonly ServiceMetrics[]): string[] {
  const definedAs = [metric, metric.replace(seriesSuffix, '')];
  const exporters = services.flatMap(({ job, metrics }) =>
    metrics.filter(({ name }) => definedAs.includes(name)).map(({ labels }) => ({ job, labels })),
  );
  if (exporters.length === 0) return [];
  const valuesOf = (label: string) =>
    label === 'job'
      ? exporters.map(({ job }) => job)
      : exporters.flatMap(({ labels }) => [...(labels.get(label) ?? [])]);
  const isKnown = (label: string) => label === 'job' || exporters.some(({ labels }) => labels.has(label));
  return matchers
    .filter(({ label }) => !scraperLabels.has(label))
    .filter((matcher) => !isKnown(matcher.label) || !isMetBy(matcher, valuesOf(matcher.label)))
    .map(({ label, operator, value }) => `${metric}{${label}${operator}"${value}"}`);
}

/**
 * Finds matchers of the expression that no series can satisfy, so that the rule would never fire. They name a label
 * that the metric does not have, a value that none of its series has at the start, or another service's metrics.
 */
export function findImpossibleMatchers(expression: string, services: readonly ServiceMetrics[]): string[] {
  return selectorsOf(expression).flatMap((selector) => impossibleIn(selector, services));
}

export const dashboardsFolder = new URL('../../../charts/auth-account/dashboards/', import.meta.url);

/** Returns the services' own metrics that are in no dashboard and no alert. */
export function findHiddenMetrics(services: readonly Pick<ServiceMetrics, 'metrics'>[]): string[] {
  const shown = readdirSync(dashboardsFolder).map((file) => readFileSync(new URL(file, dashboardsFolder), 'utf8'));
  const queries = [...shown, ...readAlerts().map(({ expr }) => expr)].join(' ');
  const names = services.flatMap(({ metrics }) => metrics.map(({ name }) => name));
  return names.filter((name) => !/^(process|nodejs)_/.test(name) && !queries.includes(name));
}
