import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { api } from '../generate/dashboards/api.ts';
import { lines } from '../generate/dashboards/panel.ts';
import { type Dashboard, toGrafana } from '../generate/dashboards/to-grafana.ts';
import { findServiceMetrics, type ServiceMetrics } from '../generate/service-metrics.ts';
import { dashboardsFolder, findHiddenMetrics, findImpossibleMatchers } from '../observability/find-rule-faults.ts';
import { metricsOf, partsOf } from '../observability/promql.ts';
import { readAlerts, readRules, rulesFolder } from '../observability/rule-file.ts';
import { speedUp } from '../observability/speed-up.ts';

const root = new URL('../../../', import.meta.url);
const runbooksFolder = new URL('docs/runbooks/', root);

/** Prometheus's own metrics. */
const prometheusOwn = ['up', 'ALERTS'];

const rules = readRules().groups.flatMap((group) => group.rules);
const alerts = readAlerts();
let exported: Set<string>;
let services: ServiceMetrics[];
beforeAll(async () => {
  services = await findServiceMetrics();
  const defined = services.flatMap(({ metrics }) => metrics);
  const series = defined.flatMap(({ name, type }) =>
    type === 'histogram' ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix) : [name],
  );
  const recorded = rules.flatMap(({ record }) => record ?? []);
  exported = new Set([...series, ...recorded, ...prometheusOwn]);
});

const unknownIn = (expression: string) => metricsOf(expression).filter((name) => !exported.has(name));

describe('the rules of Prometheus', () => {
  test('the rules name only metrics that are exported, or recorded', () => {
    expect(rules.flatMap(({ expr }) => unknownIn(expr))).toEqual([]);
  });

  test('the rules ask for existing labels, values and services', () => {
    expect(rules.flatMap(({ expr }) => findImpossibleMatchers(expr, services))).toEqual([]);
    expect(findImpossibleMatchers('auth_logins_total{job="auth-api",outcome="stollen"}', services)).toHaveLength(1);
    expect(findImpossibleMatchers('auth_logins_total{job="auth-worker",result=~"failed"}', services)).toHaveLength(2);
  });

  test('the rules use every metric that they record', () => {
    const used = new Set(rules.flatMap(({ expr }) => metricsOf(expr)));
    const unused = rules.flatMap(({ record }) => record ?? []).filter((name) => !used.has(name));
    expect([...new Set(unused)]).toEqual([]);
  });

  test('every alert has a severity, texts and the path of its own runbook', () => {
    for (const { alert, labels, annotations } of alerts) {
      expect(['critical', 'warning']).toContain(labels.severity);
      expect(annotations.summary).toMatch(/\S/);
      expect(annotations.description).toMatch(/\S/);
      expect(annotations.runbook_url).toBe(`docs/runbooks/${alert}.md`);
    }
  });

  test('each alert has a runbook, and each runbook its alert', () => {
    const runbooks = readdirSync(runbooksFolder).map((file) => file.replace(/\.md$/, ''));
    expect(runbooks.sort()).toEqual(alerts.map(({ alert }) => alert).sort());
    const heads = runbooks.map((name) => readFileSync(new URL(`${name}.md`, runbooksFolder), 'utf8').split('\n')[2]);
    expect(new Set(heads)).toEqual(new Set(['First run [these lines](../operations.md#before-the-commands).']));
  });

  test('the rules in their fast form have a sixtieth of every window and age, and the same shares', () => {
    const fast = speedUp(readRules()).groups.flatMap((group) => group.rules);
    const of = (name: string) => fast.find(({ alert, record }) => alert === name || record === name);
    expect(of('AuthOutboxOld')).toMatchObject({ expr: expect.stringMatching(/> 10\s*$/), for: '5s' });
    expect(of('AuthProbeStale')).toMatchObject({ expr: expect.stringMatching(/> 15\s*$/), for: '5s' });
    expect(of('AuthDeliveriesFailing')?.expr).toMatch(/\[10s\][\s\S]*> 0\.5\s[\s\S]*\[5s\][\s\S]*<= 0\.5\s*$/);
    expect(of('AuthStolenTokensSurge')?.expr).toMatch(/> 10[\s\S]*\[1440s\] offset 15s/);
    expect(of('auth:api_errors:ratio_rate3d')?.expr).toContain('[4320s]');
  });
});

/** Expectation of a unit test of the rules about an alert. */
type Expectation = readonly [alert: string, isFiring: boolean];

