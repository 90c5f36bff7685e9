import { readdir } from 'node:fs/promises';

/** A module in dependency-cruiser's JSON. */
export interface CruisedModule {
  readonly source: string;
  readonly dependencies: readonly { readonly resolved: string }[];
}

const testPattern = /\.(test|fixture)\.ts$/;

/**
 * Finds loops of imports between the folders of a package, or between the subfolders of one folder. Returns each loop
 * once, as its folders in order. Files next to the folders, such as `compose.ts`, don't count, because they wire the
 * folders. `compose/` counts, so that no folder imports the code that wires it.
 */
export function findFolderLoops(modules: readonly CruisedModule[]): string[] {
  return [folderPattern, roomPattern].flatMap((pattern) => findLoops(importsOfFolders(modules, pattern))).sort();
}

/** Matches `services/worker/src/relay` for every file in it, and nothing for a file at the root of `src`. */
const folderPattern = /^((?:libs|services)\/[^/]+\/src)\/[^/]+(?=\/)/;
/** Matches `services/api/src/usecases/login` for every file in it. */
const roomPattern = /^((?:libs|services)\/[^/]+\/src\/[^/]+)\/[^/]+(?=\/)/;

function findLoops(imports: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const loops = new Set<string>();
  for (const start of imports.keys()) {
    const path = shortestWayBack(imports, start);
    if (path !== undefined) loops.add(fromItsFirst(path).join(' → '));
  }
  return [...loops];
}

/** Returns, for each folder that the pattern matches, the folders beside it that it imports. */
function importsOfFolders(modules: readonly CruisedModule[], pattern: RegExp): Map<string, Set<string>> {
  const imports = new Map<string, Set<string>>();
  for (const { source, dependencies } of modules) {
    const [from, parent] = pattern.exec(source) ?? [];
    if (from === undefined || testPattern.test(source)) continue;
    for (const { resolved } of dependencies) {
      const [to, besides] = pattern.exec(resolved) ?? [];
      if (to === undefined || to === from || besides !== parent) continue;
      imports.set(from, (imports.get(from) ?? new Set()).add(to));
    }
  }
  return imports;
}

/** Returns the folders on the shortest path from `start` back to itself. */
function shortestWayBack(imports: ReadonlyMap<string, ReadonlySet<string>>, start: string): string[] | undefined {
  const seen = new Set<string>();
  let paths = [[start]];
  while (paths.length > 0) {
    const longer = paths.flatMap((path) => Array.from(imports.get(path.at(-1) ?? '') ?? [], (to) => [...path, to]));
    const back = longer.find((path) => path.at(-1) === start);
    if (back !== undefined) return back.slice(0, -1);
    paths = longer.filter((path) => {
      const to = path.at(-1) ?? '';
      return !seen.has(to) && seen.add(to);
    });
  }
  return undefined;
}

/** Returns the same loop, starting with the alphabetically first folder. */
function fromItsFirst(path: readonly string[]): string[] {
  const first = path.indexOf([...path].sort()[0] ?? '');
  return [...path.slice(first), ...path.slice(0, first)];
}

const rootFiles = /^(main|compose|app|config)(\.test)?\.ts$/;

/** Returns the files at the root of a service's `src` that belong in one of its folders. */
export async function findLooseFiles(src: string): Promise<string[]> {
  const entries = await readdir(src, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !rootFiles.test(entry.name)).map(({ name }) => name);
}
