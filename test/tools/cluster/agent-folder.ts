import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleAgent } from './agent-pods.ts';

/**
 * Writes the agent, as its pod has it, into a temporary folder that contains nothing else of this repository. The
 * caller must remove the folder.
 */
export async function unpackAgent(): Promise<{ readonly folder: string; readonly program: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'auth-account-agent-'));
  await mkdir(join(folder, 'cluster-test'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  for (const [name, text] of Object.entries(await bundleAgent())) {
    await writeFile(join(folder, 'cluster-test', name), text);
  }
  return { folder, program: join(folder, 'cluster-test/agent-main.js') };
}
