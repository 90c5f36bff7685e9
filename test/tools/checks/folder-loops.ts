/** A module in dependency-cruiser's JSON. */
export interface CruisedModule {
  readonly source: string;
  readonly dependencies: readonly { readonly resolved: string }[];
}

type Imports = ReadonlyMap<string, ReadonlySet<string>>;

const testPattern = /\.(test|fixture)\.ts$/;

/** Matches `services/worker/src/relay` for every file in it, and nothing for a file at the root of `src`. */
const folderPattern = /^((?:libs|services)\/[^/]+\/src)\/[^/]+(?=\/)/;
/** Matches `services/api/src/usecases/login` for every file in it. */
const subfolderPattern = /^((?:libs|services)\/[^/]+\/src\/[^/]+)\/[^/]+(?=\/)/;

/**
 * Finds loops of imports between the folders of a package, or between the subfolders of one folder, and returns each
 * step of a loop. Files next to the folders, such as `compose.ts`, don't count, because they wire the folders.
 * `compose/` counts, so that no folder imports the code that wires it. dependency-cruiser's own rules for folders count
 * a subfolder as another folder, and so miss loops of which it is a part.
 */
export function findFolderLoops(modules: readonly CruisedModule[]): string[] {
  return [folderPattern, subfolderPattern].flatMap((pattern) => findLoops(importsOfFolders(modules, pattern))).sort();
}

function findLoops(imports: Imports): string[] {
  return Array.from(imports, ([from, all]) =>
    [...all].filter((to) => reachedFrom(to, imports).has(from)).map((to) => `${from} → ${to}`),
  ).flat();
}

function reachedFrom(start: string, imports: Imports): Set<string> {
  const reached = new Set([start]);
  for (const folder of reached) for (const next of imports.get(folder) ?? []) reached.add(next);
  return reached;
}

/** Returns, for each folder that the pattern matches, the folders beside it that it imports. */
function importsOfFolders(modules: readonly CruisedModule[], pattern: RegExp): Imports {
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
