import { parseAllDocuments } from 'yaml';

type Labels = Readonly<Record<string, string>>;

interface NameOf {
  readonly name: string;
}

interface ValueSource {
  readonly secretKeyRef?: NameOf;
}

/** The fields of a volume that concern Secrets. */
export interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName: string; readonly items?: readonly { readonly path: string }[] };
  readonly projected?: { readonly sources: readonly { readonly secret?: NameOf }[] };
}

export interface Container {
  readonly name: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: ValueSource }[];
  readonly envFrom?: readonly { readonly configMapRef?: NameOf; readonly secretRef?: NameOf }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly livenessProbe?: object | undefined;
  readonly readinessProbe?: object | undefined;
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly resources?: { readonly limits?: Labels; readonly requests?: Labels };
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly runAsNonRoot?: boolean;
    readonly seccompProfile?: { readonly type?: string };
    readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
  };
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } };
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly automountServiceAccountToken?: boolean;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext?: Container['securityContext'];
}

export interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

interface Metadata {
  readonly name: string;
  readonly labels?: Labels;
  readonly annotations?: Labels;
}

/** The fields that the rules read in the specs of all kinds. Each rule knows which fields its kinds have. */
interface ObjectSpec {
  readonly template?: { readonly metadata?: { readonly labels?: Labels }; readonly spec: PodSpec };
  /** The selector, which for a Service is plain labels. */
  readonly selector?: Selector | Labels;
  readonly replicas?: number;
  readonly ports?: readonly { readonly targetPort?: string | number }[];
  readonly podSelector?: Selector;
  readonly policyTypes?: readonly string[];
  readonly egress?: readonly unknown[];
  readonly minAvailable?: number | string;
  readonly maxUnavailable?: number | string;
  readonly scaleTargetRef?: { readonly name: string };
  readonly minReplicas?: number;
  readonly minReplicaCount?: number;
}

/** The fields of a Kubernetes object that the rules read. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly automountServiceAccountToken?: boolean;
  readonly data?: Labels;
  readonly spec?: ObjectSpec | PodSpec;
}

/** The pods that an object creates. */
export interface Workload {
  readonly manifest: Manifest;
  /** The label `app.kubernetes.io/component`. */
  readonly component: string;
  readonly labels: Labels;
  readonly pod: PodSpec;
}

/**
 * Parses the objects in the output of `helm template`, except the user's (`extraObjects`). Throws if the output is not
 * YAML.
 */
export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    if (/^ Source: .*extra-objects\.yaml$/m.test(document.contents?.commentBefore ?? document.commentBefore ?? ''))
      return [];
    const manifest: Manifest | null = document.toJS();
    return manifest === null ? [] : [manifest];
  });
}

/** Returns an object's kind and name, for a rule's message. */
export function nameOf({ kind, metadata }: Manifest): string {
  return `${kind}/${metadata.name}`;
}

/** Returns the spec of an object that is not a pod. */
export function specOf({ spec = {} }: Manifest): ObjectSpec {
  return spec as ObjectSpec;
}

function podOf(manifest: Manifest): { labels: Labels; spec: PodSpec } | undefined {
  const { kind, metadata, spec } = manifest;
  if (kind === 'Pod') return { labels: metadata.labels ?? {}, spec: spec as PodSpec };
  const { template } = specOf(manifest);
  return template && { labels: template.metadata?.labels ?? {}, spec: template.spec };
}

/** Returns the selector with which an object (a Service, a NetworkPolicy, a Deployment …) finds pods. */
export function selectorOf(manifest: Manifest): Selector | undefined {
  const { selector, podSelector } = specOf(manifest);
  if (manifest.kind === 'Service') return { matchLabels: selector as Labels };
  return podSelector ?? (selector as Selector | undefined);
}

/** Returns the objects that create pods. */
export function findWorkloads(manifests: readonly Manifest[]): Workload[] {
  return manifests.flatMap((manifest) => {
    const pod = podOf(manifest);
    if (pod === undefined) return [];
    const { labels, spec } = pod;
    return [{ manifest, labels, component: labels['app.kubernetes.io/component'] ?? '', pod: spec }];
  });
}

/** Returns all containers of a pod, including init containers. */
export const containersOf = ({ containers, initContainers = [] }: PodSpec): Container[] => [
  ...containers,
  ...initContainers,
];

/** Returns the variables of a container. Those from a field or a Secret have no value here. */
export function environmentOf({ env = [], envFrom = [] }: Container, manifests: readonly Manifest[]) {
  const configMaps = new Map(manifests.filter(isOfKind('ConfigMap')).map((map) => [map.metadata.name, map.data ?? {}]));
  const taken = envFrom.flatMap(({ configMapRef }) => Object.entries(configMaps.get(configMapRef?.name ?? '') ?? {}));
  return new Map<string, string | undefined>([...taken, ...env.map(({ name, value }) => [name, value] as const)]);
}

export function isOfKind(kind: string) {
  return (manifest: Manifest) => manifest.kind === kind;
}

/** Returns true if the labels match a selector; an empty selector matches everything. */
export function isSelected(labels: Labels, { matchLabels = {}, matchExpressions = [] }: Selector): boolean {
  const hasAll = Object.entries(matchLabels).every(([name, value]) => labels[name] === value);
  return (
    hasAll &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'In') return value !== undefined && values.includes(value);
      if (operator === 'NotIn') return value === undefined || !values.includes(value);
      return (value !== undefined) === (operator === 'Exists');
    })
  );
}

/** A condition that every result of the chart must meet. */
export interface Rule {
  /** The condition, as a sentence. */
  readonly title: string;
  /** Returns the violations; empty if there are none. */
  readonly find: (manifests: readonly Manifest[]) => string[];
}
