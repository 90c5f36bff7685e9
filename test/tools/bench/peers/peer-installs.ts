import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installCommand, installSeparately } from '../../separate-install.ts';

/** The directory of the peers. Each directory in it is a separate package, which the project's install leaves out. */
export const peersDirectory = import.meta.dirname;

/** Returns the command that installs a peer. */
export function peerInstallCommand(name: string): string {
  return installCommand(join(peersDirectory, name));
}

export function isInstalled(name: string): boolean {
  return existsSync(join(peersDirectory, name, 'node_modules'));
}

export function installPeer(name: string): void {
  installSeparately(join(peersDirectory, name));
}

/** Returns the installed version of the peer's package, which has the peer's name. */
export async function installedVersion(name: string): Promise<string> {
  const manifest = await readFile(join(peersDirectory, name, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
