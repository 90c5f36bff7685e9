import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '@auth-account/local-stack';
import { runCommand } from './run-command.ts';

/** The parts of a pod that the test reads. */
export interface Pod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly status: {
    readonly phase: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly restartCount: number }[];
    readonly initContainerStatuses?: readonly {
      readonly name: string;
      readonly state: { readonly terminated?: { readonly exitCode: number } };
    }[];
  };
}

/** One namespace of the cluster that KUBECONFIG names. */
export type Kubernetes = ReturnType<typeof openKubernetes>;

const release = 'auth-account';
export const services = ['api', 'push-gateway', 'worker'];
const settleLimitMs = 300_000;

/** Limit for a command that hangs. It exceeds the longest `--timeout` that a check gives to kubectl itself. */
const kubectlLimitMs = 330_000;

/** Returns the selector of a component's pods. */
export const labelsOf = (component: string) =>
  `app.kubernetes.io/instance=${release},app.kubernetes.io/component=${component}`;

/** Returns helm's arguments for single values. */
export const settings = (...pairs: readonly string[]) => pairs.flatMap((pair) => ['--set', pair]);

/** Looks every second until it finds something, and returns that. Throws, with the name of it, after the limit. */
export async function untilFound<T>(what: string, timeoutMs: number, look: () => Promise<T | undefined>): Promise<T> {
  let found: T | undefined;
  const isThere = async () => {
    found = await look();
    return found !== undefined;
  };
  await waitUntil(isThere, { what, timeoutMs, intervalMs: 1_000 });
  return found as T;
}

/**
 * Looks every other second until nothing is missing. Throws with the last description of what is missing, if the time
 * ends before.
 */
export async function untilNothingIsMissing(look: () => Promise<readonly string[]>, timeoutMs: number): Promise<void> {
  let missing: readonly string[] = [];
  const isAllThere = async () => {
    missing = await look();
    return missing.length === 0;
  };
  await waitUntil(isAllThere, { what: 'nothing is missing', timeoutMs, intervalMs: 2_000 }).catch((error) => {
    throw new Error([...missing, (error as Error).message].join('\n'), { cause: error });
  });
}

export function openKubernetes(namespace: string) {
  const kubectl = (args: readonly string[], input = '') =>
    runCommand('kubectl', ['-n', namespace, ...args], { input, timeoutMs: kubectlLimitMs });
  /** Runs a read-only command, with retries, because the API server of a busy machine does not always answer. */
  async function ask(args: readonly string[], triesLeft = 2): Promise<string> {
    try {
      return await kubectl(args);
    } catch (error) {
      if (triesLeft === 0) throw error;
      await sleep(2_000);
      return ask(args, triesLeft - 1);
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the kind, and so its shape.
  const read = async (args: readonly string[]): Promise<any> => JSON.parse(await ask([...args, '-o', 'json']));

  /** Returns the pods of a component of the release. */
  async function podsOf(component: string): Promise<readonly Pod[]> {
    return (await read(['get', 'pods', '-l', labelsOf(component)])).items;
  }

  const helm = (args: readonly string[]) => runCommand('helm', ['-n', namespace, ...args], { timeoutMs: 600_000 });

  /** Waits until a Deployment has the wanted number of ready pods of its newest template, and no others. */
  async function settled(component: string): Promise<readonly Pod[]> {
    await kubectl(['rollout', 'status', `deployment/${release}-${component}`, `--timeout=${settleLimitMs}ms`]);
    return untilFound(`${component} has settled`, settleLimitMs, async () => {
      const { spec } = await read(['get', 'deployment', `${release}-${component}`]);
      // A pod that the kubelet has evicted remains as a record until it is deleted.
      const pods = (await podsOf(component)).filter(({ status }) => !isOver(status.phase));
      return pods.length === spec.replicas && pods.every(isReady) ? pods : undefined;
    });
  }

  return {
    ...{ namespace, kubectl, read, helm, podsOf, settled },
    async apply(...objects: readonly object[]) {
      // By the server, because kubectl's own way keeps a copy in an annotation, which is too small for a program.
      await kubectl(
        ['apply', '--server-side', '-f', '-'],
        JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
      );
    },
    /** Upgrades the release to these values, and waits for Helm. */
    async upgrade(values: readonly string[]) {
      await helm(['upgrade', release, 'charts/auth-account', ...values, '--wait', '--timeout', '4m']);
    },
    async scale(component: string, replicas: number) {
      await kubectl(['scale', `deployment/${release}-${component}`, `--replicas=${replicas}`]);
    },
    /** Runs a program in the component's container of a pod, with Node. Returns its stdout. */
    runInPod: (pod: string, component: string, program: string, ...args: readonly string[]) =>
      kubectl(['exec', pod, '-c', component, '--', 'node', '-e', program, ...args]),
    /** Waits for several components, by default the three services, and returns the pods of all. */
    allSettled: async (components: readonly string[] = services) => (await Promise.all(components.map(settled))).flat(),
    /** Returns the names of all objects in the namespace as `kind/name`, except those that come and go by themselves. */
    async listAll() {
      const kinds = await ask(['api-resources', '--verbs=list', '--namespaced', '-o', 'name']);
      const passing = /^events|metrics\.k8s\.io$/;
      const wanted = kinds.split('\n').filter((kind) => kind !== '' && !passing.test(kind));
      return new Set((await ask(['get', wanted.join(','), '-o', 'name'])).split('\n').filter(Boolean));
    },
  };
}

export function isReady({ metadata, status }: Pod): boolean {
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && metadata.deletionTimestamp === undefined;
}

/** Returns true if all containers of a pod in this phase have ended for good. */
export function isOver(phase: string): boolean {
  return phase === 'Failed' || phase === 'Succeeded';
}

export const namespace = 'auth-cluster-test';

/** The label of namespaces that the test has created. The test deletes no others. */
const [ownKey, ownValue] = ['test', 'auth-account-cluster'];

/** Recreates the namespace, under the Pod Security Standard "restricted". Throws if it exists and is not the test's. */
export async function createNamespace(): Promise<void> {
  await deleteNamespace();
  const found = await runCommand('kubectl', ['get', 'namespace', namespace, '--ignore-not-found', '-o', 'name']);
  if (found !== '') {
    throw new Error(`the namespace ${namespace} is not the test's: it lacks the label ${ownKey}=${ownValue}`);
  }
  const modes = ['enforce', 'warn', 'audit'].map((mode) => [`pod-security.kubernetes.io/${mode}`, 'restricted']);
  const labels = Object.fromEntries([[ownKey, ownValue], ...modes]);
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } };
  await runCommand('kubectl', ['create', '-f', '-'], { input: JSON.stringify(object) });
}

export async function deleteNamespace(): Promise<void> {
  const own = ['-l', `${ownKey}=${ownValue}`, '--field-selector', `metadata.name=${namespace}`];
  const args = ['delete', 'namespace', ...own, '--ignore-not-found', '--wait', '--timeout=150s'];
  await runCommand('kubectl', args, { timeoutMs: 160_000 });
}
