import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package that has files in a bundle. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** Folder from the project's root: `node_modules/pino`. */
  readonly folder: string;
}

interface Locked {
  /** Folder of the workspace that this is a link to. */
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Returns the packages that files are of, by folder, those of the project's workspaces left out. */
export function packagesOf(root: string, files: readonly string[]): BundledPackage[] {
  const folders = new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  return [...folders].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    return { name, version, folder };
  });
}

/**
 * Returns the folders that these packages or workspaces need: their own, and those of all that they depend on, by the
 * lock file. An optional dependency may be missing from the disk.
 *
 * @param folders From the project's root: `node_modules/mongodb`, `services/api`.
 */
export function closureOf(root: string, folders: readonly string[]): string[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const packages: Readonly<Record<string, Locked>> = lock.packages;
  const reached = new Set(folders);
  for (const folder of reached) {
    const { link, resolved = '', dependencies = {}, optionalDependencies = {} } = packages[folder] ?? {};
    if (link) reached.add(resolved);
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const found = placesOf(folder, name).find((place) => packages[place] !== undefined);
      if (found !== undefined) reached.add(found);
    }
  }
  return [...reached].sort();
}

/** Returns the folders in which Node looks for a package that code in this folder requires, in its order. */
function placesOf(folder: string, name: string): string[] {
  const parts = folder.split('/node_modules/');
  return [...parts.keys()]
    .reverse()
    .map((depth) => [...parts.slice(0, depth + 1), name].join('/node_modules/'))
    .concat(`node_modules/${name}`);
}
