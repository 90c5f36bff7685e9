import {
  environmentOf,
  findWorkloads,
  isOfKind,
  isSelected,
  type Manifest,
  nameOf,
  type Rule,
  selectorOf,
  specOf,
} from '../manifest.ts';

const requiredLabels = ['name', 'instance', 'component', 'version', 'managed-by'].map(
  (one) => `app.kubernetes.io/${one}`,
);

function isScaler({ kind }: Manifest): boolean {
  return kind === 'HorizontalPodAutoscaler' || kind === 'ScaledObject';
}

/** Returns a Deployment's minimum number of pods, from its autoscaler if it has one. */
function leastPods(deployment: Manifest, manifests: readonly Manifest[]): number {
  const scalers = manifests.filter(isScaler).map(specOf);
  const scaler = scalers.find(({ scaleTargetRef }) => scaleTargetRef?.name === deployment.metadata.name);
  return scaler?.minReplicas ?? scaler?.minReplicaCount ?? specOf(deployment).replicas ?? 1;
}

/** Returns a number of pods from a number or a percentage, which Kubernetes rounds up. */
function toCount(value: number | string, pods: number): number {
  const text = String(value);
  return text.endsWith('%') ? Math.ceil((Number.parseFloat(text) / 100) * pods) : Number(text);
}

function findBlockedDrains(manifests: readonly Manifest[]): string[] {
  const deployments = findWorkloads(manifests).filter(({ manifest }) => manifest.kind === 'Deployment');
  return manifests.filter(isOfKind('PodDisruptionBudget')).flatMap((budget) => {
    const selector = selectorOf(budget) ?? {};
    const own = deployments.find(({ labels }) => isSelected(labels, selector));
    if (!own) return [];
    const { minAvailable = 0, maxUnavailable } = specOf(budget);
    const pods = leastPods(own.manifest, manifests);
    const evictable = maxUnavailable === undefined ? pods - toCount(minAvailable, pods) : toCount(maxUnavailable, pods);
    return evictable > 0 ? [] : [`${nameOf(budget)}: of ${pods} pods none may be evicted`];
  });
}

/**
 * Seconds, including `DRAIN_SECONDS`, within which a process ends after its delays (libs/lifecycle), and the required
 * reserve.
 */
const stopSeconds = 10;
const reserveSeconds = 2;

function findShortGrace(manifests: readonly Manifest[]): string[] {
  return findWorkloads(manifests).flatMap(({ manifest, component, pod }) => {
    const container = pod.containers.find(({ name }) => name === component);
    if (manifest.kind !== 'Deployment' || !container) return [];
    const delay = Number(environmentOf(container, manifests).get('SHUTDOWN_DELAY_SECONDS') ?? 0);
    const preStop = container.lifecycle?.preStop?.sleep?.seconds ?? 0;
    const needed = preStop + delay + stopSeconds + reserveSeconds;
    const grace = pod.terminationGracePeriodSeconds ?? 30;
    return grace >= needed ? [] : [`${nameOf(manifest)}: ${grace} s of grace for ${needed} s of work`];
  });
}

/** Rules about the relations between the objects of a release. */
export const releaseRules: readonly Rule[] = [
  { title: 'every PodDisruptionBudget lets a pod go', find: findBlockedDrains },
  { title: 'the grace period is as long as a stop takes, with a reserve', find: findShortGrace },
  {
    title: 'every object bears the recommended labels',
    find: (manifests) =>
      manifests.flatMap((manifest) => {
        const missing = requiredLabels.filter((label) => !manifest.metadata.labels?.[label]);
        return missing.length > 0 ? [`${nameOf(manifest)}: lacks ${missing.join(', ')}`] : [];
      }),
  },
];
