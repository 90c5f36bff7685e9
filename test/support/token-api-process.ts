import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mainOf, nodeFor } from '@auth-account/local-stack';
import { processEnvironment } from './process-environment.ts';

/** An api as a separate process. */
export interface ApiProcess {
  readonly base: string;
  /** Ends the process as a crash would, and waits until it is gone. */
  kill(): Promise<void>;
}

const main = mainOf('api');

/** Starts the process and waits until it listens. `env`: its whole environment except for the ports. */
export async function startApiProcess(env: Readonly<Record<string, string>>): Promise<ApiProcess> {
  const child = spawn(nodeFor(main), [main], {
    env: { ...processEnvironment(), API_PORT: '0', API_OPS_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    log += chunk;
    const port = /"port":(\d+)[^\n]*"api listens"/.exec(log)?.[1];
    if (port) resolve(`http://127.0.0.1:${port}`);
  });
  child.once('exit', () => reject(new Error(`the api ended before it listened: ${log}`)));
  const exited = once(child, 'exit');
  return {
    base: await promise,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
