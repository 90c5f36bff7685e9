import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Each directory in it is a separate package with a lock file, which the project's install does not include. */
export const peersDirectory = import.meta.dirname;

/** Command that installs a peer. */
export function installCommand(name: string): string {
  return `cd ${join(peersDirectory, name)} && npm ci --ignore-scripts`;
}

export function isInstalled(name: string): boolean {
  return existsSync(join(peersDirectory, name, 'node_modules'));
}

/** Centrifugo is not an npm package. */
export function isInstallable(name: string): boolean {
  return existsSync(join(peersDirectory, name, 'package-lock.json'));
}

/** Runs `npm ci --ignore-scripts` there; throws with npm's output if it fails. */
export async function installPeer(name: string): Promise<void> {
  await run('npm', ['ci', '--ignore-scripts'], { cwd: join(peersDirectory, name) });
}

/** Returns the installed version of the package that gives the peer its name. */
export async function installedVersion(name: string): Promise<string> {
  const manifest = await readFile(join(peersDirectory, name, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
