import {
  type Container,
  containersOf,
  findWorkloads,
  type Manifest,
  nameOf,
  type PodSpec,
  type Rule,
} from '../manifest.ts';

/** Creates a rule about each container, including init containers. */
function eachContainer(problem: (container: Container, pod: PodSpec) => string | undefined): Rule['find'] {
  return (manifests) =>
    findWorkloads(manifests).flatMap(({ manifest, pod }) =>
      containersOf(pod).flatMap((container) => {
        const found = problem(container, pod);
        return found === undefined ? [] : [`${nameOf(manifest)}, container ${container.name}: ${found}`];
      }),
    );
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
  { title: 'every container is restricted and writes nothing to its root', find: eachContainer(findLaxity) },
  { title: 'no pod and no ServiceAccount has a token', find: findTokens },
  {
    // The pod of authctl waits for an operator's commands.
    title: 'every Deployment that serves has both probes',
    find: (manifests) =>
      findWorkloads(manifests)
        .filter(({ manifest, component }) => manifest.kind === 'Deployment' && component !== 'authctl')
        .filter(({ pod, component }) => {
          const { livenessProbe, readinessProbe } = pod.containers.find(({ name }) => name === component) ?? {};
          return livenessProbe === undefined || readinessProbe === undefined;
        })
        .map(({ manifest }) => `${nameOf(manifest)}: lacks a probe`),
  },
];
