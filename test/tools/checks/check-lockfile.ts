import { readFileSync } from 'node:fs';

/**
 * Checks that an install from package-lock.json works on any machine. The lock file must have no address of a registry,
 * and the optional packages of every platform (`npm ci` refuses a lock file without them, on some machines). Prints each
 * problem, and exits with 1 if there is any. `npm ci` itself, which each npm script of the project runs after a change
 * of a manifest, compares the lock file with the manifests.
 */

interface Locked {
  readonly resolved?: string;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
type Packages = Readonly<Record<string, Locked>>;

function registryAddresses(packages: Packages): string[] {
  const withAddress = Object.entries(packages).filter(([, { resolved, link }]) => resolved !== undefined && !link);
  return withAddress.map(([path]) => `${path}: has "resolved"; see CONTRIBUTING.md, "Dependencies"`);
}

/** Follows Node's lookup, which searches a package's own node_modules first, then those of the directories above. */
function isLocked(packages: Packages, from: string, name: string): boolean {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('/')))) {
    if (packages[`${base}${base === '' ? '' : '/'}node_modules/${name}`]) return true;
    if (base === '') return false;
  }
}

function missingPlatforms(packages: Packages): string[] {
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !isLocked(packages, path, name))
      .map((name) => `${path}: its optional dependency ${name} has no entry`),
  );
}

const text = readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8');
const { packages } = JSON.parse(text) as { packages: Packages };
const problems = [...registryAddresses(packages), ...missingPlatforms(packages)];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
