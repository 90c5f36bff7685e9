import {
  type Container,
  findWorkloads,
  type Manifest,
  nameOf,
  type PodSpec,
  type Probe,
  type Workload,
} from '../manifest.ts';
import type { Rule } from './rule.ts';

/** Creates a rule about each container, including init containers. */
function eachContainer(problem: (container: Container, pod: PodSpec) => string | undefined): Rule['find'] {
  return (manifests) =>
    findWorkloads(manifests).flatMap(({ manifest, pod }) =>
      [...pod.containers, ...(pod.initContainers ?? [])].flatMap((container) => {
        const found = problem(container, pod);
        return found === undefined ? [] : [`${nameOf(manifest)}, container ${container.name}: ${found}`];
      }),
    );
}

/** Creates a rule about each pod. */
function eachPod(problem: (workload: Workload) => string | undefined): Rule['find'] {
  return (manifests) =>
    findWorkloads(manifests).flatMap((workload) => {
      const found = problem(workload);
      return found === undefined ? [] : [`${nameOf(workload.manifest)}: ${found}`];
    });
}

/** Requires the security contexts of the Pod Security Standard "restricted", and a read-only root file system. */
function findLaxity({ securityContext = {} }: Container, pod: PodSpec): string | undefined {
  const { capabilities = {} } = securityContext;
  const strict = {
    'runAsNonRoot is not true': securityContext.runAsNonRoot ?? pod.securityContext?.runAsNonRoot,
    'seccompProfile is not RuntimeDefault':
      (securityContext.seccompProfile ?? pod.securityContext?.seccompProfile)?.type === 'RuntimeDefault',
    'readOnlyRootFilesystem is not true': securityContext.readOnlyRootFilesystem,
    'allowPrivilegeEscalation is not false': securityContext.allowPrivilegeEscalation === false,
    'capabilities do not drop ALL': capabilities.drop?.includes('ALL'),
    'capabilities are added': (capabilities.add ?? []).length === 0,
  };
  const lax = Object.entries(strict).flatMap(([problem, isKept]) => (isKept === true ? [] : [problem]));
  return lax.length > 0 ? lax.join(', ') : undefined;
}

function findVagueImage({ image = '' }: Container): string | undefined {
  if (/@sha256:[0-9a-f]{64}$/.test(image)) return undefined;
  const tag = /^[^@]+:([^/:@]+)$/.exec(image)?.[1];
  if (tag === undefined) return `the image "${image}" has neither tag nor digest`;
  return tag === 'latest' ? 'the image has the tag latest' : undefined;
}

function isSame(one: Probe | undefined, other: Probe | undefined): boolean {
  const toText = (probe: Probe | undefined) => JSON.stringify(probe?.httpGet ?? probe);
  return toText(one) === toText(other);
}

function findProbeFault({ manifest, component, pod }: Workload): string | undefined {
  // The pod of authctl serves no requests, but waits for an operator's commands.
  if (manifest.kind !== 'Deployment' || component === 'authctl') return undefined;
  const container = pod.containers.find(({ name }) => name === component);
  if (!container) return `has no container "${component}"`;
  const { livenessProbe, readinessProbe } = container;
  if (!livenessProbe || !readinessProbe) return 'lacks a liveness or a readiness probe';
  return isSame(livenessProbe, readinessProbe) ? 'liveness and readiness ask the same' : undefined;
}

/**
 * Finds pods and accounts that mount a token. Accounts must not do so either, because a pod without the setting
 * inherits its account's.
 */
function findTokens(manifests: readonly Manifest[]): string[] {
  const accounts = manifests.filter(
    ({ kind, automountServiceAccountToken }) => kind === 'ServiceAccount' && automountServiceAccountToken !== false,
  );
  const pods = findWorkloads(manifests).filter(({ pod }) => pod.automountServiceAccountToken !== false);
  return [...accounts, ...pods.map(({ manifest }) => manifest)].map((one) => `${nameOf(one)}: has a token`);
}

/** Rules about individual pods and containers. */
export const podRules: readonly Rule[] = [
  {
    title: 'every container has a limit of memory, and requests of CPU and memory',
    find: eachContainer(({ resources: { limits = {}, requests = {} } = {} }) => {
      if (limits.memory === undefined) return 'no limit of memory';
      return requests.cpu === undefined || requests.memory === undefined ? 'no request of CPU or memory' : undefined;
    }),
  },
  { title: 'every image has a digest or a tag other than latest', find: eachContainer(findVagueImage) },
  { title: 'every container is restricted and writes nothing to its root', find: eachContainer(findLaxity) },
  {
    title: 'every Deployment that serves has a liveness and a readiness probe that differ',
    find: eachPod(findProbeFault),
  },
  { title: 'no pod and no ServiceAccount has a token', find: findTokens },
  {
    title: 'every port of a container has a name',
    find: eachContainer(({ ports = [] }) => {
      const nameless = ports.filter(({ name }) => name === undefined);
      return nameless.length > 0 ? `nameless: ${nameless.map((port) => port.containerPort)}` : undefined;
    }),
  },
];
