/** Jest runs the TypeScript sources as ES modules; swc only strips the types, as Node itself does in production. */
export default {
  rootDir: '..',
  roots: ['<rootDir>/libs', '<rootDir>/services', '<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2024', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  testSequencer: '<rootDir>/test/support/long-ones-first.cjs',
  // For what hangs; a machine that is slow or stands still for a while must fail no test.
  testTimeout: 120_000,
  // One more than the small machine of a CI has cores: many tests wait most of their time.
  maxWorkers: 3,
};
