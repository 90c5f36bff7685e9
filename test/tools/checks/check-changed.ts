import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { basename, dirname } from 'node:path';

/**
 * `npm run check changed`: runs the checks and tests that the changes since `origin/main` concern, including
 * uncommitted changes. Prints each command. Begins with the generated files, and ends there if they are out of date,
 * because the other results would mislead. Of the tests that need MongoDB and Redis it chooses those of the changed
 * folder, subfolder and feature.
 */

const git = (...args: string[]) =>
  spawnSync('git', args, { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => line !== '');

/** Tests that start services, by the changed path. `$1` is the first group of the pattern. */
const concerned: readonly (readonly [changed: RegExp, ...tests: string[]])[] = [
  [/^(test\/.+\.test\.ts)$/, '$1'],
  [/^libs\/contracts\/src\/http\/|^test\/support\/good-requests/, 'test/contract/openapi*', 'test/tools/conformance/*'],
  [/^libs\/contracts\/src\/(?:events|push)\//, 'test/contract/asyncapi*'],
  [/^libs\/(stores|redis|verifier|client)\//, 'test/integration/$1/*'],
  [/^libs\/messaging\//, 'test/integration/redis/*', 'test/integration/worker/{delivery,relay}*'],
  [/^(?:libs\/tokens|services\/api\/src\/security)\//, 'test/integration/api/*key*', 'test/security/forged-tokens*'],
  [/^libs\/client\//, 'test/e2e/client-*'],
  [/^services\/(worker|authctl)\//, 'test/integration/$1/*'],
  [/^libs\/operations\//, 'test/integration/authctl/*'],
  [/^services\/push-gateway\//, 'test/integration/gateway/*'],
  [/^services\/api\/src\/audit\//, 'test/integration/api/{audit-log,metrics}*'],
  [/^services\/api\/src\/limits\//, 'test/integration/api/{limits,rate-limit}*'],
  [/^services\/api\/src\/(?:http|request|compose)\b/, 'test/contract/{openapi,requests}*'],
  [/^services\/api\/src\/(?:usecases|compose)\b/, 'test/integration/{api/statements,stores/queries}*'],
];

/** Checks that take longer, by the changed path. The chart's generated files concern only the check of sources. */
const special: readonly (readonly [check: string, changed: RegExp])[] = [
  ['alerts', /(?:metrics|audit-row)\.ts$|^charts\/auth-account\/rules/],
  ['chart', /^charts\/(?!.*(?:schema\.json|README\.md$|dashboards))|^test\/tools\/chart\//],
];

/** Matches paths that contain the word by which a feature's tests are named. */
const featureForm = /^(?:services\/api\/src\/usecases|libs\/contracts\/src\/http)\//;

function testsFor(path: string): string[] {
  const chosen = concerned.flatMap(([form, ...tests]) => {
    const found = form.exec(path);
    return found === null ? [] : tests.map((test) => test.replace('$1', found[1] ?? ''));
  });
  const words = featureForm.test(path) ? [basename(path, '.ts').replace(/-routes$/, ''), basename(dirname(path))] : [];
  return [...chosen, ...words.map((word) => `test/{contract,integration/*}/${word}*`)].flatMap((glob) => {
    const tests = globSync(glob.endsWith('.ts') ? glob : `${glob}.test.ts`);
    if (tests.length === 0 && chosen.includes(glob)) throw new Error(`There are no tests ${glob}.`);
    return tests;
  });
}

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
    ...special.map(([name, form]) => !changed.some((path) => form.test(path)) || run(check(name))),
    code.length === 0 ||
      run(jest('test/jest.config.js', '--passWithNoTests', '--findRelatedTests', ...code), { TIER: 'unit' }),
    tests.length === 0 || run(jest('test/jest.config.js', ...tests), { TIER: 'all' }),
  ];
  console.log(`\n${outcomes.join('\n')}\n\n\`npm test\` runs the other tests too, \`npm run check\` the other checks.`);
  return results.every(Boolean);
}

process.exitCode = runAll() ? 0 : 1;
