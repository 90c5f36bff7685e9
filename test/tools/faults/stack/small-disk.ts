import { execFile, spawn } from 'node:child_process';
import { mkdir, open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Bytes that are first left free, and then filled block by block, because other writes use the same space. */
const slack = 1_048_576;

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
    async fill() {
      await fillRoughly(dir, ballast);
      const { bsize } = await statfs(dir);
      const file = await open(ballast, 'a');
      try {
        for (;;) await file.write(Buffer.alloc(bsize));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
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

/**
 * Fills nearly all of the space at once. If others write more than the slack at the same time, it retries with a larger
 * slack.
 */
async function fillRoughly(dir: string, ballast: string): Promise<void> {
  for (let left = slack; ; left *= 2) {
    const { bfree, bsize } = await statfs(dir);
    if (bfree * bsize <= left) return;
    try {
      await run('fallocate', ['-l', String(bfree * bsize - left), ballast]);
      return;
    } catch (error) {
      if (!String((error as { stderr?: unknown }).stderr).includes('No space left')) throw error;
    }
  }
}
