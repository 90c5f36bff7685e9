import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuthStorage, Platform } from '../platform/platform.ts';

/**
 * What a program on Node gives to `createAuthClient`: a storage in a directory that only its user can read. One process
 * at a time may use the directory.
 */
export function nodePlatform(directory: string): Pick<Platform, 'storage'> {
  return { storage: fileStorage(directory) };
}

function fileStorage(directory: string): AuthStorage {
  const fileOf = (key: string) => join(directory, `${encodeURIComponent(key)}.json`);
  return {
    async get(key) {
      try {
        return await readFile(fileOf(key), 'utf8');
      } catch (error) {
        if ((error as { code?: unknown }).code === 'ENOENT') return;
        throw error;
      }
    },
    async set(key, value) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      // Renamed into place: a crash leaves the old value or the new one.
      const temporary = `${fileOf(key)}.new`;
      await writeFile(temporary, value, { mode: 0o600, flush: true });
      await rename(temporary, fileOf(key));
    },
    remove: (key) => rm(fileOf(key), { force: true }),
  };
}
