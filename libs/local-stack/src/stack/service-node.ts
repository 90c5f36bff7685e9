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
 * `engines.node`, as in its image. It is the Node of this process for programs without `engines`, and on a platform for
 * which that version is not among the dependencies. Throws if it is, and was not installed.
 */
export function nodeFor(program: string): string {
  const wanted = majorOf(manifestAbove(dirname(program))?.engines?.node);
  if (wanted === undefined || wanted === majorOf(process.versions.node)) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const folder = folders.find((each) => majorOf(manifestOf(each)?.optionalDependencies?.[name]) === wanted);
  if (folder === undefined) return process.execPath;
  const node = join(folder, 'node_modules', '.bin', 'node');
  // npm passes over an optional dependency that it could not fetch.
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

/** Returns the manifest of the package that the folder is in. */
function manifestAbove(folder: string): Manifest | undefined {
  const found = manifestOf(folder);
  const parent = dirname(folder);
  return found !== undefined || parent === folder ? found : manifestAbove(parent);
}
