import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Log } from '../log.ts';
import type { OnSpawn } from '../servers/spawn-server.ts';

export interface PipedOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Receives each line that the process writes. */
  readonly onLine: Log;
  readonly onSpawn?: OnSpawn;
}

/**
 * Starts a program and passes on each line of its output. The program has its own process group, so that Ctrl-C in a
 * terminal does not reach it.
 */
export function spawnPiped({ command, args, env, cwd, onLine, onSpawn }: PipedOptions): ChildProcess {
  const child = spawn(command, args, { env, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', onLine);
  if (child.pid !== undefined) onSpawn?.(child.pid);
  return child;
}

/** Runs a program to its end and passes on each line of its output. Throws unless it exits with 0. */
export async function runOnce(options: PipedOptions & { readonly name: string }): Promise<void> {
  const [code, signal] = await once(spawnPiped(options), 'close');
  if (code !== 0) throw new Error(`${options.name} ended with ${signal ?? `exit code ${code}`}`);
}
