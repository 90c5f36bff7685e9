import { readdirSync, readFileSync } from 'node:fs';
import type { ServiceMetrics } from '../generate/service-metrics.ts';
import { readAlerts } from './rule-file.ts';

export const dashboardsFolder = new URL('../../../charts/auth-account/dashboards/', import.meta.url);

/** Returns the services' own metrics that are in no dashboard and no alert. */
export function findHiddenMetrics(services: readonly Pick<ServiceMetrics, 'metrics'>[]): string[] {
  const shown = readdirSync(dashboardsFolder).map((file) => readFileSync(new URL(file, dashboardsFolder), 'utf8'));
  const queries = [...shown, ...readAlerts().map(({ expr }) => expr)].join(' ');
  const names = services.flatMap(({ metrics }) => metrics.map(({ name }) => name));
  return names.filter((name) => !/^(process|nodejs)_/.test(name) && !queries.includes(name));
}
