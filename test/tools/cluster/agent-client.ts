import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { drive } from '../../support/api/api-driver.ts';
import { type CalledProcess, openCalls } from '../process-calls/open-calls.ts';
import type { AgentCalls } from './agent/agent-main.ts';
import type { Images } from './cluster.ts';

/** The agent, in a pod or on this machine (`agent/agent-main.ts`). */
export type AgentClient = CalledProcess<AgentCalls>;

/** Creates a driver of the api at this URL, whose requests the agent sends. */
export function apiBy(agent: AgentClient, url = 'http://auth-account-api') {
  return drive(({ path, ...request }) => agent.call('ask', { ...request, url: url + path }));
}

/** Starts an agent in a pod by `kubectl exec`. */
export function openAgentInPod(namespace: string, pod: string): AgentClient {
  const command = ['node', '/app/cluster-test/agent-main.js'];
  return openCalls('kubectl', ['-n', namespace, 'exec', '-i', pod, '--', ...command]);
}

/**
 * Starts an agent on this machine as its pod does, from its bundle, in a temporary folder that contains nothing else of
 * this repository.
 */
export async function openAgentHere(env: Readonly<Record<string, string>>): Promise<AgentClient> {
  const folder = await mkdtemp(join(tmpdir(), 'auth-account-agent-'));
  await mkdir(join(folder, 'cluster-test'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  for (const [name, text] of Object.entries(await bundleAgent())) {
    await writeFile(join(folder, 'cluster-test', name), text);
  }
  const agent: AgentClient = openCalls(process.execPath, [join(folder, 'cluster-test/agent-main.js')], { env });
  return {
    ...agent,
    async close() {
      await agent.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const source = join(import.meta.dirname, 'agent');

/** The secret of the test's webhook, which is new in each run. */
const webhookSecret = `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')}`;

/**
 * Returns the programs of the pods, by file name. Each is bundled with all that it needs, so it only uses Node of the
 * image.
 */
async function bundleAgent(): Promise<Record<string, string>> {
  const { outputFiles } = await build({
    entryPoints: ['agent-main.ts', 'receiver-main.ts'].map((name) => join(source, name)),
    outdir: 'out',
    bundle: true,
    platform: 'node',
    format: 'esm',
    // A ConfigMap holds only 1 MiB. The banner is for packages in CommonJS, which require Node's modules.
    minifyWhitespace: true,
    banner: {
      js: "import{createRequire as createRequire_}from'node:module';const require=createRequire_(import.meta.url);",
    },
    external: ['bufferutil', 'utf-8-validate'],
    write: false,
  });
  return Object.fromEntries(outputFiles.map(({ path, text }) => [basename(path), text]));
}

/** Returns the objects of the agents' programs, their two pods and the client's subscription, for `kubectl apply`. */
export async function agentObjects(images: Images): Promise<object[]> {
  const subscriber = { name: 'analytics', kind: 'webhook', url: 'http://receiver:8090/events', secret: webhookSecret };
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cluster-test-agent' }, data: await bundleAgent() },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'cluster-test-subscribers' },
      stringData: { 'subscribers.json': JSON.stringify([subscriber]), secret: webhookSecret },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'receiver' },
      spec: { selector: { 'cluster-test': 'client' }, ports: [{ port: 8090 }] },
    },
    agentPod('client', images),
    agentPod('unknown-pod', images),
  ];
}

/** Returns a pod that runs the receiver, and in which `kubectl exec` can start agents. */
function agentPod(name: string, { registry, tag }: Images): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { 'cluster-test': name } },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 2,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 10_001,
        runAsGroup: 10_001,
        fsGroup: 10_001,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 'agent',
          image: `${registry}/auth-account/authctl:${tag}`,
          imagePullPolicy: 'Always',
          // Below /app, so that Node finds the packages of the image.
          command: ['node', '/app/cluster-test/receiver-main.js'],
          env: [{ name: 'WEBHOOK_SECRET_FILE', value: '/etc/cluster-test/secret' }],
          readinessProbe: { httpGet: { path: '/deliveries', port: 8090 }, periodSeconds: 1 },
          resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          volumeMounts: [
            { name: 'source', mountPath: '/app/cluster-test' },
            { name: 'secret', mountPath: '/etc/cluster-test' },
          ],
        },
      ],
      volumes: [
        { name: 'source', configMap: { name: 'cluster-test-agent' } },
        { name: 'secret', secret: { secretName: 'cluster-test-subscribers' } },
      ],
    },
  };
}
