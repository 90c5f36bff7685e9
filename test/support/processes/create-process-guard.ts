import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ProcessGuard {
  /** Adds a process that the guard will end. Can be passed as `onSpawn`. */
  watch(pid: number): void;
  /** Ends the guard without any other effect. */
  dismiss(): void;
}

/**
 * Script of the guard, which reads the commands below until the pipe ends. Without `dismiss`, the pipe ends only when
 * the process at its other end has ended.
 */
const SCRIPT = `
pids=
while read -r word pid; do
  case $word in
    watch) pids="$pids $pid" ;;
    dismiss) exit 0 ;;
  esac
done
any() { for pid in $pids; do kill -0 "$pid" 2>/dev/null && return 0; done; return 1; }
for pid in $pids; do kill -TERM "$pid" 2>/dev/null; done
for turn in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do any && /bin/sleep 0.25; done
for pid in $pids; do kill -KILL "$pid" 2>/dev/null; done
/bin/rm -rf "$1"
`;

/**
 * Creates a guard that ends the watched processes (SIGTERM, and SIGKILL after 5 s) and removes `directory` as soon as
 * the present process has ended, even by SIGKILL. The guard is a shell that waits for the end of a pipe, which only
 * this process holds open.
 */
export function createProcessGuard(directory: string): ProcessGuard {
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'sh', directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const input = shell.stdin;
  // Neither the shell nor its pipe may keep the present process alive.
  shell.unref();
  if ('unref' in input && typeof input.unref === 'function') input.unref();
  return {
    watch(pid) {
      input.write(`watch ${pid}\n`);
    },
    dismiss() {
      input.end('dismiss\n');
    },
  };
}

/** A temporary folder for processes, which end with the present process at the latest. */
export interface GuardedFolder extends Pick<ProcessGuard, 'watch'> {
  readonly dir: string;
  /** Removes the folder. Its processes must have ended. */
  close(): Promise<void>;
}

/** Creates a folder with the name in its path, below `parent` (default: the system's temporary directory). */
export async function openGuardedFolder(name: string, parent = tmpdir()): Promise<GuardedFolder> {
  const dir = await mkdtemp(join(parent, `auth-account-${name}-`));
  const { watch, dismiss } = createProcessGuard(dir);
  return {
    dir,
    watch,
    async close() {
      await rm(dir, { recursive: true, force: true });
      dismiss();
    },
  };
}
