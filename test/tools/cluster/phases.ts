import type { LoadOrder } from './agent/load.ts';
import { type Cluster, serviceAddresses } from './cluster.ts';
import { authorityName, findProxy, type ReverseProxy, through, withAgentOutside } from './proxy.ts';
import { checkHelmTest, checkHpa, checkLogoutsAcross, checkMainPath } from './steps/at-rest.ts';
import {
  checkClientNetwork,
  checkCloses,
  checkIdleStreams,
  checkNoPodLeft,
  checkPaths,
  checkRequestIds,
  checkTokenEnds,
  openEntrances,
} from './steps/behind-proxy.ts';
import { checkEviction, checkKills, checkKubeletEviction } from './steps/disruptions.ts';
import { checkInitContainers, checkUninstall, valuesOf } from './steps/install.ts';
import { checkRotation } from './steps/key-rotation.ts';
import { checkNetworkPolicies } from './steps/network-policy.ts';
import { checkBesideOperators, findPrometheus } from './steps/operators.ts';
import { checkPages } from './steps/pages.ts';
import { checkRestore } from './steps/restore.ts';
import { checkRollback, checkRollOuts, checkUpgrade } from './steps/roll-out.ts';
import { checkTraces, traced } from './steps/traces.ts';
import { fleetSize, loadOrders } from './under-load.ts';

/** Runs the checks while load and streams go on. */
async function withLoad(
  { agent, reporter }: Cluster,
  { api, push, ...order }: { readonly api: string; readonly push: string } & Omit<LoadOrder, 'api'>,
  checks: () => Promise<unknown>,
): Promise<void> {
  const isLoaded = await reporter.check('load and streams begin', async () => {
    await agent.call('startLoad', { api, ...order });
    await agent.call('startFleet', { api, push, streams: fleetSize });
    return [`${order.perSecond} requests/s of ${order.users} users, ${fleetSize} streams`];
  });
  if (!isLoaded) return;
  try {
    await checks();
  } finally {
    await Promise.all([agent.call('stopFleet'), agent.call('stopLoad')]);
  }
}

/** The short form for .ci/run, which uses the release while it is upgraded. */
export async function checkShort(cluster: Cluster): Promise<void> {
  const { kubernetes, images } = cluster;
  await checkMainPath(cluster);
  const target = { ...(await serviceAddresses(kubernetes)), ...loadOrders.inside };
  await withLoad(cluster, target, () => checkUpgrade(cluster, [...valuesOf(images), ...traced]));
  await checkTraces(cluster);
}

/** Runs checks that need an idle cluster. */
async function checkAtRest(cluster: Cluster): Promise<void> {
  await checkMainPath(cluster);
  await checkHelmTest(cluster);
  await checkNetworkPolicies(cluster);
  await checkHpa(cluster);
  await checkLogoutsAcross(cluster);
  await checkRotation(cluster);
  await checkPages(cluster);
}

async function checkChanges(cluster: Cluster): Promise<void> {
  const target = { ...(await serviceAddresses(cluster.kubernetes)), ...loadOrders.inside };
  await withLoad(cluster, target, async () => {
    await checkRollOuts(cluster);
    await checkEviction(cluster);
    await checkUpgrade(cluster, [...valuesOf(cluster.images), ...traced]);
    await checkTraces(cluster);
    await checkRollback(cluster);
    await checkKills(cluster);
    // This check must be the last under load. The evicted pod's address stays in the node's connection tracking for two
    // minutes (docs/operations.md), and would fail a request of a later check.
    await checkKubeletEviction(cluster);
  });
}

/** Checks the path of apps' requests: from outside the cluster, over TLS, by Ingress and by HTTPRoute. */
async function checkBehindProxy(cluster: Cluster, proxy: ReverseProxy): Promise<void> {
  const values = [...valuesOf(cluster.images), ...proxy.values];
  const isOpen = await withAgentOutside(proxy, (outside) => openEntrances(cluster, outside, proxy, values));
  if (!isOpen) return;
  await checkHelmTest(cluster, 'through the Ingress');
  for (const [index, entrance] of proxy.entrances.entries()) {
    await withAgentOutside(proxy, async (outside) => {
      const seen = through(cluster, outside, entrance);
      await checkClientNetwork(seen, cluster.agent, proxy, entrance);
      await checkRequestIds(seen, cluster.agent, entrance);
      await checkPaths(seen, entrance);
      await checkCloses(seen, entrance);
      await withLoad(seen, { api: entrance.url, push: entrance.url, ...loadOrders.outside }, async () => {
        await checkRollOuts(seen);
        await checkUpgrade(seen, values, ['warn', 'error'][index]);
      });
    });
  }
  await withAgentOutside(proxy, (outside) => checkIdleStreams(cluster, outside, proxy));
  await withAgentOutside(proxy, (outside) => checkNoPodLeft(cluster, outside, proxy));
  await withAgentOutside(proxy, (outside) => checkTokenEnds(cluster, outside, proxy, values));
  await cluster.kubernetes.kubectl(['delete', 'configmap', authorityName]);
}

/** Runs all parts of the long form, or the named ones. Each begins with the release as the previous one has left it. */
export async function checkLong(
  cluster: Cluster,
  before: ReadonlySet<string>,
  only: readonly string[] = [],
): Promise<void> {
  const { kubernetes, reporter, images } = cluster;
  const isWanted = (phase: string) => only.length === 0 || only.includes(phase);
  if (isWanted('rest')) await checkAtRest(cluster);
  if (isWanted('changes')) await checkChanges(cluster);
  const proxy = findProxy();
  if (proxy === undefined) console.log('LEFT OUT: behind a proxy, as CLUSTER_INGRESS_DOMAIN is not set');
  else {
    if (isWanted('proxy')) await checkBehindProxy(cluster, proxy);
    if (isWanted('restore')) await checkRestore(cluster, proxy, [...valuesOf(images), ...proxy.values]);
  }
  const prometheus = findPrometheus();
  if (prometheus === undefined) console.log('LEFT OUT: beside operators, as CLUSTER_PROMETHEUS is not set');
  else if (isWanted('operators')) await checkBesideOperators(cluster, prometheus);
  if (!isWanted('end')) return;
  await checkUninstall(cluster, before);
  await checkInitContainers(kubernetes, reporter, images);
}
