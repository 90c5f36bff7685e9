import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Images } from './cluster.ts';
import type { Kubernetes } from './kubernetes.ts';
import { runCommand } from './run-command.ts';

const root = join(import.meta.dirname, '../../..');

// biome-ignore lint/suspicious/noExplicitAny: an object of k8s/dev, whose kind shows its shape.
type Manifest = any;

/** The images of k8s/dev. A container beside MongoDB uses authctl's image to initiate the replica set. */
export const storeImages = ['authctl', 'dev-mongodb', 'dev-redis'];
export const serviceImages = ['api', 'push-gateway', 'worker'];

/** Builds and pushes the images. Returns the output with their sizes. */
export async function buildImages(
  { registry, tag }: Images,
  names: readonly string[],
  isInsecure: boolean,
): Promise<readonly string[]> {
  const options = ['--push', ...(isInsecure ? ['--insecure'] : [])];
  const script = join(root, 'k8s/images/build.sh');
  const printed = await runCommand(script, [registry, tag, ...names, ...options], { cwd: root, timeoutMs: 1_800_000 });
  return printed.trimEnd().split('\n').slice(-8);
}

/** A provider that nothing reaches. It has its metrics, and security events may come for it. */
const provider = {
  ...{ name: 'office', issuers: ['https://office.invalid'], jwks_uri: 'https://office.invalid/keys' },
  ...{ client_ids: ['app'], notices: 'apple' },
};

/** Applies the Secrets, MongoDB and Redis of k8s/dev, with the images of this run. */
export async function installDependencies({ namespace, kubectl, apply }: Kubernetes, images: Images): Promise<void> {
  await runCommand(join(root, 'k8s/dev/secrets.sh'), [namespace], { cwd: root });
  const stringData = { 'providers.json': JSON.stringify([provider]) };
  await apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'cluster-test-providers' }, stringData });
  const manifests = await kubectl(['kustomize', join(root, 'k8s/dev')]);
  const objects = parseAllDocuments(manifests).map((document) => document.toJS() as Manifest);
  await apply(...objects.map((object) => (object.kind === 'StatefulSet' ? adapt(object, images) : object)));
  for (const name of ['mongodb', 'redis']) {
    // The services' images are being built at the same time, perhaps on the same cores.
    await kubectl(['rollout', 'status', `statefulset/${name}`, '--timeout=300s']);
  }
}

/**
 * Takes images from the test's registry, and keeps data in volumes of the pod, so that no run uses up the cluster's
 * volumes.
 */
function adapt(object: Manifest, { registry, tag }: Images): Manifest {
  const { volumeClaimTemplates: claims = [], template, ...rest } = object.spec;
  const containers = template.spec.containers.map((container: Manifest) => ({
    ...container,
    image: container.image.replace(/^.*auth-account\/([\w-]+)(:.*)?$/, `${registry}/auth-account/$1:${tag}`),
    imagePullPolicy: 'Always',
  }));
  const own = claims.map(({ metadata: { name } }: Manifest) => ({ name, emptyDir: {} }));
  const spec = { ...template.spec, containers, volumes: [...(template.spec.volumes ?? []), ...own] };
  return { ...object, spec: { ...rest, template: { ...template, spec } } };
}
