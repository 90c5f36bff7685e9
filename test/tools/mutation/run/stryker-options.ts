import { join } from 'node:path';
import type { Part } from '../areas.ts';

export interface StrykerOptionsInput {
  readonly part: Part;
  /** The copy of the project, whose files Stryker changes. */
  readonly root: string;
  /** The path of Stryker's report. */
  readonly report: string;
  readonly incremental: string;
  readonly force: boolean;
}

/** Returns Stryker's options (its `stryker.config.json`) for a part of an area. */
export function strykerOptions({ part, root, report, incremental, force }: StrykerOptionsInput) {
  return {
    mutate: [...part.sources, '!**/*.test.ts'],
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
    timeoutMS: 30_000,
    timeoutFactor: 3,
    incremental: true,
    incrementalFile: incremental,
    force,
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: report },
    allowConsoleColors: false,
    warnings: { slow: false },
    jest: {
      enableFindRelatedTests: false,
      config: {
        rootDir: root,
        // Each mutant needs fresh modules, which Jest's own runtime gives, but that cannot strip types.
        extensionsToTreatAsEsm: ['.ts'],
        transform: {
          '^.+\\.ts$': [
            '@swc/jest',
            { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
          ],
        },
        // The areas' tests take up to a second each.
        testTimeout: 10_000,
        // Otherwise Jest would list all files below the root. These folders have few.
        roots: [...new Set(part.tests.map((file) => join(root, file, '..').replace(/[*{].*$/, '')))],
        testMatch: part.tests.map((file) => join(root, file)),
        testEnvironment: join(root, 'test/tools/mutation/run/bail-environment.cjs'),
        watchman: false,
      },
    },
  };
}
