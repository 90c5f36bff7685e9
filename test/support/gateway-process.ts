import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { processEnvironment } from './process-environment.ts';

/** A push gateway as a process of its own. */
export interface GatewayProcess {
  /** `ws://…` of its streams. */
  readonly base: string;
  /** `http://…` of its probes. */
  readonly opsBase: string;
  signal(name: NodeJS.Signals): void;
  /** How the process ended. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

const main = fileURLToPath(new URL('../../services/push-gateway/src/main.ts', import.meta.url));

/** Starts the process and waits until it listens. `env`: what a scene gives, and more. */
export async function startGatewayProcess(env: Readonly<Record<string, string>>): Promise<GatewayProcess> {
  const child = spawn(process.execPath, [main], {
    env: { ...processEnvironment(), PUSH_PORT: '0', PUSH_OPS_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  const ports = await readPorts(child);
  return {
    base: `ws://127.0.0.1:${ports.streams}`,
    opsBase: `http://127.0.0.1:${ports.ops}`,
    signal: (name) => child.kill(name),
    exited,
  };
}

async function readPorts(child: ChildProcess): Promise<{ streams: string; ops: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ streams: string; ops: string }>();
  let log = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    if (process.env.TEST_LOG_LEVEL) process.stderr.write(chunk);
    log += chunk;
    const ops = /"port":(\d+)[^\n]*"ops server listens"/.exec(log)?.[1];
    const streams = /"port":(\d+)[^\n]*"push gateway listens"/.exec(log)?.[1];
    if (ops && streams) resolve({ ops, streams });
  });
  child.once('exit', () => reject(new Error(`the gateway ended before it listened: ${log}`)));
  return promise;
}
