import { strict as assert } from 'node:assert';
import { type Cluster, ports } from '../cluster.ts';

const each = 5;

/** One more gateway; then logouts by every api pod of streams on every gateway pod. */
export async function checkLogoutsAcross({ reporter, kubernetes, agent }: Cluster): Promise<void> {
  await reporter.check(
    'scale-out of the gateway: whichever api pod takes a logout, the right stream closes',
    async () => {
      await kubernetes.kubectl(['scale', 'deployment/auth-account-push-gateway', '--replicas=3']);
      const [gateways, apis] = [await kubernetes.settled('push-gateway'), await kubernetes.settled('api')];
      const reports = await agent.call('logOutAcross', {
        apis: apis.map(({ status }) => `http://${status.podIP}:${ports.api}`),
        gateways: gateways.map(({ status }) => `http://${status.podIP}:${ports.push}`),
        each,
      });
      assert.equal(gateways.length, 3);
      assert.deepEqual(new Set(reports.flatMap(({ ends }) => ends)), new Set(['1000 LOGOUT_CONFIRMED']));
      assert.equal(
        reports.reduce((sum, { strays }) => sum + strays, 0),
        0,
        'streams of others that closed',
      );
      await kubernetes.kubectl(['scale', 'deployment/auth-account-push-gateway', '--replicas=2']);
      return reports.map(({ api, gateway, closeMs }) => {
        const sorted = closeMs.toSorted((a, b) => a - b);
        return `${api} → ${gateway}: ${sorted.length} logouts, request to close frame ${sorted.map((ms) => ms.toFixed(0)).join(', ')} ms`;
      });
    },
  );
}
