import { strict as assert } from 'node:assert';
import { waitUntil } from '@auth-account/local-stack';
import type { Cluster, Images } from '../cluster.ts';
import type { Kubernetes } from '../kubernetes.ts';
import type { Reporter } from '../reporter.ts';

/** Returns the arguments with the release's values, for `helm install` and `helm upgrade`. */
export function valuesOf({ registry, tag }: Images): string[] {
  const files = ['charts/auth-account/ci/dev-values.yaml', 'test/tools/cluster/values.yaml'];
  // Each run moves the tag to its own images, so they must be pulled.
  const settings = [`image.registry=${registry}`, `image.tag=${tag}`, 'image.pullPolicy=Always'];
  return [...files.flatMap((file) => ['-f', file]), ...settings.flatMap((setting) => ['--set', setting])];
}

const components = ['api', 'push-gateway', 'worker'] as const;

/** Runs `helm install` as a user does, with the migration as a hook. Returns false if the test can't continue. */
export function checkInstall(kubernetes: Kubernetes, reporter: Reporter, images: Images): Promise<boolean> {
  return reporter.check('helm install: the migration runs once, all Deployments come up', async () => {
    const start = performance.now();
    const args = ['install', 'auth-account', 'charts/auth-account', ...valuesOf(images), '--wait', '--timeout', '8m'];
    await kubernetes.helm(args);
    await waitForAutoscaler(kubernetes);
    const pods = (await Promise.all(components.map((component) => kubernetes.settled(component)))).flat();
    assert.equal(await countMigrations(kubernetes), 1, 'migrations that have completed');
    return [`${pods.length} pods ready ${((performance.now() - start) / 1_000).toFixed(0)} s after helm install`];
  });
}

/** Prints what a new pod of each service has used, by the kubelet's figures. They are no criterion. */
export async function showFootprint({ kubernetes, reporter }: Cluster): Promise<void> {
  await reporter.check('the kubelet knows what the pods use', async () => {
    const since = Date.now();
    const pods = (await Promise.all(components.map((component) => kubernetes.podsOf(component)))).flat();
    const figures = async () => {
      const nodes = [...new Set(pods.map(({ spec }) => spec.nodeName))];
      const paths = nodes.map((node) => `/api/v1/nodes/${node}/proxy/stats/summary`);
      const summaries = await Promise.all(paths.map((path) => kubernetes.kubectl(['get', '--raw', path])));
      const all: PodFigures[] = summaries.flatMap((summary) => JSON.parse(summary).pods);
      return all.filter(({ podRef }) => pods.some(({ metadata }) => metadata.name === podRef.name));
    };
    let known: PodFigures[] = [];
    const areNew = async () => {
      known = await figures();
      return known.length === pods.length && known.every(({ memory }) => Date.parse(memory?.time ?? '') > since);
    };
    await waitUntil(areNew, { what: 'new figures', timeoutMs: 60_000, intervalMs: 1_000 });
    return known.map(({ podRef, memory, cpu }) => {
      const [mib, ms] = [(memory?.workingSetBytes ?? 0) / 2 ** 20, (cpu?.usageCoreNanoSeconds ?? 0) / 1e6];
      return `${podRef.name}: working set ${mib.toFixed(0)} MiB, ${ms.toFixed(0)} ms of CPU since its start`;
    });
  });
}

interface PodFigures {
  readonly podRef: { readonly name: string };
  readonly memory?: { readonly time: string; readonly workingSetBytes?: number };
  readonly cpu?: { readonly usageCoreNanoSeconds?: number };
}

/**
 * Waits until the HorizontalPodAutoscaler has set the number of the api's pods, which the chart does not set. Until
 * then, a new Deployment has one.
 */
async function waitForAutoscaler({ read }: Kubernetes): Promise<void> {
  const isScaled = async () => {
    const autoscaler = await read(['get', 'hpa', 'auth-account-api']);
    const deployment = await read(['get', 'deployment', 'auth-account-api']);
    return deployment.spec.replicas >= autoscaler.spec.minReplicas;
  };
  await waitUntil(isScaled, { what: 'the HPA has set its minimum', timeoutMs: 300_000, intervalMs: 1_000 });
}

/** Counts completed migrations by the Jobs' events, which outlive a Job that a hook's policy deletes. */
async function countMigrations({ read }: Kubernetes): Promise<number> {
  const { items } = await read(['get', 'events', '--field-selector', 'involvedObject.kind=Job,reason=Completed']);
  const ofMigration = (items as { involvedObject: { name: string }; count?: number }[]).filter(({ involvedObject }) =>
    involvedObject.name.startsWith('auth-account-migrate'),
  );
  return ofMigration.reduce((sum, { count = 1 }) => sum + count, 0);
}

/**
 * Checks the installation without hooks, as Argo CD users need it. Each pod of api and worker migrates before it
 * starts.
 */
export async function checkInitContainers(kubernetes: Kubernetes, reporter: Reporter, images: Images): Promise<void> {
  await reporter.check(
    'helm install --no-hooks with the migration as an init container, on the data that is there',
    async () => {
      const values = [...valuesOf(images), '--set', 'migrate.mode=initContainer'];
      const args = ['install', 'auth-account', 'charts/auth-account', ...values, '--no-hooks'];
      await kubernetes.helm([...args, '--wait', '--timeout', '3m']);
      const pods = [...(await kubernetes.settled('api')), ...(await kubernetes.settled('worker'))];
      for (const { metadata, status } of pods) {
        const migration = status.initContainerStatuses?.find(({ name }) => name === 'migrate');
        assert.equal(migration?.state.terminated?.exitCode, 0, `exit of the init container of ${metadata.name}`);
      }
      await kubernetes.helm(['uninstall', 'auth-account', '--no-hooks', '--wait']);
      await waitUntil(async () => (await kubernetes.podsOf('api')).length === 0, {
        what: 'the pods are gone',
        timeoutMs: 60_000,
        intervalMs: 1_000,
      });
      return [`${pods.length} pods of api and worker, each after its init container`];
    },
  );
}
