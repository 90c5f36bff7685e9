import { strict as assert } from 'node:assert';
import { waitUntil } from '@auth-account/local-stack';
import { selectorsOf } from '../../observability/promql.ts';
import { readRules } from '../../observability/rule-file.ts';
import type { Cluster } from '../cluster.ts';
import { isReady, settings, untilNothingIsMissing } from '../kubernetes.ts';
import { runCommand } from '../run-command.ts';
import { valuesOf } from './install.ts';
import { checkCollector } from './traces.ts';

/** The cluster's Prometheus, which is queried through the API server. */
type Prometheus = NonNullable<ReturnType<typeof findPrometheus>>;

interface Target {
  readonly health: string;
  readonly lastError: string;
  readonly scrapePool: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface RuleGroup {
  readonly file: string;
  readonly rules: readonly { readonly name: string; readonly health: string; readonly lastError?: string }[];
}

/** Returns the Prometheus that the environment names as `namespace/service:port`; undefined if it names none. */
export function findPrometheus(env = process.env) {
  const [, namespace, service, port] = /^([^/]+)\/([^:]+):(\d+)$/.exec(env.CLUSTER_PROMETHEUS ?? '') ?? [];
  if (port === undefined) return;
  async function ask<T>(path: string): Promise<T> {
    const proxy = `/api/v1/namespaces/${namespace}/services/${service}:${port}/proxy`;
    const answer = JSON.parse(await runCommand('kubectl', ['get', '--raw', `${proxy}/api/v1/${path}`]));
    if (answer.status !== 'success') throw new Error(`Prometheus: ${JSON.stringify(answer)}`);
    return answer.data as T;
  }
  const address = `keda.prometheus.serverAddress=http://${service}.${namespace}.svc:${port}`;
  return {
    /** Arguments for helm with which Prometheus scrapes the release, and KEDA queries Prometheus. */
    values: ['-f', 'test/tools/cluster/operator-values.yaml', '--set', address],
    targets: async () => (await ask<{ activeTargets: Target[] }>('targets?state=active')).activeTargets,
    ruleGroups: async () => (await ask<{ groups: RuleGroup[] }>('rules')).groups,
    /** Returns the labels of each series of an instant query. */
    async query(expression: string) {
      const path = `query?query=${encodeURIComponent(expression)}`;
      const { result } = await ask<{ result: { metric: Target['labels'] }[] }>(path);
      return result.map(({ metric }) => metric);
    },
  };
}

/**
 * Limit in milliseconds. A changed monitor or rule reaches Prometheus through a mounted Secret, within two to four
 * minutes.
 */
const limitMs = 420_000;
const components = ['api', 'push-gateway', 'worker', 'probe'];

/** Upgrades the release. From then on KEDA controls the number of the worker's pods. */
async function checkMonitored({ reporter, kubernetes }: Cluster, kind: string, values: readonly string[]) {
  return reporter.check(`helm upgrade with a ${kind}, a PrometheusRule and a ScaledObject`, async () => {
    await kubernetes.upgrade(values);
    const hasLooked = async () =>
      (await kubernetes.read(['get', 'deployment', 'auth-account-worker'])).spec.replicas >= 2;
    await waitUntil(hasLooked, { what: "KEDA keeps the worker's minimum", timeoutMs: limitMs, intervalMs: 1_000 });
    await kubernetes.allSettled(components);
    return [];
  });
}

/** Checks that Prometheus scrapes each pod once, without faults. */
async function checkTargets({ reporter, kubernetes }: Cluster, prometheus: Prometheus, kind: string) {
  await reporter.check(`every target of the ${kind} is up`, async () => {
    const pods = (await Promise.all(components.map(kubernetes.podsOf))).flat();
    const expected = pods.filter(isReady).map(({ metadata }) => metadata.name);
    await untilNothingIsMissing(async () => {
      const targets = (await prometheus.targets()).filter(({ labels }) => labels.namespace === kubernetes.namespace);
      const up = targets.filter(({ health, scrapePool }) => health === 'up' && scrapePool.startsWith(kind));
      const scraped = up.map(({ labels }) => labels.pod).sort();
      const isRight = targets.length === up.length && JSON.stringify(scraped) === JSON.stringify(expected.toSorted());
      const seen = targets.map(({ labels, health, lastError }) => `${labels.pod} ${health} ${lastError}`);
      return isRight ? [] : [`expected ${expected.join(', ')}; targets:`, ...seen];
    }, limitMs);
    return [`${expected.length} targets up`];
  });
}

/**
 * Checks that Prometheus has loaded all rules, that each recording rule has recorded, and that each alert's series
 * exist.
 */
async function checkRules({ reporter, kubernetes }: Cluster, prometheus: Prometheus): Promise<void> {
  await reporter.check('every rule is loaded without a fault, and has data', async () => {
    const rules = readRules().groups.flatMap((group) => group.rules);
    await untilNothingIsMissing(async () => {
      const groups = (await prometheus.ruleGroups()).filter(({ file }) => file.includes(kubernetes.namespace));
      const loaded = groups.flatMap((group) => group.rules);
      const faults = loaded
        .filter(({ health }) => health !== 'ok')
        .map(({ name, lastError }) => `${name}: ${lastError}`);
      if (loaded.length !== rules.length) faults.push(`${loaded.length} of ${rules.length} rules are loaded`);
      return faults;
    }, limitMs);
    const own = `namespace="${kubernetes.namespace}"`;
    const wanted = new Set(
      rules.flatMap(({ record, expr }) => [...(record ? [`${record}{${own}}`] : []), ...queriesOf(expr, own)]),
    );
    let empty = [...wanted];
    await untilNothingIsMissing(async () => {
      const still: string[] = [];
      for (const query of empty) if ((await prometheus.query(query)).length === 0) still.push(query);
      empty = still;
      return empty.map((query) => `without data: ${query}`);
    }, limitMs);
    const firing = await prometheus.query(`ALERTS{${own},alertstate="firing"}`);
    return [
      `${rules.length} rules loaded, ${wanted.size} series asked for, all there`,
      `firing: ${firing.map(({ alertname }) => alertname).join(', ') || 'none'}`,
    ];
  });
}

/** Checks that an alert fires: security event tokens come that no provider has signed. */
async function checkAlert({ reporter, kubernetes, agent }: Cluster, prometheus: Prometheus): Promise<void> {
  const [alert, count] = ['AuthProviderNoticesRefused', 12];
  await reporter.check('an alert about signing in fires', async () => {
    const forged = { url: 'http://auth-account-api/api/v1/hooks/office', body: { payload: 'none' } };
    for (let sent = 0; sent < count; sent += 1) assert.equal((await agent.call('ask', forged)).status, 401);
    const query = `ALERTS{alertname="${alert}",alertstate="firing",namespace="${kubernetes.namespace}"}`;
    const fires = async () => (await prometheus.query(query)).length > 0;
    await waitUntil(fires, { what: 'it fires', timeoutMs: limitMs, intervalMs: 2_000 });
    return [`${alert} after ${count} forged security event tokens`];
  });
}

/**
 * Returns the selectors of an expression, with the matcher `own` in place of the namespace's. Alerts are left out: they
 * are series only while they fire.
 */
function queriesOf(expression: string, own: string): string[] {
  const ofServices = selectorsOf(expression).filter(({ metric }) => metric !== 'ALERTS');
  return ofServices.map(({ metric, matchers }) => {
    const others = matchers.filter(({ label }) => label !== 'namespace');
    const texts = others.map(({ label, operator, value }) => `${label}${operator}${JSON.stringify(value)}`);
    return `${metric}{${[...texts, own].join(',')}}`;
  });
}

const accounts = 600;
/**
 * Milliseconds that the receiver takes for a delivery while the backlog grows, so that two workers deliver four events
 * a second.
 */
const slowMs = 5_000;

/** Checks that KEDA scales the worker out by its backlog and in again, and that every event takes effect once. */
async function checkKeda({ reporter, kubernetes, agent }: Cluster): Promise<void> {
  await reporter.check('KEDA scales the worker out by its backlog and in again; no event counts twice', async () => {
    const pods = async () => (await kubernetes.podsOf('worker')).filter(isReady).length;
    const reach = (count: number, what: string) =>
      waitUntil(async () => (await pods()) === count, { what, timeoutMs: limitMs, intervalMs: 1_000 });
    await reach(2, 'two workers');
    await agent.call('paceReceiver', { ms: slowMs });
    const api = 'http://auth-account-api';
    const registered: string[] = [];
    while (registered.length < accounts) {
      registered.push(...(await agent.call('registerMany', { api, count: 100 })));
    }
    await reach(4, 'four workers');
    await agent.call('paceReceiver', { ms: 0 });
    const isThrough = async () => (await agent.call('countArrivals', registered)).users === accounts;
    await waitUntil(isThrough, { what: 'all events are there', timeoutMs: limitMs, intervalMs: 1_000 });
    await reach(2, 'two workers again');
    const arrived = await agent.call('countArrivals', registered);
    assert.equal(arrived.users, accounts, 'accounts whose event has arrived');
    assert.equal(arrived.events, accounts, 'different events about them');
    return [`${arrived.events} events by their ids, ${arrived.repeated} deliveries repeated with the id they had`];
  });
}

/** Checks the release beside the Prometheus Operator, KEDA and an OpenTelemetry Collector. */
export async function checkBesideOperators(cluster: Cluster, prometheus: Prometheus): Promise<void> {
  const values = [...valuesOf(cluster.images), ...prometheus.values];
  if (!(await checkMonitored(cluster, 'PodMonitor', values))) return;
  await checkTargets(cluster, prometheus, 'podMonitor');
  await checkRules(cluster, prometheus);
  await checkAlert(cluster, prometheus);
  await checkKeda(cluster);
  const { CLUSTER_COLLECTOR } = process.env;
  if (CLUSTER_COLLECTOR) await checkCollector(cluster, CLUSTER_COLLECTOR, values);
  else console.log('LEFT OUT: the OpenTelemetry Collector, as CLUSTER_COLLECTOR is not set');
  const other = settings('podMonitor.enabled=false', 'serviceMonitor.enabled=true');
  if (!(await checkMonitored(cluster, 'ServiceMonitor', [...values, ...other]))) return;
  await checkTargets(cluster, prometheus, 'serviceMonitor');
}
