import { strict as assert } from 'node:assert';
import { type Cluster, ports, serviceAddresses } from '../cluster.ts';

/** A program that tries to connect from inside a pod. If a NetworkPolicy forbids it, it prints `timeout`. */
const probe = `const [host, port] = process.argv.slice(1);
const socket = require('node:net').connect({ host, port });
const end = (outcome) => { console.log(outcome); process.exit(0); };
socket.on('connect', () => end('connected'));
socket.on('error', (error) => end(error.code === 'ECONNREFUSED' ? 'refused' : error.code));
setTimeout(() => end('timeout'), 10000);`;

type Row = readonly [from: string, to: string, host: string, port: number, expected: 'connected' | 'timeout'];

/** Checks that each component reaches what it needs, and that unknown pods reach nothing. */
export async function checkNetworkPolicies(cluster: Cluster): Promise<void> {
  await cluster.reporter.check('NetworkPolicies: other pods reach nothing, each part what it needs', async () => {
    const rows = await connectionsOf(cluster);
    const outcomes = await Promise.all(rows.map(([from, , host, port]) => connect(cluster, from, host, port)));
    const lines = rows.map(([from, to], index) => `${from} → ${to}: ${outcomes[index]}`);
    const expected = rows.map(([, , , , outcome]) => outcome);
    assert.deepEqual(outcomes, expected, lines.join('\n'));
    return lines;
  });
}

async function connectionsOf({ kubernetes }: Cluster): Promise<Row[]> {
  const ipOf = async (component: string) => (await kubernetes.podsOf(component))[0]?.status.podIP ?? '';
  const [api, gateway, worker] = [await ipOf('api'), await ipOf('push-gateway'), await ipOf('worker')];
  const addresses = await serviceAddresses(kubernetes);
  const [apiService, gatewayService] = [new URL(addresses.api).hostname, new URL(addresses.push).hostname];
  return [
    ['client', 'api Service', apiService, 80, 'connected'],
    ['client', 'gateway Service', gatewayService, 80, 'connected'],
    ['client', "api's ops port", api, ports.apiOps, 'timeout'],
    ['unknown-pod', 'api Service', apiService, 80, 'timeout'],
    ['unknown-pod', 'gateway Service', gatewayService, 80, 'timeout'],
    ['unknown-pod', "api's ops port", api, ports.apiOps, 'timeout'],
    ['unknown-pod', "gateway's ops port", gateway, ports.pushOps, 'timeout'],
    ['unknown-pod', "worker's ops port", worker, ports.workerOps, 'timeout'],
    ['worker', 'receiver', 'receiver', 8090, 'connected'],
    ['worker', 'mongodb', 'mongodb', ports.mongodb, 'connected'],
    ['api', 'receiver', 'receiver', 8090, 'timeout'],
    ['push-gateway', 'mongodb', 'mongodb', ports.mongodb, 'timeout'],
  ];
}

async function connect({ kubernetes }: Cluster, from: string, host: string, port: number): Promise<string> {
  const isClient = from === 'client' || from === 'unknown-pod';
  const [pod, container] = isClient ? [from, 'agent'] : [`deployment/auth-account-${from}`, from];
  return (await kubernetes.runInPod(pod, container, probe, host, String(port))).trim();
}
