import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectRoot } from '../project-root.ts';

interface Manifest {
  readonly engines?: { readonly node?: string };
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Folders whose dependencies include a Node. The first has the Node for npm's scripts, and the second has the Node for
 * services that need another version.
 */
const folders = [projectRoot, join(projectRoot, 'libs', 'local-stack')];

/**
 * Returns the path of the Node that runs a service's program. It has the major version that the service's
 * `package.json` names as `engines.node`, the same as the service's image. A program without `engines` gets the Node of
 * this process. So does every program on a platform for which the dependencies lack that version. Throws if they
 * include that version but it was not installed.
 */
export function nodeFor(program: string): string {
  const wanted = majorOf(manifestAbove(dirname(program))?.engines?.node);
  if (wanted === undefined || wanted === majorOf(process.versions.node)) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const folder = folders.find((each) => majorOf(manifestOf(each)?.optionalDependencies?.[name]) === wanted);
  if (folder === undefined) return process.execPath;
  const node = join(folder, 'node_modules', '.bin', 'node');
  // npm silently skips an optional dependency that it could not fetch.
  if (!existsSync(node)) throw new Error(`${node} is missing, on which ${program} runs: run npm ci`);
  return node;
}

function majorOf(version: string | undefined): string | undefined {
  return /\d+/.exec(version ?? '')?.[0];
}

function manifestOf(folder: string): Manifest | undefined {
  const file = join(folder, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** Returns the manifest of the package that contains the folder. */
function manifestAbove(folder: string): Manifest | undefined {
  const found = manifestOf(folder);
  const parent = dirname(folder);
  return found !== undefined || parent === folder ? found : manifestAbove(parent);
}
