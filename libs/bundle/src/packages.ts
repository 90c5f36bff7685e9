import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package that has files in a bundle, or is beside it. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX expression. */
  readonly license: string;
  /** Folder, relative to the project's root, such as `node_modules/pino`. */
  readonly folder: string;
}

interface Locked {
  /** Folder of the workspace, if this entry is a link to one. */
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/**
 * Returns the packages that contain these files or are these folders, sorted by folder, without the project's workspaces
 * and without what is not installed.
 */
export function packagesOf(root: string, files: readonly string[]): BundledPackage[] {
  const folders = new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  const installed = [...folders].filter((folder) => existsSync(join(root, folder, 'package.json')));
  return installed.sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    return { name, version, license, folder };
  });
}

/**
 * Returns the folders of these packages or workspaces, and of all their dependencies in the lock file. An optional
 * dependency may be missing from the disk.
 *
 * @param folders Relative to the project's root, such as `node_modules/mongodb` or `services/api`.
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

/**
 * Returns the folders in which Node looks for a package that code in this folder requires, in the order of the search.
 */
function placesOf(folder: string, name: string): string[] {
  const parts = folder.split('/node_modules/');
  return [...parts.keys()]
    .reverse()
    .map((depth) => [...parts.slice(0, depth + 1), name].join('/node_modules/'))
    .concat(`node_modules/${name}`);
}
