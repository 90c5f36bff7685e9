import {
  findWorkloads,
  isOfKind,
  isSelected,
  type Manifest,
  nameOf,
  type Rule,
  selectorOf,
  specOf,
  type Workload,
} from '../manifest.ts';

const selecting = new Set(['Service', 'NetworkPolicy', 'PodDisruptionBudget', 'PodMonitor']);

function selectedBy(manifest: Manifest, workloads: readonly Workload[]): Workload[] {
  const selector = selectorOf(manifest);
  return selector ? workloads.filter(({ labels }) => isSelected(labels, selector)) : [];
}

function findLostSelectors(manifests: readonly Manifest[]): string[] {
  const workloads = findWorkloads(manifests);
  const services = manifests.filter(isOfKind('Service'));
  const podless = manifests
    .filter(({ kind }) => selecting.has(kind))
    .filter((one) => selectedBy(one, workloads).length === 0);
  const blind = manifests.filter(isOfKind('ServiceMonitor')).filter((monitor) => {
    const selector = selectorOf(monitor) ?? {};
    return !services.some(({ metadata }) => isSelected(metadata.labels ?? {}, selector));
  });
  return [
    ...podless.map((one) => `${nameOf(one)}: selects no pod`),
    ...blind.map((one) => `${nameOf(one)}: selects no Service`),
  ];
}

/** Finds Deployments that select other pods than their own, and would treat them as their own. */
function findForeignPods(manifests: readonly Manifest[]): string[] {
  const workloads = findWorkloads(manifests);
  return manifests.filter(isOfKind('Deployment')).flatMap((deployment) => {
    const selected = selectedBy(deployment, workloads);
    if (selected.length === 1 && selected[0]?.manifest === deployment) return [];
    return [
      `${nameOf(deployment)}: selects ${selected.map(({ manifest }) => nameOf(manifest)).join(', ') || 'nothing'}`,
    ];
  });
}

function portNamesOf({ pod: { containers } }: Workload): string[] {
  return containers.flatMap(({ ports = [] }) => ports.flatMap(({ name }) => name ?? []));
}

function targetsOf(service: Manifest): string[] {
  return (specOf(service).ports ?? []).map(({ targetPort }) => String(targetPort));
}

function findAstrayServices(manifests: readonly Manifest[]): string[] {
  const workloads = findWorkloads(manifests);
  return manifests.filter(isOfKind('Service')).flatMap((service) => {
    const names = new Set(selectedBy(service, workloads).flatMap(portNamesOf));
    const lost = targetsOf(service).filter((target) => !names.has(target));
    return lost.map((target) => `${nameOf(service)}: no pod has a port "${target}"`);
  });
}

/**
 * Finds pods that lack a NetworkPolicy. One policy closes all pods, and each component needs another that opens its
 * connections.
 */
function findUnguarded(manifests: readonly Manifest[]): string[] {
  const policies = manifests.filter(isOfKind('NetworkPolicy'));
  if (policies.length === 0) return [];
  return findWorkloads(manifests).flatMap((workload) => {
    const own = policies.filter((policy) => selectedBy(policy, [workload]).length > 0).map(specOf);
    const types = new Set(own.flatMap(({ policyTypes = [] }) => policyTypes));
    const name = nameOf(workload.manifest);
    if (!types.has('Ingress') || !types.has('Egress')) return [`${name}: is not closed in both directions`];
    return own.some(({ egress }) => egress) ? [] : [`${name}: has no policy of its own`];
  });
}

/** Rules about pod selectors, and about the names of pods' ports. */
export const selectorRules: readonly Rule[] = [
  { title: 'every selector finds pods', find: findLostSelectors },
  { title: 'every Deployment selects its own pods and no others', find: findForeignPods },
  { title: 'every Service leads to a port that its pods have', find: findAstrayServices },
  { title: 'with NetworkPolicies every pod has one of its own', find: findUnguarded },
];
