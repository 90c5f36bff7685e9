import { join } from 'node:path';
import type { Part } from '../area.ts';

/** The runtime for mutants that are active only while a test runs: the modules stay loaded. */
const loaded = (root: string) => ({
  transform: {},
  runtime: join(root, 'test/support/jest/native-mutant-runtime.ts'),
  testEnvironment: join(root, 'test/support/jest/mutant-environment.cjs'),
});

/** The runtime for static mutants: Jest's own gives new modules, but cannot strip types. */
const transformed = (root: string) => ({
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  testEnvironment: join(root, 'test/support/jest/bail-environment.cjs'),
});

/**
 * Returns Stryker's options (its `stryker.config.json`) for a part, whose files it changes in `root`, a copy of the
 * project. Its report goes to the path `report`. `ranges`: of static mutants (`file:line:column-line:column`), which need
 * new modules; all other mutants if missing.
 */
export function strykerOptions(part: Part, root: string, report: string, ranges?: readonly string[]) {
  return {
    mutate: ranges === undefined ? [part.sources, '!**/*.test.ts'] : [...ranges],
    ignoreStatic: ranges === undefined,
    testRunner: 'jest',
    // In Stryker's own sandbox the workspaces would resolve to the files that it has not mutated.
    inPlace: true,
    // Otherwise Stryker looks for a tsconfig.json to rewrite, with another version of TypeScript.
    tsconfigFile: 'none.json',
    disableTypeChecks: false,
    testRunnerNodeArgs: ['--experimental-vm-modules'],
    coverageAnalysis: 'perTest',
    concurrency: 2,
    // Runners are replaced, because every file that Jest loads as an ES module stays in memory.
    maxTestRunnerReuse: 100,
    // This is long, so that a busy machine does not kill a mutant by a time-out. A test that waits in vain ends by
    // Jest's own limit below, and an endless loop by Stryker's count of its rounds.
    timeoutMS: 90_000,
    dryRunTimeoutMinutes: 30,
    timeoutFactor: 3,
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: report },
    allowConsoleColors: false,
    warnings: { slow: false },
    jest: {
      enableFindRelatedTests: false,
      config: {
        rootDir: root,
        ...(ranges === undefined ? loaded(root) : transformed(root)),
        // The areas' tests take up to a second each. On a busy machine the start of an api alone may take twenty.
        testTimeout: 60_000,
        // Otherwise Jest would list all files below the root. These folders have few.
        roots: [...new Set(part.tests.map((file) => join(root, file, '..').replace(/[*{].*$/, '')))],
        testMatch: part.tests.map((file) => join(root, file)),
        watchman: false,
      },
    },
  };
}
