import { strict as assert } from 'node:assert';
import { waitUntil } from '@auth-account/local-stack';
import type { Cluster } from '../cluster.ts';
import { isOver, isReady, type Kubernetes, type Pod, services, untilFound } from '../kubernetes.ts';
import { assertMoved, assertNothingLost, assertOpen, checkUnderLoad } from '../under-load.ts';

/**
 * Checks evictions by the API, as in a node's drain. The disruption budget refuses a second eviction while the first
 * pod is away.
 */
export async function checkEviction(cluster: Cluster): Promise<void> {
  const { kubernetes } = cluster;
  for (const component of ['api', 'push-gateway']) {
    const name = `eviction of ${component}: a second one is refused with 429; 0 failed requests`;
    const work = async () => {
      const [first, second] = (await kubernetes.podsOf(component)).filter(isReady);
      const answers = [await evict(kubernetes, first), await evict(kubernetes, second)];
      await kubernetes.settled(component);
      assert.deepEqual(answers, ['evicted', 'refused: disruption budget']);
      return [];
    };
    await checkUnderLoad(cluster, name, work, (seen) => {
      assertNothingLost(seen);
      if (component === 'push-gateway') assertMoved(seen, 1);
    });
  }
}

async function evict({ namespace, kubectl }: Kubernetes, pod: Pod | undefined): Promise<string> {
  assert.ok(pod, 'there are not two pods');
  const { name } = pod.metadata;
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  try {
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
    await kubectl(['create', '--raw', path, '-f', '-'], JSON.stringify(eviction));
    return 'evicted';
  } catch (error) {
    // This is kubectl's message for a 429 whose cause is DisruptionBudget.
    if (/disruption budget/.test((error as Error).message)) return 'refused: disruption budget';
    throw error;
  }
}

const fill = `require('node:fs').writeFileSync('/scratch/fill', Buffer.alloc(16 * 2 ** 20, 1))`;
const limitMs = 150_000;

/**
 * Checks evictions by the kubelet itself. A pod of the api and a pod of the gateway fill a volume beyond its limit at
 * the same time. The kubelet then evicts both pods as it does when the node lacks resources: it ignores disruption
 * budgets, and gives the pods one second, whatever grace they ask for. It removes a pod from the Service only after the
 * pod's end, so requests may fail until then. The check counts these failures, and requires that the system recovers.
 */
export async function checkKubeletEviction(cluster: Cluster): Promise<void> {
  const { kubernetes } = cluster;
  const name = 'the kubelet evicts a pod of api and one of push-gateway (1 s of grace; failures are counted)';
  const work = async () => {
    const targets = await Promise.all(['api', 'push-gateway'].map((component) => firstReady(kubernetes, component)));
    const evictions = targets.map(async (target) => {
      await kubernetes.runInPod(target.name, target.component, fill);
      return `${target.name}: ${await waitForEviction(kubernetes, target.name)}`;
    });
    const messages = await Promise.all(evictions);
    await kubernetes.allSettled(targets.map(({ component }) => component));
    await kubernetes.kubectl(['delete', 'pod', ...targets.map((target) => target.name), '--ignore-not-found']);
    return messages;
  };
  await checkUnderLoad(cluster, name, work, assertOpen);
}

async function firstReady(kubernetes: Kubernetes, component: string) {
  const pod = (await kubernetes.podsOf(component)).find(isReady);
  assert.ok(pod, `no pod of ${component} is ready`);
  return { component, name: pod.metadata.name };
}

/** Returns the reason and the pod's phase, which is `Failed`, or `Succeeded` if its process ended before SIGKILL. */
function waitForEviction({ read }: Kubernetes, name: string): Promise<string> {
  return untilFound(`the kubelet has evicted ${name}`, limitMs, async () => {
    const { phase } = (await read(['get', 'pod', name])).status;
    const selector = `involvedObject.name=${name},reason=Evicted`;
    const reason = (await read(['get', 'events', '--field-selector', selector])).items[0]?.message;
    return reason !== undefined && isOver(phase) ? `${reason} (${phase})` : undefined;
  });
}

/** A program that sends SIGKILL to the child of a container's init. It spares the processes of `exec`. */
const kill = `const { readdirSync, readFileSync } = require('node:fs');
for (const pid of readdirSync('/proc').filter((name) => Number(name) > 1)) {
  const stat = readFileSync('/proc/' + pid + '/stat', 'utf8');
  if (stat.slice(stat.lastIndexOf(')')).split(' ')[2] === '1') process.kill(Number(pid), 'SIGKILL');
}`;

/** Kills a process of each service without warning. The effect on its clients is reported, and recovery is required. */
export async function checkKills(cluster: Cluster): Promise<void> {
  const { kubernetes } = cluster;
  for (const component of services) {
    const work = async () => {
      const { name } = await firstReady(kubernetes, component);
      const restarts = async (): Promise<number> =>
        (await kubernetes.read(['get', 'pod', name])).status.containerStatuses[0].restartCount;
      const before = await restarts();
      await kubernetes.runInPod(name, component, kill);
      const isRestarted = async () => (await restarts()) > before;
      await waitUntil(isRestarted, { what: `${name} has restarted`, timeoutMs: 30_000, intervalMs: 500 });
      await kubernetes.settled(component);
      return [];
    };
    const name = `SIGKILL of ${component}: it is back, and so are the streams (failures are counted)`;
    await checkUnderLoad(cluster, name, work, assertOpen);
  }
}
