import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs the work with a temporary folder that has the name in its path, and removes the folder afterwards. */
export async function withFolder<T>(name: string, work: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), `auth-account-${name}-`));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
