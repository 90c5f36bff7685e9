import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

/**
 * Checks that an install from package-lock.json works on any machine. The lock file must have no address of a registry,
 * the optional packages of every platform (`npm ci` refuses a lock file without them), the same dependencies as the
 * manifests, and the versions that are installed here. Prints each problem, and exits with 1 if there is any.
 */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const GROUPS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'] as const;

type Manifest = { [group in (typeof GROUPS)[number]]?: Record<string, string> };
type Locked = Manifest & {
  readonly version?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly optional?: boolean;
};
type Packages = Readonly<Record<string, Locked>>;

const readJson = <T>(path: string): T => JSON.parse(readFileSync(`${ROOT}${path}`, 'utf8'));

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

function manifestDrift(packages: Packages): string[] {
  const workspaces = Object.keys(packages).filter((path) => !path.includes('node_modules'));
  const onDisk = ['libs', 'services'].flatMap((folder) =>
    readdirSync(`${ROOT}${folder}`).map((name) => `${folder}/${name}`),
  );
  const unlocked = onDisk.filter((path) => existsSync(`${ROOT}${path}/package.json`) && !packages[path]);
  const changed = workspaces.filter((path) => {
    const manifest = existsSync(`${ROOT}${path}/package.json`) ? readJson<Manifest>(`${path}/package.json`) : {};
    return !GROUPS.every((group) => isDeepStrictEqual(manifest[group] ?? {}, packages[path]?.[group] ?? {}));
  });
  return [...unlocked, ...changed].map(
    (path) => `${path}/package.json: the lock file has other dependencies; run npm install`,
  );
}

function installDrift(packages: Packages): string[] {
  const installed = readJson<{ packages: Packages }>('node_modules/.package-lock.json').packages;
  const differing = Object.entries(installed).filter(([path, { version }]) => packages[path]?.version !== version);
  const missing = Object.keys(packages).filter((path) => {
    return path.includes('node_modules/') && !packages[path]?.optional && !installed[path];
  });
  return [
    ...differing.map(([path, { version }]) => `${path}: ${version} is installed, ${packages[path]?.version} is locked`),
    ...missing.map((path) => `${path}: is locked, but not installed`),
  ];
}

const { packages } = readJson<{ packages: Packages }>('package-lock.json');
const problems = [registryAddresses, missingPlatforms, manifestDrift, installDrift].flatMap((check) => check(packages));
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
