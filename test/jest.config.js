/** UNIT=1 (`npm run test:unit`): only the tests beside the code, which need no server. */
const isUnit = process.env.UNIT === '1';
/** Beside the code too, but the programs that they start take as long as all others together. */
const withPrograms = ['libs/lifecycle/src/run-service.test.ts', 'libs/errors/src/package.test.ts'];

const servers = {
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
};

/** Jest runs the TypeScript sources as ES modules; swc only strips the types, as Node itself does in production. */
export default {
  rootDir: '..',
  roots: ['<rootDir>/libs', '<rootDir>/services', ...(isUnit ? [] : ['<rootDir>/test'])],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...(isUnit ? withPrograms : [])],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  ...(isUnit ? {} : servers),
  testSequencer: '<rootDir>/test/support/long-ones-first.cjs',
  // For what hangs; a machine that is slow or stands still for a while must fail no test.
  testTimeout: 120_000,
  // One more than the small machine of a CI has cores: many tests wait most of their time.
  maxWorkers: 3,
};