function expectationsOf(file: string): Expectation[] {
  const { tests } = parse(readFileSync(new URL(`tests/${file}`, rulesFolder), 'utf8')) as {
    tests: { promql_expr_test: { expr: string; exp_samples: unknown[] }[] }[];
  };
  return tests.flatMap(({ promql_expr_test }) =>
    promql_expr_test.map(({ expr, exp_samples }): Expectation => {
      const [, name = ''] = /alertname="(\w+)"/.exec(expr) ?? [];
      return [name, exp_samples.length > 0];
    }),
  );
}

test('every alert has unit tests in which it fires, and in which it does not', () => {
  const expectations = readdirSync(new URL('tests/', rulesFolder)).flatMap(expectationsOf);
  const lacking = [true, false].flatMap((isWanted) =>
    alerts
      .filter(({ alert }) => !expectations.some(([name, isFiring]) => name === alert && isFiring === isWanted))
      .map(({ alert }) => `${alert}, firing: ${isWanted}`),
  );
  expect(lacking).toEqual([]);
});

interface GrafanaDashboard {
  readonly id?: unknown;
  readonly uid: string;
  readonly schemaVersion: number;
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly title: string;
    readonly fieldConfig?: { readonly defaults: { readonly unit: string } };
    readonly targets?: readonly { readonly expr: string; readonly datasource: { readonly uid: string } }[];
  }[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly current: { readonly value?: string[] } }[];
  };
}

/** Returns a query with values in place of Grafana's variables. */
function withoutVariables(query: string): string {
  return query.replaceAll('$__rate_interval', '5m').replaceAll('$__range', '6h');
}

test('each metric of a service is in a dashboard or an alert', () => {
  expect(findHiddenMetrics(services)).toEqual([]);
  const nowhere = { name: 'auth_nowhere_total', type: 'counter', help: '', labels: new Map() };
  expect(findHiddenMetrics([{ metrics: [nowhere] }])).toEqual(['auth_nowhere_total']);
});

test('a panel that is inserted into a dashboard changes the id of no other', () => {
  const idsOf = (dashboard: Dashboard) => {
    const { panels } = toGrafana(dashboard) as GrafanaDashboard;
    return panels.map(({ type, title, id }) => `${type} ${title}: ${id}`);
  };
  const [first, ...rows] = api.rows;
  const panels = [lines('ops', 'A panel of today', '', []), ...(first?.panels ?? [])];
  const before = idsOf(api);
  const after = idsOf({ ...api, rows: [{ title: 'Requests', ...first, panels }, ...rows] });
  expect(after.filter((each) => !each.includes('A panel of today'))).toEqual(before);
  expect(after).toHaveLength(before.length + 1);
});

describe.each(readdirSync(dashboardsFolder))('the dashboard %s', (file) => {
  const dashboard: GrafanaDashboard = JSON.parse(readFileSync(new URL(file, dashboardsFolder), 'utf8'));
  const queries = dashboard.panels.flatMap(({ targets = [] }) => targets);
  const [job = ''] = dashboard.templating.list.find(({ name }) => name === 'job')?.current.value ?? [];

  test('the dashboard names only metrics that are exported, or recorded, and labels that they have', () => {
    expect(queries.flatMap(({ expr }) => unknownIn(withoutVariables(expr)))).toEqual([]);
    const asked = queries.map(({ expr }) =>
      withoutVariables(expr).replaceAll('$job', job === '$__all' ? 'auth-.*' : job),
    );
    expect(asked.flatMap((query) => findImpossibleMatchers(query, services))).toEqual([]);
  });

  test('the dashboard works in any Grafana: its data source, namespace and service are variables', () => {
    expect(dashboard.id).toBeUndefined();
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'namespace', 'job']);
    expect(queries.filter(({ datasource }) => datasource.uid !== '$datasource')).toEqual([]);
    const selectors = queries
      .flatMap(({ expr }) => partsOf(withoutVariables(expr)))
      .filter(({ name }) => name === 'VectorSelector')
      .map(({ text }) => text);
    expect(selectors.filter((text) => !text.includes('namespace=~"$namespace"'))).toEqual([]);
    const ofServices = selectors.filter((text) => !/^(auth:|ALERTS|auth_probe)/.test(text));
    expect(ofServices.filter((text) => !text.includes('job=~"$job"'))).toEqual([]);
  });

  test('the dashboard has panels with ids of their own, and with units', () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const withoutUnit = dashboard.panels.filter(
      ({ type, fieldConfig }) => type !== 'row' && !fieldConfig?.defaults.unit,
    );
    expect(withoutUnit.map(({ title }) => title)).toEqual([]);
  });
});
