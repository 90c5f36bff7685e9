import { strict as assert } from 'node:assert';
import { waitUntil } from '@auth-account/local-stack';
import type { Cluster } from '../cluster.ts';
import { isOver, isReady, type Kubernetes, type Pod } from '../kubernetes.ts';
import { assertMoved, assertNothingLost, describeSeen, fleetSize, underLoad } from '../under-load.ts';

/**
 * Checks evictions by the API, as in a node's drain. The disruption budget refuses a second eviction while the first
 * pod is away.
 */
export async function checkEviction({ reporter, kubernetes, agent }: Cluster): Promise<void> {
  for (const component of ['api', 'push-gateway']) {
    await reporter.check(`eviction of ${component}: a second one is refused with 429; 0 failed requests`, async () => {
      const [first, second] = (await kubernetes.podsOf(component)).filter(isReady);
      const answers: string[] = [];
      const seen = await underLoad(agent, async () => {
        answers.push(await evict(kubernetes, first), await evict(kubernetes, second));
        await kubernetes.settled(component);
      });
      assert.deepEqual(answers, ['evicted', 'refused: disruption budget']);
      assertNothingLost(seen);
      if (component === 'push-gateway') assertMoved(seen, 1);
      return describeSeen(seen);
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
export async function checkKubeletEviction({ reporter, kubernetes, agent }: Cluster): Promise<void> {
  const name = 'the kubelet evicts a pod of api and one of push-gateway (1 s of grace; failures are counted)';
  await reporter.check(name, async () => {
    const targets = await Promise.all(['api', 'push-gateway'].map((component) => firstReady(kubernetes, component)));
    const messages: string[] = [];
    const seen = await underLoad(agent, async () => {
      const start = performance.now();
      await Promise.all(
        targets.map(async (target) => {
          await kubernetes.kubectl(['exec', target.name, '-c', target.component, '--', 'node', '-e', fill]);
          const message = await waitForEviction(kubernetes, target.name);
          messages.push(`${target.name} after ${((performance.now() - start) / 1_000).toFixed(0)} s: ${message}`);
        }),
      );
      await Promise.all(targets.map(({ component }) => kubernetes.settled(component)));
    });
    await kubernetes.kubectl(['delete', 'pod', ...targets.map((target) => target.name), '--ignore-not-found']);
    assert.equal(seen.fleet.open, fleetSize, 'streams that are open again');
    return [...messages, ...describeSeen(seen)];
  });
}

async function firstReady(kubernetes: Kubernetes, component: string) {
  const pod = (await kubernetes.podsOf(component)).find(isReady);
  assert.ok(pod, `no pod of ${component} is ready`);
  return { component, name: pod.metadata.name };
}

/** Returns the reason and the pod's phase, which is `Failed`, or `Succeeded` if its process ended before SIGKILL. */
async function waitForEviction({ read }: Kubernetes, name: string): Promise<string> {
  let phase = '';
  let reason: string | undefined;
  const isEvicted = async () => {
    ({ phase } = (await read(['get', 'pod', name])).status);
    const selector = `involvedObject.name=${name},reason=Evicted`;
    reason = (await read(['get', 'events', '--field-selector', selector])).items[0]?.message;
    return reason !== undefined && isOver(phase);
  };
  await waitUntil(isEvicted, { what: `the kubelet has evicted ${name}`, timeoutMs: limitMs, intervalMs: 1_000 });
  return `${reason} (${phase})`;
}
