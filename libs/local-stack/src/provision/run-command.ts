import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Log } from '../log.ts';

export interface RunOptions {
  readonly log: Log;
  readonly env?: NodeJS.ProcessEnv;
  /** Ends the program and its children with SIGTERM. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a program to its end. In a terminal the program writes there directly, so that its progress bars work. Elsewhere
 * its lines go to the log. Throws if the program cannot be started or does not exit with 0.
 */
export async function runCommand(command: string, args: readonly string[], options: RunOptions): Promise<void> {
  const inherit = process.stdout.isTTY === true;
  const child = spawn(command, args, {
    env: options.env ?? process.env,
    // The program has its own process group, because pip may be a shell script whose child does the work, and both must
    // end.
    detached: true,
    stdio: ['ignore', inherit ? 'inherit' : 'pipe', inherit ? 'inherit' : 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on('line', (line) => options.log(`  ${line}`));
  }
  const abort = () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
  };
  options.signal?.addEventListener('abort', abort, { once: true });
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (...end) => resolve(end));
  });
  options.signal?.removeEventListener('abort', abort);
  if (code !== 0) throw new Error(`${command} ${args[0] ?? ''} ended with ${signal ?? `exit code ${code}`}`);
}
