import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { mainOf, nodeFor } from '@auth-account/local-stack';
import { processEnvironment } from './process-environment.ts';
import { gatewayEnvironment } from './test-api.ts';

/** A push gateway as a separate process. */
export interface GatewayProcess {
  /** `ws://…` of its streams. */
  readonly base: string;
  /** `http://…` of its probes. */
  readonly opsBase: string;
  /** Returns its output so far. */
  output(): string;
  signal(name: NodeJS.Signals): void;
  /** Exit code or signal of the process. */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

const main = mainOf('push-gateway');

/**
 * Starts the process and waits until it listens. `env`: the environment of a scene, and more. Throws with the exit code
 * and the output if the process ends first.
 */
export async function startGatewayProcess(env: Readonly<Record<string, string>>): Promise<GatewayProcess> {
  const child = spawn(nodeFor(main), [main], {
    env: { ...processEnvironment(), PUSH_PORT: '0', PUSH_OPS_PORT: '0', ...gatewayEnvironment(env) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  let written = '';
  child.stderr.pipe(process.stderr, { end: false });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    written += chunk;
  });
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    if (process.env.TEST_LOG_LEVEL) process.stderr.write(chunk);
    written += chunk;
  });
  const output = () => written;
  const ports = await readPorts(child, output);
  return {
    base: `ws://127.0.0.1:${ports.streams}`,
    opsBase: `http://127.0.0.1:${ports.ops}`,
    output,
    signal: (name) => child.kill(name),
    exited,
  };
}

async function readPorts(
  child: ChildProcessByStdio<null, Readable, Readable>,
  output: () => string,
): Promise<{ streams: string; ops: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ streams: string; ops: string }>();
  child.stdout.on('data', () => {
    const ops = /"port":(\d+)[^\n]*"ops server listens"/.exec(output())?.[1];
    const streams = /"port":(\d+)[^\n]*"push gateway listens"/.exec(output())?.[1];
    if (ops && streams) resolve({ ops, streams });
  });
  child.once('close', (code) => reject(new Error(`the gateway ended before it listened, with ${code}: ${output()}`)));
  return promise;
}
