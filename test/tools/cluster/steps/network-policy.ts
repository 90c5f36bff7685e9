import { strict as assert } from 'node:assert';
import { type Cluster, ports, serviceAddresses } from '../cluster.ts';
import type { Kubernetes } from '../kubernetes.ts';

/** A program that tries to connect from inside a pod of the release. */
const probe = `const [host, port] = process.argv.slice(1);
const socket = require('node:net').connect({ host, port });
const end = (outcome) => { console.log(outcome); process.exit(0); };
socket.on('connect', () => end('connected'));
socket.on('error', (error) => end(error.code === 'ECONNREFUSED' ? 'refused' : error.code));
setTimeout(() => end('timeout'), 10000);`;

type Row = readonly [from: string, to: string, outcome: string, expected: 'connected' | 'timeout'];

/** Checks that each component reaches what it needs, and that unknown pods reach nothing. */
export async function checkNetworkPolicies(cluster: Cluster): Promise<void> {
  await cluster.reporter.check('NetworkPolicies: other pods reach nothing, each part what it needs', async () => {
    const rows = await tryConnections(cluster);
    const wrong = rows.filter(([, , outcome, expected]) => outcome !== expected);
    const lines = rows.map(([from, to, outcome]) => `${from} → ${to}: ${outcome}`);
    assert.deepEqual(wrong, [], lines.join('\n'));
    return lines;
  });
}

async function tryConnections({ kubernetes, agent, unknownPod }: Cluster): Promise<Row[]> {
  const ipOf = async (component: string) => (await kubernetes.podsOf(component))[0]?.status.podIP ?? '';
  const [api, gateway, worker] = [await ipOf('api'), await ipOf('push-gateway'), await ipOf('worker')];
  const addresses = await serviceAddresses(kubernetes);
  const from =
    (name: string, client: Cluster['agent']) =>
    async (to: string, host: string, port: number, expected: Row[3]): Promise<Row> => [
      name,
      to,
      await client.call('connect', { host, port }),
      expected,
    ];
  const fromClient = from('client', agent);
  const fromUnknownPod = from('unknown-pod', unknownPod);
  const fromPod = async (component: string, to: string, host: string, port: number, expected: Row[3]): Promise<Row> => [
    component,
    to,
    await connectFrom(kubernetes, component, host, port),
    expected,
  ];
  return Promise.all([
    fromClient('api Service', new URL(addresses.api).hostname, 80, 'connected'),
    fromClient('gateway Service', new URL(addresses.push).hostname, 80, 'connected'),
    fromClient("api's ops port", api, ports.apiOps, 'timeout'),
    fromUnknownPod('api Service', new URL(addresses.api).hostname, 80, 'timeout'),
    fromUnknownPod('gateway Service', new URL(addresses.push).hostname, 80, 'timeout'),
    fromUnknownPod("api's ops port", api, ports.apiOps, 'timeout'),
    fromUnknownPod("gateway's ops port", gateway, ports.pushOps, 'timeout'),
    fromUnknownPod("worker's ops port", worker, ports.workerOps, 'timeout'),
    fromPod('worker', 'receiver', 'receiver', 8090, 'connected'),
    fromPod('worker', 'mongodb', 'mongodb', ports.mongodb, 'connected'),
    fromPod('api', 'receiver', 'receiver', 8090, 'timeout'),
    fromPod('push-gateway', 'mongodb', 'mongodb', ports.mongodb, 'timeout'),
  ]);
}

async function connectFrom({ kubectl }: Kubernetes, component: string, host: string, port: number): Promise<string> {
  const pod = `deployment/auth-account-${component}`;
  return (await kubectl(['exec', pod, '-c', component, '--', 'node', '-e', probe, host, String(port)])).trim();
}
