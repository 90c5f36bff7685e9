import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Each directory in it is a package of its own, with a lock file, which the project's install knows nothing of. */
export const peersDirectory = import.meta.dirname;

/** The command with which anybody installs a peer. */
export function installCommand(name: string): string {
  return `cd ${join(peersDirectory, name)} && npm ci --ignore-scripts`;
}

export function isInstalled(name: string): boolean {
  return existsSync(join(peersDirectory, name, 'node_modules'));
}

/** Centrifugo is no package of npm. */
export function isInstallable(name: string): boolean {
  return existsSync(join(peersDirectory, name, 'package-lock.json'));
}

/** `npm ci --ignore-scripts` there; throws with npm's words where it fails. */
export async function installPeer(name: string): Promise<void> {
  await run('npm', ['ci', '--ignore-scripts'], { cwd: join(peersDirectory, name) });
}

/** Of the package that gives the peer its name, as it is installed. */
export async function installedVersion(name: string): Promise<string> {
  const manifest = await readFile(join(peersDirectory, name, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
