import all from './jest.config.js';

const { globalSetup, globalTeardown, ...rest } = all;

/**
 * `npm run check sources`: tests of sources, pages, the chart and the tools, which need neither MongoDB nor Redis.
 * `npm test` runs them too.
 */
export default {
  ...rest,
  roots: ['<rootDir>/test/tools', '<rootDir>/services/api/src/audit'],
  testMatch: [
    '**/test/tools/{checks,chart,generate,mutation,stores}/**/*.test.ts',
    '**/test/tools/{capacity,demo}/*.test.ts',
    '**/audit/audit.test.ts',
  ],
};
