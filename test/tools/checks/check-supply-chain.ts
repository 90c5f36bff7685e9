import { readFileSync } from 'node:fs';
import { advisories, poisoned, waivers } from './advisories.ts';

/**
 * Checks what package-lock.json installs. Only packages that are listed here with a reason may have install scripts,
 * every package that can have a checksum must have one, and no version may be one that `advisories.ts` names. Prints
 * each problem, and exits with 1 if there is any.
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
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly hasInstallScript?: boolean;
}
type Package = Locked & { readonly path: string; readonly name: string };

function readPackages(): Package[] {
  const text = readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8');
  const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, Locked>> };
  return Object.entries(packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && link !== true)
    .map(([path, locked]) => ({ ...locked, path, name: locked.name ?? path.replace(/^.*node_modules\//, '') }));
}

function unlistedScripts(packages: readonly Package[]): string[] {
  const found = new Set(packages.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name));
  const unlisted = [...found].filter((name) => installScripts[name] === undefined);
  const gone = Object.keys(installScripts).filter((name) => !found.has(name));
  return [
    ...unlisted.map(
      (name) => `${name}: has an install script; find out what it does and list it in check-supply-chain.ts`,
    ),
    ...gone.map((name) => `${name}: is listed in check-supply-chain.ts and has no install script`),
  ];
}

/**
 * Finds packages without a checksum, except other platforms' packages. A registry that lacks such a package can't
 * provide its checksum, and npm looks it up when it installs the package on that platform.
 */
function missingChecksums(packages: readonly Package[]): string[] {
  const missing = packages.filter(({ integrity }) => !/^sha512-/.test(integrity ?? ''));
  return missing
    .filter(({ optional, os, cpu }) => !optional || (os ?? cpu) === undefined)
    .map(({ path }) => `${path}: has no SHA-512 checksum`);
}

function isBelow(version: string, fixed: string): boolean {
  const [left, right] = [version, fixed].map((text) => text.split('-')[0]?.split('.').map(Number) ?? []);
  const place = [0, 1, 2].find((i) => left?.[i] !== right?.[i]);
  return place !== undefined && (left?.[place] ?? 0) < (right?.[place] ?? 0);
}

/** Returns the fix for the same major version, or without one the newest fix. */
function findFix(version: string, fixed: readonly string[]): string | undefined {
  const major = (text: string) => text.split('.')[0];
  return fixed.find((fix) => major(fix) === major(version)) ?? fixed.at(-1);
}

function knownFlaws(packages: readonly Package[]): string[] {
  const isWaived = ({ name, version }: Package) =>
    waivers.some((waiver) => waiver.name === name && waiver.version === version);
  const flawed = advisories.flatMap(({ name, fixed, id }) =>
    packages
      .filter((each) => each.name === name && !isWaived(each))
      .filter(({ version = '0' }) => isBelow(version, findFix(version, fixed) ?? '0'))
      .map(({ path, version }) => `${path}: ${version} has ${id}, fixed in ${fixed.join(', ')}`),
  );
  const bad = packages.filter(({ name, version }) => poisoned.includes(`${name}@${version}`));
  return [...flawed, ...bad.map(({ path, version }) => `${path}: ${version} was published by thieves`)];
}

/** Reports entries about packages that are no longer installed. */
function staleEntries(packages: readonly Package[]): string[] {
  const stale = [...advisories, ...waivers].filter(
    (entry) =>
      !packages.some(
        ({ name, version }) => name === entry.name && (!('version' in entry) || entry.version === version),
      ),
  );
  return stale.map(({ name }) => `${name}: is named in advisories.ts and not installed in that version`);
}

const packages = readPackages();
const problems = [unlistedScripts, missingChecksums, knownFlaws, staleEntries].flatMap((check) => check(packages));
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
