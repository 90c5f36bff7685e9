import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { findFreePort, mainOf } from '@auth-account/local-stack';
import { afterAll } from '@jest/globals';
import { send } from '../http-client.ts';
import { eventually } from '../worker/worker-fixture.ts';
import { processEnvironment } from './process-environment.ts';

/** A probe that runs repeatedly, as a process. */
export interface RunningProbe {
  ops(path: string): ReturnType<typeof send>;
  metric(name: string): Promise<number>;
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>;
}

const main = mainOf('authctl');

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** Starts `probe --interval 1` with these arguments. The process ends with the test file. */
export async function startProbe(
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<RunningProbe> {
  const port = await findFreePort();
  const child = spawn(process.execPath, [main, 'probe', '--interval', '1', ...args], {
    env: { ...processEnvironment(), PROBE_OPS_PORT: String(port), ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  const ops = (path: string) => send(`http://127.0.0.1:${port}`, { method: 'GET', path });
  children.push(child);
  return {
    ops,
    async metric(name) {
      const line = (await ops('/metrics')).text.split('\n').find((one) => one.startsWith(`${name} `));
      return Number(line?.split(' ').at(-1));
    },
    async stop() {
      child.kill('SIGTERM');
      const [code] = await exited;
      return code;
    },
  };
}

/** Waits until `count` runs with this outcome have ended. */
export function untilRuns({ metric }: RunningProbe, outcome: 'success' | 'failure', count: number): Promise<void> {
  const hasEnded = async () => {
    try {
      return (await metric(`auth_probe_runs_total{outcome="${outcome}"}`)) >= count;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return false; // the process is starting
      throw error;
    }
  };
  return eventually(`${count} runs: ${outcome}`, hasEnded, 90_000);
}
