import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import type { GuardedFolder } from '../../../support/processes/guarded-folder.ts';

export interface RunStrykerOptions {
  /** The copy of the project. */
  readonly root: string;
  /** The path of Stryker's program. */
  readonly stryker: string;
  readonly env: NodeJS.ProcessEnv;
  readonly guard: Pick<GuardedFolder, 'watch'>;
  /** Milliseconds without another tested mutant after which Stryker is ended: far more than one of them may take. */
  readonly stillMs?: number;
}

/** Runs Stryker and keeps its output. Throws if it gives up or stands still. */
export async function runStryker(
  config: string,
  logFile: string,
  { root, stryker, env, guard, stillMs = 1_800_000 }: RunStrykerOptions,
): Promise<void> {
  const child = spawn(process.execPath, [stryker, 'run', config], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.pid !== undefined) guard.watch(child.pid);
  const log = createWriteStream(logFile);
  let [progress, isStill] = ['no mutant', false];
  const watchdog = setTimeout(() => {
    isStill = true;
    child.kill();
  }, stillMs);
  for (const stream of [child.stdout, child.stderr]) {
    stream.pipe(log, { end: false });
    stream.on('data', (chunk: Buffer) => {
      const latest = /\d+\/\d+ tested/.exec(chunk.toString())?.[0] ?? progress;
      // Stryker prints its progress every ten seconds, even if there is none.
      if (latest !== progress) watchdog.refresh();
      progress = latest;
    });
  }
  // Not `close`: a process that a mutant has left behind would hold the pipes open.
  const [code, signal] = await once(child, 'exit');
  clearTimeout(watchdog);
  log.end();
  const end = isStill ? `stood still after ${progress}` : `ended with ${signal ?? `exit code ${code}`}`;
  if (code !== 0) throw new Error(`Stryker ${end}: see ${logFile}`);
}
