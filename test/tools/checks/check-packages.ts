import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * `check-packages.ts NAME` runs one of two checks of package-lock.json, prints each problem, and exits with 1 if there is
 * any.
 *
 * `lockfile`: an install must work on any machine. There may be no address of a registry, and the optional packages of
 * every platform must be there (`npm ci` refuses a lock file without them, on some machines). `npm ci` itself, which each
 * npm script of the project runs after a change of a manifest, compares the lock file with the manifests.
 *
 * `supply-chain`: only packages that are listed here with a reason may have install scripts, every package that can have
 * a checksum must have one, and `npm audit` may find nothing high or critical. The audit is left out if the registry does
 * not offer it.
 */

/**
 * Packages with an install script, and the reason why the script is not needed, because the project's own start runs
 * `npm ci --ignore-scripts` (libs/local-stack/bin/install.mjs).
 */
const installScripts: Readonly<Record<string, string>> = {
  '@parcel/watcher': 'builds from source if there is no binary; only `jest --watch` uses it',
  '@swc/core':
    'checks if its binary loads and fetches another form of it if it does not; the binaries are optional dependencies',
  argon2: 'builds from source if there is no binary; the package carries them, and the api prefers @node-rs/argon2',
  esbuild: 'checks its binary and makes it start without Node; the binary itself is an optional dependency',
  'msgpackr-extract': 'builds from source if there is no binary; msgpackr does without it',
  protobufjs: 'only warns of version ranges in the package.json that uses it',
};

interface Locked {
  /** The package's name, if the folder has a different one. */
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly hasInstallScript?: boolean;
}
type Package = Locked & { readonly path: string; readonly name: string };

const text = readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8');
const { packages: locked } = JSON.parse(text) as { packages: Readonly<Record<string, Locked>> };

/** The packages of others. */
const packages: readonly Package[] = Object.entries(locked)
  .filter(([path, { link }]) => path.includes('node_modules/') && link !== true)
  .map(([path, entry]) => ({ ...entry, path, name: entry.name ?? path.replace(/^.*node_modules\//, '') }));

function registryAddresses(): string[] {
  const withAddress = Object.entries(locked).filter(([, { resolved, link }]) => resolved !== undefined && !link);
  return withAddress.map(([path]) => `${path}: has "resolved"; see CONTRIBUTING.md, "Dependencies"`);
}

/** Follows Node's lookup, which searches a package's own node_modules first, then those of the directories above. */
function isLocked(from: string, name: string): boolean {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('/')))) {
    if (locked[`${base}${base === '' ? '' : '/'}node_modules/${name}`]) return true;
    if (base === '') return false;
  }
}

function missingPlatforms(): string[] {
  return Object.entries(locked).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !isLocked(path, name))
      .map((name) => `${path}: its optional dependency ${name} has no entry`),
  );
}

function unlistedScripts(): string[] {
  const found = new Set(packages.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name));
  const unlisted = [...found].filter((name) => installScripts[name] === undefined);
  const gone = Object.keys(installScripts).filter((name) => !found.has(name));
  return [
    ...unlisted.map((name) => `${name}: has an install script; find out what it does and list it in check-packages.ts`),
    ...gone.map((name) => `${name}: is listed in check-packages.ts and has no install script`),
  ];
}

/**
 * Finds packages without a checksum, except other platforms' packages. A registry that lacks such a package can't
 * provide its checksum, and npm looks it up when it installs the package on that platform.
 */
function missingChecksums(): string[] {
  const missing = packages.filter(({ integrity }) => !/^sha512-/.test(integrity ?? ''));
  return missing
    .filter(({ optional, os, cpu }) => !optional || (os ?? cpu) === undefined)
    .map(({ path }) => `${path}: has no SHA-512 checksum`);
}

interface Audit {
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly name: string; readonly severity: string; readonly range: string }>
  >;
  readonly message?: string;
}

/** Returns the packages with a known vulnerability that is high or critical, in the versions that are locked. */
function knownVulnerabilities(): string[] {
  const args = ['audit', '--json', '--audit-level=none', '--fetch-retries=0', '--fetch-timeout=20000'];
  const { stdout } = spawnSync('npm', args, { encoding: 'utf8', cwd: new URL('../../../', import.meta.url) });
  const { vulnerabilities, message = 'npm gave no answer' } = JSON.parse(stdout || '{}') as Audit;
  if (vulnerabilities === undefined) {
    console.log(`LEFT OUT: known vulnerabilities, because the registry answers no \`npm audit\`: ${message}`);
    return [];
  }
  return Object.values(vulnerabilities)
    .filter(({ severity }) => severity === 'high' || severity === 'critical')
    .map(({ name, range, severity }) => `${name} ${range}: has a vulnerability that is ${severity}; see npm audit`);
}

const [name] = process.argv.slice(2);
const problems =
  name === 'lockfile'
    ? [...registryAddresses(), ...missingPlatforms()]
    : [...unlistedScripts(), ...missingChecksums(), ...knownVulnerabilities()];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
