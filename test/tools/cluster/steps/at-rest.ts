import { strict as assert } from 'node:assert';
import { registeredTopic } from '@auth-account/contracts';
import { type Cluster, urlsOf } from '../cluster.ts';
import { untilFound } from '../kubernetes.ts';

/** Walks the main path through the names of the Services, as an ingress does with an app's requests. */
export async function checkMainPath({ reporter, agent }: Cluster): Promise<void> {
  const name = 'main path through the Services: the event arrives, logout closes the stream with 1000';
  await reporter.check(name, async () => {
    const target = { api: 'http://auth-account-api', push: 'http://auth-account-push-gateway' };
    const walked = await agent.call('walkMainPath', target);
    const expected = { eventType: registeredTopic, first: 200, end: '1000 LOGOUT_CONFIRMED', again: 404 };
    assert.deepEqual(walked, expected);
    return [];
  });
}

/** Runs `helm test`, which is the chart's own canary. */
export async function checkHelmTest(
  { reporter, kubernetes }: Cluster,
  signInMethod = 'through the Services',
): Promise<void> {
  await reporter.check(`helm test --logs: the canary walks the path ${signInMethod}`, async () => {
    const said = await kubernetes.helm(['test', 'auth-account', '--logs', '--timeout', '90s']);
    assert.match(said, /^close +ok/m, 'log of the canary');
    return said.split('\n').filter((line) => /^(Phase|Logout to close)/.test(line));
  });
}

/** Checks that the api's HorizontalPodAutoscaler receives CPU figures. */
export async function checkHpa({ reporter, kubernetes }: Cluster): Promise<void> {
  await reporter.check('the HorizontalPodAutoscaler reads the CPU of the api', async () => {
    const utilization = await untilFound('the HPA has a current value', 120_000, async () => {
      const { status } = await kubernetes.read(['get', 'hpa', 'auth-account-api']);
      const [metric] = status.currentMetrics ?? [];
      return (metric?.containerResource ?? metric?.resource)?.current?.averageUtilization as number | undefined;
    });
    return [`currentMetrics: cpu at ${utilization} % of the request`];
  });
}

const each = 5;

/** Adds a gateway. Then logs out, through each api pod, sessions whose streams are on each gateway pod. */
export async function checkLogoutsAcross({ reporter, kubernetes, agent }: Cluster): Promise<void> {
  const name = 'scale-out of the gateway: whichever api pod takes a logout, the right stream closes';
  await reporter.check(name, async () => {
    try {
      await kubernetes.scale('push-gateway', 3);
      const gateways = urlsOf(await kubernetes.settled('push-gateway'), 'push');
      assert.equal(gateways.length, 3);
      const apis = urlsOf(await kubernetes.settled('api'), 'api');
      const reports = await agent.call('logOutAcross', { apis, gateways, each });
      assert.deepEqual(new Set(reports.flatMap(({ ends }) => ends)), new Set(['1000 LOGOUT_CONFIRMED']));
      for (const { strays } of reports) assert.equal(strays, 0, 'streams of others that closed');
      return reports.map(({ api, gateway }) => `${api} → ${gateway}: ${each} logouts`);
    } finally {
      await kubernetes.scale('push-gateway', 2);
      await kubernetes.settled('push-gateway');
    }
  });
}
