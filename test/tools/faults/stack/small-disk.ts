import { execFile, spawn } from 'node:child_process';
import { type FileHandle, mkdir, open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Unmounts the disk when the pipe from this process ends, however the process has ended. */
const guardScript = 'read -r word; umount -l "$1"';

/**
 * Creates the directory, and mounts a tmpfs of `mib` MiB on it, which can be filled up. Returns undefined if that is not
 * allowed (it needs root on Linux), so that the test of a full disk is left out.
 */
export async function mountSmallDisk(dir: string, mib: number) {
  await mkdir(dir, { recursive: true });
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return;
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${mib}m`, 'tmpfs', dir]);
  } catch {
    return; // root in a container without permission to mount
  }
  const guard = spawn('/bin/sh', ['-c', guardScript, 'sh', dir], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  const ballast = join(dir, 'ballast');
  return {
    /** Fills the disk with ever smaller blocks, because other writes use the same space. */
    async fill() {
      const file = await open(ballast, 'a');
      try {
        for (const size of [1_048_576, (await statfs(dir)).bsize]) await fillWith(file, Buffer.alloc(size));
      } finally {
        await file.close();
      }
    },
    empty: () => rm(ballast, { force: true }),
    async unmount() {
      const unmounted = new Promise((resolve) => guard.once('exit', resolve));
      guard.ref();
      guard.stdin?.end();
      await unmounted;
    },
  };
}

async function fillWith(file: FileHandle, block: Buffer): Promise<void> {
  try {
    for (;;) await file.write(block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
