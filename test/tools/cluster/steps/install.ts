import { strict as assert } from 'node:assert';
import { waitUntil } from '@auth-account/local-stack';
import type { Cluster, Images } from '../cluster.ts';
import { type Kubernetes, labelsOf, settings, untilNothingIsMissing } from '../kubernetes.ts';
import type { Reporter } from '../reporter.ts';

/** Returns the arguments with the release's values, for `helm install` and `helm upgrade`. */
export function valuesOf({ registry, tag }: Images): string[] {
  const files = ['charts/auth-account/ci/dev-values.yaml', 'test/tools/cluster/values.yaml'];
  // Each run moves the tag to its own images, so they must be pulled.
  const images = settings(`image.registry=${registry}`, `image.tag=${tag}`, 'image.pullPolicy=Always');
  return [...files.flatMap((file) => ['-f', file]), ...images];
}

/** Runs `helm install` as a user does, with the migration as a hook. Returns false if the test can't continue. */
export function checkInstall(kubernetes: Kubernetes, reporter: Reporter, images: Images): Promise<boolean> {
  return reporter.check('helm install: the migration runs once, all Deployments come up', async () => {
    const args = ['install', 'auth-account', 'charts/auth-account', ...valuesOf(images), '--wait', '--timeout', '8m'];
    await kubernetes.helm(args);
    await waitForAutoscaler(kubernetes);
    const pods = await kubernetes.allSettled();
    assert.equal(await countMigrations(kubernetes), 1, 'migrations that have completed');
    return [`${pods.length} pods ready`];
  });
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

/** The pod that stays for `helm test --logs`. Helm does not count it as part of the release. */
const testPod = 'pod/auth-account-test';

/** Checks that an uninstallation leaves only the objects of `before`, which existed before the installation. */
export async function checkUninstall({ reporter, kubernetes }: Cluster, before: ReadonlySet<string>): Promise<void> {
  await reporter.check('helm uninstall leaves nothing but the data, and the pod of helm test', async () => {
    await kubernetes.helm(['uninstall', 'auth-account', '--wait', '--timeout', '2m']);
    const tested = await kubernetes.kubectl(['delete', 'pod', '--selector', labelsOf('test'), '--output', 'name']);
    assert.ok(['', testPod].includes(tested.trim()), `left by helm test: ${tested}`);
    const left = async () => [...(await kubernetes.listAll())].filter((name) => !before.has(name));
    await untilNothingIsMissing(async () => (await left()).map((name) => `left: ${name}`), 90_000);
    const after = await kubernetes.listAll();
    const lost = [...before].filter((name) => !after.has(name));
    assert.deepEqual(lost, [], 'gone though not of the release');
    return [`${after.size} objects, the same as before the installation`];
  });
}

/**
 * Checks the installation without hooks, as Argo CD users need it. Each pod of api and worker migrates before it
 * starts.
 */
export async function checkInitContainers(kubernetes: Kubernetes, reporter: Reporter, images: Images): Promise<void> {
  const name = 'helm install --no-hooks with the migration as an init container, on the data that is there';
  await reporter.check(name, async () => {
    const values = [...valuesOf(images), ...settings('migrate.mode=initContainer')];
    const args = ['install', 'auth-account', 'charts/auth-account', ...values, '--no-hooks'];
    await kubernetes.helm([...args, '--wait', '--timeout', '3m']);
    const pods = await kubernetes.allSettled(['api', 'worker']);
    for (const { metadata, status } of pods) {
      const migration = status.initContainerStatuses?.find(({ name }) => name === 'migrate');
      assert.equal(migration?.state.terminated?.exitCode, 0, `exit of the init container of ${metadata.name}`);
    }
    await kubernetes.helm(['uninstall', 'auth-account', '--no-hooks', '--wait']);
    const areGone = async () => (await kubernetes.podsOf('api')).length === 0;
    await waitUntil(areGone, { what: 'the pods are gone', timeoutMs: 60_000, intervalMs: 1_000 });
    return [`${pods.length} pods of api and worker, each after its init container`];
  });
}
