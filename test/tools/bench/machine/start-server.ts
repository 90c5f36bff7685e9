import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { processEnvironment } from '../../../support/processes/process-environment.ts';

/** A server under load. */
export interface ServerProcess {
  readonly pid: number;
  readonly port: number;
  /** Ends the process, by default with SIGKILL. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** Descriptors that a process needs besides its streams', for files, timers and connections to Redis. */
export const otherDescriptors = 200;

/** Returns true if a process may hold so many streams here. Beyond `ulimit -Hn`, it takes the right to raise that. */
export function canHold(streams: number): boolean {
  return spawnSync('sh', ['-c', `ulimit -n ${streams + otherDescriptors}`]).status === 0;
}

/** Returns the command with a limit of its own for open files. */
export function withDescriptors(count: number, command: readonly string[]): readonly [string, ...string[]] {
  return ['sh', '-c', `ulimit -n ${count} && exec "$@"`, 'sh', ...command];
}

/**
 * Starts a server by a command, and waits until it prints that it listens, with its port. If it ends instead, throws an
 * error with its output.
 */
export async function startServer(
  [program, ...args]: readonly [string, ...string[]],
  listening: RegExp,
  env: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const child = spawn(program, args, { env: { ...processEnvironment(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  const port = Promise.withResolvers<number>();
  let output = '';
  const read = (chunk: string) => {
    if (output.length < 65_536) output += chunk;
    const found = listening.exec(output)?.[1];
    if (found !== undefined) port.resolve(Number(found));
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', read);
  exited.then(() => port.reject(new Error(`${program} ${args.join(' ')} ended at once: ${output}`)), port.reject);
  return {
    port: await port.promise,
    pid: child.pid ?? 0,
    async end(signal = 'SIGKILL') {
      child.kill(signal);
      await exited;
    },
  };
}
