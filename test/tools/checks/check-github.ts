import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { provideTools, ToolError } from '../chart/provide-tools.ts';

/**
 * `check-github.ts [ROOT]`: checks the files for GitHub and its tools. Each file must be valid YAML or JSON, each
 * workflow must name its permissions, and each action must be pinned by its commit. actionlint, from the PATH or built
 * by Go, checks the rest. That part is left out if it is not available.
 */
const root = resolve(process.argv[2] ?? '.');
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

const below = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
const files = ['.github', '.devcontainer'].filter((folder) => existsSync(join(root, folder))).flatMap(below);
const problems = files
  .filter((file) => /\.(ya?ml|json)$/.test(file))
  .flatMap((file) => findProblems(file).map((problem) => `${file}: ${problem}`));
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
try {
  const { actionlint } = await provideTools(['actionlint'], () => undefined);
  if (spawnSync(actionlint, { cwd: root, stdio: 'inherit' }).status !== 0) process.exitCode = 1;
} catch (error) {
  if (!(error instanceof ToolError)) throw error;
  console.log(`LEFT OUT: the workflows were not linted.\n${error.message}`);
}
