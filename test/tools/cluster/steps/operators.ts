import { strict as assert } from 'node:assert';
import { waitUntil } from '@auth-account/local-stack';
import { selectorsOf } from '../../observability/promql.ts';
import { readRules } from '../../observability/rule-file.ts';
import type { Cluster } from '../cluster.ts';
import { isReady, secondsSince, untilNothingIsMissing } from '../kubernetes.ts';
import { runCommand } from '../run-command.ts';

/** The cluster's Prometheus, which is queried through the API server. */
export type Prometheus = NonNullable<ReturnType<typeof findPrometheus>>;

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
export async function checkMonitored({ reporter, kubernetes }: Cluster, kind: string, values: readonly string[]) {
  return reporter.check(`helm upgrade with a ${kind}, a PrometheusRule and a ScaledObject`, async () => {
    await kubernetes.upgrade(values);
    const start = performance.now();
    const hasLooked = async () =>
      (await kubernetes.read(['get', 'deployment', 'auth-account-worker'])).spec.replicas >= 2;
    await waitUntil(hasLooked, { what: "KEDA keeps the worker's minimum", timeoutMs: limitMs, intervalMs: 1_000 });
    await kubernetes.allSettled(components);
    return [`two workers ${secondsSince(start)} s after helm upgrade, which KEDA's first look brings`];
  });
}

/** Checks that Prometheus scrapes each pod once, without faults. */
export async function checkTargets({ reporter, kubernetes }: Cluster, prometheus: Prometheus, kind: string) {
  await reporter.check(`every target of the ${kind} is up`, async () => {
    const start = performance.now();
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
    return [`${expected.length} targets up after ${secondsSince(start)} s`];
  });
}

/**
 * Checks that Prometheus has loaded all rules, that each recording rule has recorded, and that each alert's series
 * exist.
 */
export async function checkRules({ reporter, kubernetes }: Cluster, prometheus: Prometheus): Promise<void> {
  await reporter.check('every rule is loaded without a fault, and has data', async () => {
    const start = performance.now();
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
    const wanted = new Set(rules.flatMap(({ record, expr }) => [...(record ? [record] : []), ...queriesOf(expr)]));
    const hasSeries = async (query: string) => {
      const separator = query.includes('{') ? ',' : '{';
      const selector = `${query.replace(/\}$/, '')}${separator}namespace="${kubernetes.namespace}"}`;
      return (await prometheus.query(selector.replace('{,', '{'))).length > 0;
    };
    let empty = [...wanted];
    await untilNothingIsMissing(async () => {
      const still: string[] = [];
      for (const query of empty) if (!(await hasSeries(query))) still.push(query);
      empty = still;
      return empty.map((query) => `without data: ${query}`);
    }, limitMs);
    const firing = await prometheus.query(`ALERTS{namespace="${kubernetes.namespace}",alertstate="firing"}`);
    return [
      `${rules.length} rules loaded, ${wanted.size} series asked for, all there ${secondsSince(start)} s later`,
      `firing: ${firing.map(({ alertname }) => alertname).join(', ') || 'none'}`,
    ];
  });
}

/** Checks that an alert fires: security event tokens come that no provider has signed. */
export async function checkAlert({ reporter, kubernetes, agent }: Cluster, prometheus: Prometheus): Promise<void> {
  const [alert, count] = ['AuthProviderNoticesRefused', 12];
  await reporter.check('an alert about signing in fires', async () => {
    const start = performance.now();
    const forged = { url: 'http://auth-account-api/api/v1/hooks/office', body: { payload: 'none' } };
    for (let sent = 0; sent < count; sent += 1) assert.equal((await agent.call('ask', forged)).status, 401);
    const query = `ALERTS{alertname="${alert}",alertstate="firing",namespace="${kubernetes.namespace}"}`;
    const fires = async () => (await prometheus.query(query)).length > 0;
    await waitUntil(fires, { what: 'it fires', timeoutMs: limitMs, intervalMs: 2_000 });
    return [`${alert} ${secondsSince(start)} s after the first of ${count} forged security event tokens`];
  });
}

/**
 * Returns the selectors of an expression, with all matchers but those of the namespace. Alerts are left out: they are
 * series only while they fire.
 */
function queriesOf(expression: string): string[] {
  const ofServices = selectorsOf(expression).filter(({ metric }) => metric !== 'ALERTS');
  return ofServices.map(({ metric, matchers }) => {
    const kept = matchers.filter(({ label }) => label !== 'namespace');
    return `${metric}{${kept.map(({ label, operator, value }) => `${label}${operator}${JSON.stringify(value)}`).join(',')}}`;
  });
}

const accounts = 600;
/**
 * Milliseconds that the receiver takes for a delivery while the backlog grows, so that two workers deliver four events
 * a second.
 */
const slowMs = 5_000;

/** Checks that KEDA scales the worker out by its backlog and in again, and that every event takes effect once. */
export async function checkKeda({ reporter, kubernetes, agent }: Cluster): Promise<void> {
  await reporter.check('KEDA scales the worker out by its backlog and in again; no event counts twice', async () => {
    const pods = async () => (await kubernetes.podsOf('worker')).filter(isReady).length;
    const reach = (count: number, what: string) =>
      waitUntil(async () => (await pods()) === count, { what, timeoutMs: limitMs, intervalMs: 1_000 });
    await reach(2, 'two workers');
    await agent.call('paceReceiver', { ms: slowMs });
    const start = performance.now();
    const api = 'http://auth-account-api';
    const registered: string[] = [];
    while (registered.length < accounts) {
      registered.push(...(await agent.call('registerMany', { api, count: 100 })));
    }
    const registeredAfter = secondsSince(start);
    await reach(4, 'four workers');
    const outAfter = secondsSince(start);
    await agent.call('paceReceiver', { ms: 0 });
    const isThrough = async () => (await agent.call('countArrivals', registered)).users === accounts;
    await waitUntil(isThrough, { what: 'all events are there', timeoutMs: limitMs, intervalMs: 1_000 });
    const throughAfter = secondsSince(start);
    await reach(2, 'two workers again');
    const arrived = await agent.call('countArrivals', registered);
    assert.equal(arrived.users, accounts, 'accounts whose event has arrived');
    assert.equal(arrived.events, accounts, 'different events about them');
    return [
      `${accounts} accounts in ${registeredAfter} s; 2 → 4 workers after ${outAfter} s, all delivered after ${throughAfter} s, 4 → 2 after ${secondsSince(start)} s`,
      `${arrived.events} events by their ids, ${arrived.repeated} deliveries repeated with the id they had`,
    ];
  });
}
