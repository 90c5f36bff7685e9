import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { drive } from '../../support/api/api-driver.ts';
import type { AgentCalls } from './agent/protocol.ts';

type Argument<K extends keyof AgentCalls> = Parameters<AgentCalls[K]>[0];
type Result<K extends keyof AgentCalls> = Awaited<ReturnType<AgentCalls[K]>>;

/** The agent, in a pod or beside the test (`agent/agent-main.ts`). */
export interface AgentClient {
  call<K extends keyof AgentCalls>(
    name: K,
    ...argument: Argument<K> extends undefined ? [] : [Argument<K>]
  ): Promise<Result<K>>;
  close(): Promise<void>;
}

const callLimitMs = 90_000;

/** Creates a driver of the api at this URL, whose requests the agent sends. */
export function apiBy(agent: AgentClient, url = 'http://auth-account-api') {
  return drive(({ path, ...request }) => agent.call('ask', { ...request, url: url + path }));
}

/** Starts an agent in a pod by `kubectl exec`. */
export function openAgentInPod(namespace: string, pod: string): AgentClient {
  const command = ['node', '/app/cluster-test/agent-main.js'];
  return openAgent('kubectl', ['-n', namespace, 'exec', '-i', pod, '--', ...command]);
}

/** Starts an agent by a command. The agent ends when its stdin ends. */
export function openAgent(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): AgentClient {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  const exited = once(child, 'exit');
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result, error } = JSON.parse(line) as { id: number; result?: unknown; error?: string };
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(result);
    else call?.reject(new Error(error));
  });
  child.stdin.on('error', () => undefined); // its end is reported by `exit`
  child.on('exit', (status) => {
    for (const { reject } of waiting.values())
      reject(new Error(`the agent (${program} ${args.join(' ')}) ended with ${status}`));
    waiting.clear();
  });
  return {
    call(name, ...[argument]) {
      last += 1;
      const call = Promise.withResolvers<unknown>();
      waiting.set(last, call);
      const timer = setTimeout(() => call.reject(new Error(`${name} took longer than ${callLimitMs} ms`)), callLimitMs);
      child.stdin.write(`${JSON.stringify({ id: last, name, argument })}\n`);
      return call.promise.finally(() => clearTimeout(timer)) as Promise<Result<typeof name>>;
    },
    async close() {
      child.stdin.end();
      if (child.exitCode === null) child.kill('SIGTERM');
      await exited;
    },
  };
}
