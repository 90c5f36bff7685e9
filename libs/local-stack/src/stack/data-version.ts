import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../has-code.ts';
import type { Version } from '../provision/check-binary.ts';

/** Says that MongoDB's data were written by a version other than the found mongod's. */
export class DataVersionError extends Error {
  override readonly name = 'DataVersionError';
}

const fileOf = (directory: string) => join(directory, 'version');

/**
 * Throws `DataVersionError` if the data in the directory were written by another version (major and minor). An older
 * mongod can't read them, and a newer one reads them only if no version was skipped. Data without a recorded version
 * are accepted.
 */
export async function assertDataVersion(directory: string, found: Version, binary: string): Promise<void> {
  const [noted, wanted] = [await findNote(directory), found.join('.')];
  if (noted === undefined || noted === wanted) return;
  throw new DataVersionError(
    `The data in ${directory} were written by MongoDB ${noted}, but the mongod that was found is ${wanted} (${binary}). ` +
      `Put MongoDB ${noted} first on the PATH, or start without the data: npm run up -- --fresh`,
  );
}

/** Records the version that writes the data in the directory from now on. */
export async function noteDataVersion(directory: string, version: Version): Promise<void> {
  await writeFile(fileOf(directory), `${version.join('.')}\n`);
}

async function findNote(directory: string): Promise<string | undefined> {
  try {
    return (await readFile(fileOf(directory), 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
