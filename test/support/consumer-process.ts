import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { processEnvironment } from './process-environment.ts';

/** The example consumer as a separate process. */
export interface ConsumerProcess {
  /** Returns its standard output so far. */
  output(): string;
  kill(): Promise<void>;
}

const main = fileURLToPath(new URL('./consumer-main.ts', import.meta.url));

/** `hangAt`: see consumer-main.ts. */
export function startConsumerProcess(
  env: Readonly<Record<string, string>>,
  subscriber: string,
  hangAt: 'commit' | 'acknowledgement',
): ConsumerProcess {
  const child = spawn(process.execPath, [main], {
    env: { ...processEnvironment(), ...env, SUBSCRIBER: subscriber, HANG_AT: hangAt },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  return {
    output: () => output,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
