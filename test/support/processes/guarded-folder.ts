import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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

/** A temporary folder for processes, which end with the present process at the latest. */
export type GuardedFolder = Awaited<ReturnType<typeof openGuardedFolder>>;

/**
 * Creates a folder with the name in its path, below `parent` (default: the system's temporary directory). As soon as the
 * present process has ended, even by SIGKILL, a guard ends the watched processes (SIGTERM, and SIGKILL after 5 s) and
 * removes the folder. The guard is a shell that waits for the end of a pipe, which only this process holds open.
 */
export async function openGuardedFolder(name: string, parent = tmpdir()) {
  const dir = await mkdtemp(join(parent, `auth-account-${name}-`));
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'sh', dir], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  const input = shell.stdin;
  // Neither the shell nor its pipe may keep the present process alive.
  shell.unref();
  if ('unref' in input && typeof input.unref === 'function') input.unref();
  return {
    dir,
    /** Adds a process that the guard will end. Can be passed as `onSpawn`. */
    watch: (pid: number) => void input.write(`watch ${pid}\n`),
    /** Removes the folder. Its processes must have ended. */
    async close() {
      await rm(dir, { recursive: true, force: true });
      input.end('dismiss\n');
    },
  };
}
