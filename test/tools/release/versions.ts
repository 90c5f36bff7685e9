import { globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

type Dependencies = Readonly<Record<string, string>>;

interface Manifest {
  readonly name: string;
  version: string;
  readonly workspaces?: readonly string[];
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
}

interface LockFile {
  version: string;
  readonly packages: Record<string, Partial<Manifest>>;
}

const SCOPE = '@auth-account/';
const LOCK_FILE = 'package-lock.json';
const CHART = 'charts/auth-account/Chart.yaml';
const CHART_TESTS = 'charts/auth-account/tests';
const CHANGELOG = 'CHANGELOG.md';
const UNRELEASED = '## [Unreleased]';

const readJson = <T>(root: string, path: string): T => JSON.parse(readFileSync(join(root, path), 'utf8'));

/** Returns the version in the root's package.json, which all others follow. */
export function currentVersion(root: string): string {
  return readJson<Manifest>(root, 'package.json').version;
}

/** Returns the folders of the workspaces, relative to the root. '' is the root itself. */
function packageFolders(root: string): string[] {
  const { workspaces = [] } = readJson<Manifest>(root, 'package.json');
  const manifests = workspaces.flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: root }));
  return ['', ...manifests.map((path) => dirname(path)).toSorted()];
}

const manifestOf = (folder: string) => (folder === '' ? 'package.json' : `${folder}/package.json`);

function ownDependencies(of: Partial<Manifest>): Dependencies {
  const all = Object.entries({ ...of.dependencies, ...of.devDependencies });
  return Object.fromEntries(all.filter(([name]) => name.startsWith(SCOPE)));
}

function problemsOf(path: string, found: Partial<Manifest>, version: string): string[] {
  const dependencies = Object.entries(ownDependencies(found)).filter(([, wanted]) => wanted !== version);
  return [
    ...(found.version === version ? [] : [`${path}: version ${found.version}`]),
    ...dependencies.map(([name, wanted]) => `${path}: needs ${name} ${wanted}`),
  ];
}

/** Returns every place whose version differs from the version in the root's package.json. */
export function versionProblems(root: string): string[] {
  const version = currentVersion(root);
  const lock = readJson<LockFile>(root, LOCK_FILE);
  const chart = readFileSync(join(root, CHART), 'utf8');
  const folders = packageFolders(root);
  const ofChart = ['version', 'appVersion'].filter((key) => !chart.includes(`\n${key}: ${version}\n`));
  return [
    ...folders.flatMap((folder) => problemsOf(manifestOf(folder), readJson(root, manifestOf(folder)), version)),
    ...(lock.version === version ? [] : [`${LOCK_FILE}: version ${lock.version}`]),
    ...folders.flatMap((folder) => problemsOf(`${LOCK_FILE} "${folder}"`, lock.packages[folder] ?? {}, version)),
    ...ofChart.map((key) => `${CHART}: ${key} is not ${version}`),
  ];
}

function replaceAll(text: string, from: readonly string[], to: readonly string[]): string {
  return from.reduce((before, form, index) => before.replaceAll(form, to[index] ?? form), text);
}

function withVersion(of: Partial<Manifest>, version: string): void {
  of.version = version;
  for (const group of [of.dependencies, of.devDependencies]) {
    for (const name of Object.keys(group ?? {})) if (group && name.startsWith(SCOPE)) group[name] = version;
  }
}

function newJson(root: string, path: string, change: (of: Manifest & LockFile) => void): readonly [string, string] {
  const json = readJson<Manifest & LockFile>(root, path);
  change(json);
  return [path, `${JSON.stringify(json, null, 2)}\n`];
}

function newChangelog(text: string, version: string, day: string): string {
  const [, changes = ''] = text.split(UNRELEASED);
  const [ofThisVersion = ''] = changes.split('\n## [');
  if (ofThisVersion.trim() === '')
    throw new Error(`${CHANGELOG} has nothing under ${UNRELEASED}: say what has changed`);
  return text.replace(UNRELEASED, `${UNRELEASED}\n\n## [${version}] - ${day}`);
}

/** Returns true if the changelog has a section for the version. */
export function isReleased(root: string, version: string): boolean {
  return readFileSync(join(root, CHANGELOG), 'utf8').includes(`\n## [${version}]`);
}

/** Returns the parts of the chart's tests that name the version. */
const chartTestForms = (version: string) => [`auth-account/api:${version}`, `service.version=${version}`];

function chartTests(root: string): string[] {
  const forms = chartTestForms(currentVersion(root));
  return readdirSync(join(root, CHART_TESTS))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => `${CHART_TESTS}/${name}`)
    .filter((path) => forms.some((form) => readFileSync(join(root, path), 'utf8').includes(form)));
}

/** Returns the paths of the files that a release changes. */
export function releasePaths(root: string): string[] {
  return [...packageFolders(root).map(manifestOf), LOCK_FILE, CHART, ...chartTests(root), CHANGELOG];
}

function newChart(text: string, from: string, version: string): string {
  const lines = (of: string) => ['version', 'appVersion'].map((key) => `\n${key}: ${of}\n`);
  return replaceAll(text, lines(from), lines(version));
}

/** Returns the new text of each file that a release changes, by path. Throws if the changelog is not as expected. */
export function filesOfRelease(root: string, version: string, day: string): Map<string, string> {
  const from = currentVersion(root);
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const folders = packageFolders(root);
  return new Map([
    ...folders.map((folder) => newJson(root, manifestOf(folder), (manifest) => withVersion(manifest, version))),
    newJson(root, LOCK_FILE, (lock) => {
      lock.version = version;
      for (const folder of folders) withVersion(lock.packages[folder] ?? {}, version);
    }),
    [CHART, newChart(read(CHART), from, version)],
    ...chartTests(root).map(
      (path) => [path, replaceAll(read(path), chartTestForms(from), chartTestForms(version))] as const,
    ),
    [CHANGELOG, newChangelog(read(CHANGELOG), version, day)],
  ]);
}
