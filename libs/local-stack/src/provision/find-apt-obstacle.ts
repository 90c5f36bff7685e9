import { readFile } from 'node:fs/promises';
import { findOnPath } from './find-on-path.ts';

/**
 * Why nothing can be installed with apt-get here, or undefined when root on Debian, Ubuntu or a system made from them
 * asks.
 */
export async function findAptObstacle(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'not a Linux';
  if (process.getuid?.() !== 0) return 'not root';
  if ((await findOnPath('apt-get', env)) === undefined) return 'no apt-get';
  const release = await readFile('/etc/os-release', 'utf8');
  return /^ID(_LIKE)?=.*(debian|ubuntu)/m.test(release) ? undefined : 'neither Debian nor Ubuntu';
}
