import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { checksFor, testsFor } from './concerns.ts';

/**
 * `npm run check changed`: runs the checks and tests that the changes since `origin/main` concern, including
 * uncommitted changes (concerns.ts). Prints each command. Begins with the generated files, and ends there if they are
 * out of date, because the other results would mislead.
 */

const git = (...args: string[]) =>
  spawnSync('git', args, { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => line !== '');

const node = (...args: string[]) => [process.execPath, ...args];
const bin = (name: string, ...args: string[]) => [`node_modules/.bin/${name}`, ...args];
const jest = (...args: string[]) => node('node_modules/jest/bin/jest.js', '--config', ...args);
const check = (...names: string[]) => node('test/tools/checks/run-checks.ts', ...names);

const outcomes: string[] = [];

function run([program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv = {}): boolean {
  const names = Object.entries(env).map(([name, value]) => `${name}=${value} `);
  const command = `${names.join('')}${[basename(program), ...args].join(' ')}`;
  console.log(`\n> ${command}`);
  const isRight = spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, ...env } }).status === 0;
  outcomes.push(`${isRight ? 'ok  ' : 'FAIL'}  ${command.slice(0, 110)}`);
  return isRight;
}

const [base = 'HEAD'] = git('merge-base', 'HEAD', 'origin/main');
const changed = [
  ...new Set([...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')]),
];
const present = changed.filter((path) => existsSync(path));
const code = present.filter((path) => /^(?:libs|services)\/.+\.tsx?$/.test(path));
const isOfSources = (test: string) => /^test\/tools\/(?!cluster|conformance|faults|internal-services)/.test(test);
const tests = [...new Set(present.flatMap(testsFor))].filter((test) => !isOfSources(test)).sort();
console.log(`${changed.length} files have changed since ${base.slice(0, 12)}.`);

function runAll(): boolean {
  if (changed.length === 0) return true;
  if (!run(check('generated'))) {
    console.log('\n`npm run generate` writes them. Then run this again: the rest would mislead.');
    return false;
  }
  const results = [
    run(bin('biome', 'check', '--error-on-warnings', '--no-errors-on-unmatched', ...present)),
    run(check('types', 'dead', 'boundaries', 'house', 'sources')),
    ...[...new Set(changed.flatMap(checksFor))].sort().map((name) => run(check(name))),
    code.length === 0 ||
      run(jest('test/jest.config.js', '--passWithNoTests', '--findRelatedTests', ...code), { TIER: 'unit' }),
    tests.length === 0 || run(jest('test/jest.config.js', ...tests), { TIER: 'all' }),
  ];
  console.log(`\n${outcomes.join('\n')}\n\n\`npm test\` runs the other tests too, \`npm run check\` the other checks.`);
  return results.every(Boolean);
}

process.exitCode = runAll() ? 0 : 1;
