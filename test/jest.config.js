/**
 * The tiers of the tests, by `TIER`:
 *
 * - `change` (`npm test`): what each change must pass, in this process, on one MongoDB and one Redis.
 * - `system` (`npm run test:system`): what breaks machines rather than logic, in files `*.system.test.ts`: processes and
 *   topologies of their own, whole stacks, faults, browsers, statistics of times.
 * - `unit` (`npm run test:unit`): of the first tier only the tests beside the code, which need no server.
 * - `sources` (`npm run check sources`): tests of sources, pages, the chart and the tools, without servers.
 * - `all`: the first two tiers, for paths that are given.
 */
const tier = process.env.TIER ?? 'change';

/** Folders of test/tools whose tests need servers. `npm run check sources` runs those of the others. */
const withServers = ['cluster', 'conformance', 'faults', 'internal-services'];
const ofSources = [`<rootDir>/test/tools/(?!${withServers.join('|')})`];
const ofSystem = [String.raw`\.system\.test\.ts$`];

const servers = {
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};

const besideCode = ['<rootDir>/libs', '<rootDir>/services'];
const everywhere = [...besideCode, '<rootDir>/test'];
const anyTest = ['**/*.test.ts'];

const tiers = {
  change: { roots: everywhere, testMatch: anyTest, ignored: [...ofSystem, ...ofSources], ...servers },
  system: { roots: everywhere, testMatch: ['**/*.system.test.ts'], ignored: ofSources, ...servers },
  unit: { roots: besideCode, testMatch: anyTest, ignored: ofSystem },
  sources: {
    roots: ['<rootDir>/test/tools', '<rootDir>/services/api/src/audit'],
    testMatch: anyTest,
    ignored: withServers.map((folder) => `<rootDir>/test/tools/${folder}/`),
  },
  all: { roots: everywhere, testMatch: anyTest, ignored: [], ...servers },
};
if (!Object.hasOwn(tiers, tier)) throw new Error(`TIER is one of ${Object.keys(tiers).join(', ')}, not "${tier}"`);
const { ignored, ...chosen } = tiers[tier];

/**
 * Node loads the TypeScript sources itself, as it does in production: see docs/adr/0007-tests-run-in-node-itself.md.
 */
export default {
  rootDir: '..',
  ...chosen,
  testPathIgnorePatterns: ['/node_modules/', ...ignored],
  testEnvironment: '<rootDir>/test/support/jest/native-environment.ts',
  runtime: '<rootDir>/test/support/jest/native-runtime.ts',
  transform: {},
  reporters: [
    'default',
    '<rootDir>/test/support/jest/skipped-browser-tests.cjs',
    ...(process.env.TEST_COSTS === '1' ? ['<rootDir>/test/support/jest/cost-reporter.ts'] : []),
  ],
  testSequencer: '<rootDir>/test/support/jest/long-ones-first.cjs',
  // For what hangs; a machine that is slow or stands still for a while must fail no test.
  testTimeout: 300_000,
  // A worker of a busy machine ends later than Jest's half a second.
  workerGracefulExitTimeout: 30_000,
  // Twice as many as the small machine of a CI has cores, because many tests wait most of their time. Tests of the
  // system start more processes of their own, but wait for half of their time too.
  maxWorkers: tier === 'system' ? 3 : 4,
};
