import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundleAgent } from './agent-pods.ts';

/**
 * Writes the agent into a temporary folder as it is in its pod: below the packages of an image, and with nothing else
 * of this repository. The caller removes the folder.
 */
export async function unpackAgent(): Promise<{ readonly folder: string; readonly program: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'auth-account-agent-'));
  await mkdir(join(folder, 'node_modules'));
  await symlink(dirname(createRequire(import.meta.url).resolve('ws')), join(folder, 'node_modules/ws'));
  await mkdir(join(folder, 'cluster-test'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  for (const [name, text] of Object.entries(await bundleAgent())) {
    await writeFile(join(folder, 'cluster-test', name), text);
  }
  return { folder, program: join(folder, 'cluster-test/agent-main.js') };
}
