import { strict as assert } from 'node:assert';
import { registeredTopic } from '@auth-account/contracts';
import { waitUntil } from '@auth-account/local-stack';
import { type Cluster, urlsOf } from '../cluster.ts';
import { services } from '../kubernetes.ts';

/** Walks the main path through the names of the Services, as an ingress does with an app's requests. */
export async function checkMainPath({ reporter, agent }: Cluster): Promise<void> {
  await reporter.check(
    'main path through the Services: the event arrives, logout closes the stream with 1000',
    async () => {
      const target = { api: 'http://auth-account-api', push: 'http://auth-account-push-gateway' };
      const walked = await agent.call('walkMainPath', target);
      assert.equal(walked.end, '1000 LOGOUT_CONFIRMED');
      assert.equal(walked.eventType, registeredTopic);
      assert.equal(walked.again, 404, 'status of the second logout');
      const { registerMs, loginMs, logoutMs, closeMs, eventMs } = walked;
      const ms = (value: number) => `${value.toFixed(1)} ms`;
      return [
        `register ${ms(registerMs)}, login ${ms(loginMs)}, logout ${ms(logoutMs)}`,
        `logout to close frame ${ms(closeMs)}; 201 to event at the subscriber ${ms(eventMs)}`,
      ];
    },
  );
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
    let utilization: number | undefined;
    const isKnown = async () => {
      const { status } = await kubernetes.read(['get', 'hpa', 'auth-account-api']);
      const [metric] = status.currentMetrics ?? [];
      utilization = (metric?.containerResource ?? metric?.resource)?.current?.averageUtilization;
      return utilization !== undefined;
    };
    await waitUntil(isKnown, { what: 'the HPA has a current value', timeoutMs: 120_000, intervalMs: 1_000 });
    assert.ok(utilization !== undefined);
    return [`currentMetrics: cpu at ${utilization} % of the request`];
  });
}

/** Prints what a new pod of each service has used, by the kubelet's figures. They are no criterion. */
export async function showFootprint({ kubernetes, reporter }: Cluster): Promise<void> {
  await reporter.check('the kubelet knows what the pods use', async () => {
    const since = Date.now();
    const pods = (await Promise.all(services.map(kubernetes.podsOf))).flat();
    const nodes = [...new Set(pods.map(({ spec }) => spec.nodeName))];
    let known: PodFigures[] = [];
    const areNew = async () => {
      const paths = nodes.map((node) => `/api/v1/nodes/${node}/proxy/stats/summary`);
      const summaries = await Promise.all(paths.map((path) => kubernetes.kubectl(['get', '--raw', path])));
      const all: PodFigures[] = summaries.flatMap((summary) => JSON.parse(summary).pods);
      known = all.filter(({ podRef }) => pods.some(({ metadata }) => metadata.name === podRef.name));
      return known.length === pods.length && known.every(({ memory }) => Date.parse(memory?.time ?? '') > since);
    };
    await waitUntil(areNew, { what: 'new figures', timeoutMs: 60_000, intervalMs: 1_000 });
    return known.map(({ podRef, memory, cpu }) => {
      const [mib, ms] = [(memory?.workingSetBytes ?? 0) / 2 ** 20, (cpu?.usageCoreNanoSeconds ?? 0) / 1e6];
      return `${podRef.name}: working set ${mib.toFixed(0)} MiB, ${ms.toFixed(0)} ms of CPU since its start`;
    });
  });
}

interface PodFigures {
  readonly podRef: { readonly name: string };
  readonly memory?: { readonly time: string; readonly workingSetBytes?: number };
  readonly cpu?: { readonly usageCoreNanoSeconds?: number };
}

const each = 5;

/** Adds a gateway. Then logs out, through each api pod, sessions whose streams are on each gateway pod. */
export async function checkLogoutsAcross({ reporter, kubernetes, agent }: Cluster): Promise<void> {
  await reporter.check(
    'scale-out of the gateway: whichever api pod takes a logout, the right stream closes',
    async () => {
      try {
        await kubernetes.scale('push-gateway', 3);
        const gateways = urlsOf(await kubernetes.settled('push-gateway'), 'push');
        assert.equal(gateways.length, 3);
        const apis = urlsOf(await kubernetes.settled('api'), 'api');
        const reports = await agent.call('logOutAcross', { apis, gateways, each });
        assert.deepEqual(new Set(reports.flatMap(({ ends }) => ends)), new Set(['1000 LOGOUT_CONFIRMED']));
        for (const { strays } of reports) assert.equal(strays, 0, 'streams of others that closed');
        return reports.map(({ api, gateway, closeMs }) => {
          const sorted = closeMs.toSorted((a, b) => a - b).map((ms) => ms.toFixed(0));
          return `${api} → ${gateway}: ${each} logouts, request to close frame ${sorted.join(', ')} ms`;
        });
      } finally {
        await kubernetes.scale('push-gateway', 2);
        await kubernetes.settled('push-gateway');
      }
    },
  );
}
