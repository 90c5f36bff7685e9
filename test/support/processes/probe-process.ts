import { findFreePort, mainOf } from '@auth-account/local-stack';
import { afterAll } from '@jest/globals';
import { get } from '../http-client.ts';
import { eventually } from '../worker/worker-fixture.ts';
import { type OwnProcess, startProcess } from './service-process.ts';

const started: OwnProcess[] = [];
afterAll(() => {
  for (const probe of started) probe.signal('SIGKILL');
});

/** Starts `probe --interval 1` with these arguments. The process ends with the test file. */
export async function startProbe(env: Readonly<Record<string, string>>, args: readonly string[]) {
  const port = String(await findFreePort());
  const own = { PROBE_OPS_PORT: port, ...env };
  const probe = startProcess(mainOf('authctl'), own, 'probe', '--interval', '1', ...args);
  started.push(probe);
  const ops = (path: string) => get(`http://127.0.0.1:${port}`, path);
  return {
    ops,
    async metric(name: string): Promise<number> {
      const line = (await ops('/metrics')).text.split('\n').find((one) => one.startsWith(`${name} `));
      return Number(line?.split(' ').at(-1));
    },
    /** Sends SIGTERM and returns the exit code. */
    stop: async () => (await probe.end('SIGTERM')).code,
  };
}

/** Waits until `count` runs with this outcome have ended. */
export function untilRuns(
  { metric }: Pick<Awaited<ReturnType<typeof startProbe>>, 'metric'>,
  outcome: 'success' | 'failure',
  count: number,
): Promise<void> {
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
