import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { waitUntil } from '@auth-account/local-stack';
import { type AgentClient, agentObjects, openAgentInPod } from './agent-client.ts';
import type { Cluster, Images } from './cluster.ts';
import { buildImages, installDependencies, serviceImages, storeImages } from './dependencies.ts';
import { createNamespace, deleteNamespace, namespace, openKubernetes } from './kubernetes.ts';
import { checkLong, checkShort } from './phases.ts';
import { createReporter, showState } from './reporter.ts';
import { checkInstall } from './steps/install.ts';

/**
 * `npm run test:cluster [-- --long [--only PHASE]] [--output FILE]`: builds the images, installs k8s/dev and the chart
 * in a separate namespace of the cluster that KUBECONFIG names, walks the main path, and upgrades the release while
 * clients in the cluster use it. `--long` also evicts and kills pods, rotates keys, uses the release through a proxy,
 * and uninstalls everything (`phases.ts`). `--after FILE` waits for the file between the installation and the load,
 * which needs the machine for itself. Prints a line for each check, and exits with 1 if one failed. See docs/testing.md.
 */
const { CLUSTER_REGISTRY = '', CLUSTER_REGISTRY_INSECURE, CLUSTER_TAG, KEEP } = process.env;
if (CLUSTER_REGISTRY === '')
  throw new Error('CLUSTER_REGISTRY must name a registry that this machine and the cluster reach');
const { values } = parseArgs({
  options: {
    output: { type: 'string' },
    long: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    after: { type: 'string' },
  },
});
process.chdir(join(import.meta.dirname, '../../..'));

const images: Images = { registry: CLUSTER_REGISTRY, tag: CLUSTER_TAG ?? 'cluster-test' };
const kubernetes = openKubernetes(namespace);
const reporter = createReporter(() => showState(kubernetes));
let agent: AgentClient | undefined;

let ending: Promise<void> | undefined;

/**
 * Prints and writes the figures so far, and ends everything that the test has started, once. A run that did not reach
 * its end counts as a further failure.
 */
function end(isFinished: boolean): Promise<void> {
  ending ??= (async () => {
    const { passed, failed } = reporter.counted();
    const counted = { passed, failed: failed + (isFinished ? 0 : 1) };
    if (counted.failed > 0) process.exitCode = 1;
    if (values.output) {
      mkdirSync(dirname(values.output), { recursive: true });
      writeFileSync(values.output, JSON.stringify(counted));
    }
    console.log(`${counted.passed} passed, ${counted.failed} failed`);
    await agent?.close();
    if (KEEP === undefined) await deleteNamespace();
  })();
  return ending;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Handles each signal, because npm forwards one that the process group has already received, and the default action
  // would kill.
  process.on(signal, () => {
    if (ending !== undefined) return;
    const removing = KEEP === undefined ? `; removing the namespace ${namespace}` : '';
    console.error(`${signal}: the test ends before it is through${removing}`);
    void end(false).finally(() => process.exit(128 + constants.signals[signal]));
  });
}

async function checkImages(what: string, names: readonly string[]): Promise<boolean> {
  if (CLUSTER_TAG !== undefined) return true;
  const isInsecure = CLUSTER_REGISTRY_INSECURE !== undefined;
  return reporter.check(`images of the ${what} are built and pushed`, () => buildImages(images, names, isInsecure));
}

async function checkDependencies(): Promise<boolean> {
  return reporter.check('k8s/dev comes up under restricted Pod Security: MongoDB, Redis', async () => {
    await createNamespace();
    await installDependencies(kubernetes, images);
    return [];
  });
}

/**
 * Builds the images, and starts the stores and the agent, without which nothing can be tested. The stores start while
 * the services' images are built.
 */
async function prepare(): Promise<Cluster | undefined> {
  if (!(await checkImages('stores', storeImages))) return undefined;
  const prepared = await Promise.all([checkDependencies(), checkImages('services', serviceImages)]);
  const isPrepared =
    prepared.every(Boolean) &&
    (await reporter.check('the clients are in the cluster', async () => {
      await kubernetes.apply(...(await agentObjects(images)));
      await kubernetes.kubectl(['wait', '--for=condition=Ready', 'pod/client', 'pod/unknown-pod', '--timeout=300s']);
      agent = openAgentInPod(namespace, 'client');
      return [];
    }));
  return isPrepared && agent ? { kubernetes, reporter, images, agent } : undefined;
}

async function run(): Promise<void> {
  const cluster = await prepare();
  if (cluster === undefined) return;
  const before = values.long ? await kubernetes.listAll() : undefined;
  if (!(await checkInstall(kubernetes, reporter, images))) return;
  const { after = '' } = values;
  const isThere = async () => after === '' || existsSync(after);
  await waitUntil(isThere, { what: `${after} to exist`, timeoutMs: 2_700_000, intervalMs: 500 });
  await (before === undefined ? checkShort(cluster) : checkLong(cluster, before, values.only));
}

try {
  await run();
  await end(true);
} catch (error) {
  console.error(error);
  await end(false);
}
