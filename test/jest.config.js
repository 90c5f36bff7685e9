/** UNIT=1 (`npm run test:unit`): only the tests beside the code, which need no server. */
const isUnit = process.env.UNIT === '1';
/** Beside the code too, but the programs that they start take as long as all others together. */
const withPrograms = ['libs/lifecycle/src/run-service.test.ts', 'libs/errors/src/package.test.ts'];

const servers = {
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};

/**
 * Node loads the TypeScript sources itself, as it does in production: see docs/adr/0007-tests-run-in-node-itself.md.
 */
export default {
  rootDir: '..',
  roots: ['<rootDir>/libs', '<rootDir>/services', ...(isUnit ? [] : ['<rootDir>/test'])],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...(isUnit ? withPrograms : [])],
  testEnvironment: '<rootDir>/test/support/jest/native-environment.ts',
  runtime: '<rootDir>/test/support/jest/native-runtime.ts',
  transform: {},
  ...(isUnit ? {} : servers),
  testSequencer: '<rootDir>/test/support/jest/long-ones-first.cjs',
  // For what hangs; a machine that is slow or stands still for a while must fail no test.
  testTimeout: 120_000,
  // Twice as many as the small machine of a CI has cores: many tests wait most of their time.
  maxWorkers: 4,
};
