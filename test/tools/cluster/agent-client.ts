import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drive } from '../../support/api/api-driver.ts';
import { type CalledProcess, openCalls } from '../process-calls/open-calls.ts';
import type { AgentCalls } from './agent/agent-main.ts';
import { bundleAgent } from './agent-pods.ts';

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
