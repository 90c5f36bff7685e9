import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '@auth-account/local-stack';
import { runCommand } from './run-command.ts';

/** The parts of a pod that the test reads. */
export interface Pod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName?: string; readonly containers: readonly { readonly name: string }[] };
  readonly status: {
    readonly phase: string;
    readonly reason?: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly name: string; readonly restartCount: number }[];
    readonly initContainerStatuses?: readonly {
      readonly name: string;
      readonly state: { readonly terminated?: { readonly exitCode: number } };
    }[];
  };
}

/** One namespace of the cluster that KUBECONFIG names. */
export interface Kubernetes {
  readonly namespace: string;
  kubectl(args: readonly string[], input?: string): Promise<string>;
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the kind, and so its shape.
  read(args: readonly string[]): Promise<any>;
  apply(...objects: readonly object[]): Promise<void>;
  helm(args: readonly string[]): Promise<string>;
  /** Returns the pods of a component of the release. */
  podsOf(component: string): Promise<readonly Pod[]>;
  /** Waits until a Deployment has the wanted number of ready pods of its newest template, and no others. */
  settled(component: string, timeoutMs?: number): Promise<readonly Pod[]>;
  /** Returns the names of all objects in the namespace as `kind/name`, except those that come and go by themselves. */
  listAll(): Promise<Set<string>>;
}

const release = 'auth-account';

/** Limit for a command that hangs. It exceeds the longest `--timeout` that a check gives to kubectl itself. */
const kubectlLimitMs = 330_000;

export function openKubernetes(namespace: string): Kubernetes {
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

  const read = async (args: readonly string[]) => JSON.parse(await ask([...args, '-o', 'json']));

  async function podsOf(component: string): Promise<Pod[]> {
    const labels = `app.kubernetes.io/instance=${release},app.kubernetes.io/component=${component}`;
    return (await read(['get', 'pods', '-l', labels])).items;
  }

  return {
    namespace,
    kubectl,
    read,
    async apply(...objects) {
      await kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    },
    helm: (args) => runCommand('helm', ['-n', namespace, ...args], { timeoutMs: 600_000 }),
    podsOf,
    async settled(component, timeoutMs = 300_000) {
      await kubectl(['rollout', 'status', `deployment/${release}-${component}`, `--timeout=${timeoutMs}ms`]);
      let pods: Pod[] = [];
      const isSettled = async () => {
        const { spec } = await read(['get', 'deployment', `${release}-${component}`]);
        // A pod that the kubelet has evicted remains as a record until it is deleted.
        pods = (await podsOf(component)).filter(({ status }) => !isOver(status.phase));
        return pods.length === spec.replicas && pods.every(isReady);
      };
      await waitUntil(isSettled, { what: `${component} has settled`, timeoutMs, intervalMs: 500 });
      return pods;
    },
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
