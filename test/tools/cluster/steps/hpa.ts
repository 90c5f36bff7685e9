import { strict as assert } from 'node:assert';
import { waitUntil } from '@auth-account/local-stack';
import type { Cluster } from '../cluster.ts';

const limitMs = 120_000;

/** Checks that the api's HorizontalPodAutoscaler receives CPU figures. */
export async function checkHpa({ reporter, kubernetes }: Cluster): Promise<void> {
  await reporter.check('the HorizontalPodAutoscaler reads the CPU of the api', async () => {
    let utilization: number | undefined;
    const isKnown = async () => {
      const { status } = await kubernetes.read(['get', 'hpa', 'auth-account-api']);
      const [metric] = status.currentMetrics ?? [];
      utilization = (metric?.containerResource ?? metric?.resource)?.current?.averageUtilization;
      return utilization !== undefined;
    };
    await waitUntil(isKnown, { what: 'the HPA has a current value', timeoutMs: limitMs, intervalMs: 1_000 });
    assert.ok(utilization !== undefined);
    return [`currentMetrics: cpu at ${utilization} % of the request`];
  });
}
