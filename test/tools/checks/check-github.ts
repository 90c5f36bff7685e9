import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { cacheFolder } from '../chart/cache-folder.ts';

/**
 * `check-github.ts [ROOT]`: checks the files for GitHub and its tools. Each file must be valid YAML or JSON, each
 * workflow must name its permissions, and each action must be pinned by its commit. actionlint, from the PATH or built
 * by `go install`, checks the rest. That part is left out if it is not available.
 */
const root = resolve(process.argv[2] ?? '.');
const version = 'v1.7.12';
const workflows = '.github/workflows';

function findProblems(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  try {
    const content = file.endsWith('.json') ? JSON.parse(text) : parse(text);
    if (!file.startsWith(workflows)) return [];
    const unpinned = [...text.matchAll(/\buses: *(\S+)/g)]
      .map(([, action = '']) => action)
      .filter((action) => !action.startsWith('./') && !/@[0-9a-f]{40}$/.test(action));
    return [
      ...(content.permissions === undefined ? ['names no permissions'] : []),
      ...unpinned.map((action) => `${action} is not pinned by its commit`),
    ];
  } catch (error) {
    return [String(error)];
  }
}

function provideActionlint(): string | undefined {
  const cache = cacheFolder(`actionlint-${version}`, []);
  const find = () =>
    [...(process.env.PATH ?? '').split(delimiter), cache].map((each) => join(each, 'actionlint')).find(existsSync);
  if (find() === undefined) {
    const env = { ...process.env, GOBIN: cache, GOFLAGS: '' };
    spawnSync('go', ['install', `github.com/rhysd/actionlint/cmd/actionlint@${version}`], { env });
  }
  return find();
}

const below = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
const files = ['.github', '.devcontainer'].filter((folder) => existsSync(join(root, folder))).flatMap(below);
const problems = files
  .filter((file) => /\.(ya?ml|json)$/.test(file))
  .flatMap((file) => findProblems(file).map((problem) => `${file}: ${problem}`));
const actionlint = provideActionlint();
if (actionlint === undefined)
  console.log(`LEFT OUT: there is neither actionlint ${version} nor Go that could build it`);
else if (spawnSync(actionlint, { cwd: root, stdio: 'inherit' }).status !== 0) process.exitCode = 1;
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
