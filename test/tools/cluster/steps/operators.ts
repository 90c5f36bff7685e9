import { strict as assert } from 'node:assert';
import { waitUntil } from '@auth-account/local-stack';
import { selectorsOf } from '../../observability/promql.ts';
import { readRules } from '../../observability/rule-file.ts';
import type { Cluster } from '../cluster.ts';
import { isReady } from '../kubernetes.ts';
import type { Prometheus } from '../prometheus.ts';

/**
 * Limit in milliseconds. A changed monitor or rule reaches Prometheus through a mounted Secret, within two to four
 * minutes.
 */
const limitMs = 420_000;
const components = ['api', 'push-gateway', 'worker', 'probe'];
const seconds = (since: number) => ((performance.now() - since) / 1_000).toFixed(0);

/** Upgrades the release. From then on KEDA controls the number of the worker's pods. */
export async function checkMonitored({ reporter, kubernetes }: Cluster, kind: string, values: readonly string[]) {
  return reporter.check(`helm upgrade with a ${kind}, a PrometheusRule and a ScaledObject`, async () => {
    await kubernetes.helm(['upgrade', 'auth-account', 'charts/auth-account', ...values, '--wait', '--timeout', '4m']);
    const start = performance.now();
    const hasLooked = async () =>
      (await kubernetes.read(['get', 'deployment', 'auth-account-worker'])).spec.replicas >= 2;
    await waitUntil(hasLooked, { what: "KEDA keeps the worker's minimum", timeoutMs: limitMs, intervalMs: 1_000 });
    await Promise.all(components.map((component) => kubernetes.settled(component)));
    return [`two workers ${seconds(start)} s after helm upgrade, which KEDA's first look brings`];
  });
}

/** Checks that Prometheus scrapes each pod once, without faults. */
export async function checkTargets({ reporter, kubernetes }: Cluster, prometheus: Prometheus, kind: string) {
  await reporter.check(`every target of the ${kind} is up`, async () => {
    const start = performance.now();
    const pods = (await Promise.all(components.map((component) => kubernetes.podsOf(component)))).flat();
    const expected = pods.filter(isReady).map(({ metadata }) => metadata.name);
    let seen = '';
    const areUp = async () => {
      const targets = (await prometheus.targets()).filter(({ labels }) => labels.namespace === kubernetes.namespace);
      seen = targets.map(({ labels, health, lastError }) => `${labels.pod} ${health} ${lastError}`).join('\n');
      const up = targets.filter(({ health, scrapePool }) => health === 'up' && scrapePool.startsWith(kind));
      const scraped = up.map(({ labels }) => labels.pod).sort();
      return targets.length === up.length && JSON.stringify(scraped) === JSON.stringify(expected.toSorted());
    };
    await waitUntil(areUp, { what: 'all are up', timeoutMs: limitMs, intervalMs: 2_000 }).catch((error) => {
      throw new Error(`expected ${expected.join(', ')}; targets:\n${seen}`, { cause: error });
    });
    return [`${expected.length} targets up after ${seconds(start)} s`];
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
    let faults: string[] = [];
    const areRight = async () => {
      const groups = (await prometheus.ruleGroups()).filter(({ file }) => file.includes(kubernetes.namespace));
      const loaded = groups.flatMap((group) => group.rules);
      faults = loaded.filter(({ health }) => health !== 'ok').map(({ name, lastError }) => `${name}: ${lastError}`);
      if (loaded.length !== rules.length) faults.push(`${loaded.length} of ${rules.length} rules are loaded`);
      return faults.length === 0;
    };
    const wait = { timeoutMs: limitMs, intervalMs: 2_000 };
    await waitUntil(areRight, { ...wait, what: 'all rules are loaded and were evaluated' }).catch((error) => {
      throw new Error(faults.join('\n'), { cause: error });
    });
    const wanted = new Set(rules.flatMap(({ record, expr }) => [...(record ? [record] : []), ...queriesOf(expr)]));
    let empty = [...wanted];
    const haveData = async () => {
      const still: string[] = [];
      for (const query of empty) if (!(await hasSeries(query))) still.push(query);
      empty = still;
      return empty.length === 0;
    };
    const hasSeries = async (query: string) => {
      const separator = query.includes('{') ? ',' : '{';
      const selector = `${query.replace(/\}$/, '')}${separator}namespace="${kubernetes.namespace}"}`;
      return (await prometheus.query(selector.replace('{,', '{'))).length > 0;
    };
    await waitUntil(haveData, { ...wait, what: 'all have data' }).catch((error) => {
      throw new Error(`without data:\n${empty.join('\n')}`, { cause: error });
    });
    const firing = await prometheus.query(`ALERTS{namespace="${kubernetes.namespace}",alertstate="firing"}`);
    return [
      `${rules.length} rules loaded, ${wanted.size} series asked for, all there ${seconds(start)} s later`,
      `firing: ${firing.map(({ metric }) => metric.alertname).join(', ') || 'none'}`,
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
    return [`${alert} ${seconds(start)} s after the first of ${count} forged security event tokens`];
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
      registered.push(...(await agent.call('registerMany', { api, count: 100 })).users);
    }
    const registeredAfter = seconds(start);
    await reach(4, 'four workers');
    const outAfter = seconds(start);
    await agent.call('paceReceiver', { ms: 0 });
    let arrived = await agent.call('countArrivals', { users: registered });
    const isThrough = async () => {
      arrived = await agent.call('countArrivals', { users: registered });
      return arrived.users === accounts;
    };
    await waitUntil(isThrough, { what: 'all events are there', timeoutMs: limitMs, intervalMs: 1_000 });
    const throughAfter = seconds(start);
    await reach(2, 'two workers again');
    arrived = await agent.call('countArrivals', { users: registered });
    assert.equal(arrived.users, accounts, 'accounts whose event has arrived');
    assert.equal(arrived.events, accounts, 'different events about them');
    return [
      `${accounts} accounts in ${registeredAfter} s; 2 → 4 workers after ${outAfter} s, all delivered after ${throughAfter} s, 4 → 2 after ${seconds(start)} s`,
      `${arrived.events} events by their ids, ${arrived.repeated} deliveries repeated with the id they had`,
    ];
  });
}
