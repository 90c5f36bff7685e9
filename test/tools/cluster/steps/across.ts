import { strict as assert } from 'node:assert';
import { type Cluster, ports } from '../cluster.ts';
import type { Kubernetes, Pod } from '../kubernetes.ts';

const each = 5;

/** Adds a gateway. Then logs out, through each api pod, sessions whose streams are on each gateway pod. */
export async function checkLogoutsAcross({ reporter, kubernetes, agent }: Cluster): Promise<void> {
  await reporter.check(
    'scale-out of the gateway: whichever api pod takes a logout, the right stream closes',
    async () => {
      const reports = await withThreeGateways(kubernetes, async (gateways) =>
        agent.call('logOutAcross', {
          apis: (await kubernetes.settled('api')).map(({ status }) => `http://${status.podIP}:${ports.api}`),
          gateways: gateways.map(({ status }) => `http://${status.podIP}:${ports.push}`),
          each,
        }),
      );
      assert.deepEqual(new Set(reports.flatMap(({ ends }) => ends)), new Set(['1000 LOGOUT_CONFIRMED']));
      assert.equal(
        reports.reduce((sum, { strays }) => sum + strays, 0),
        0,
        'streams of others that closed',
      );
      return reports.map(({ api, gateway, closeMs }) => {
        const sorted = closeMs.toSorted((a, b) => a - b);
        return `${api} → ${gateway}: ${sorted.length} logouts, request to close frame ${sorted.map((ms) => ms.toFixed(0)).join(', ')} ms`;
      });
    },
  );
}

/** Runs the work with a third gateway, and removes one afterwards, whatever the result. */
async function withThreeGateways<T>(kubernetes: Kubernetes, work: (pods: readonly Pod[]) => Promise<T>): Promise<T> {
  const scale = async (replicas: number) => {
    await kubernetes.kubectl(['scale', 'deployment/auth-account-push-gateway', `--replicas=${replicas}`]);
    return kubernetes.settled('push-gateway');
  };
  try {
    const pods = await scale(3);
    assert.equal(pods.length, 3);
    return await work(pods);
  } finally {
    await scale(2);
  }
}
