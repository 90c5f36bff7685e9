// Loaded with `require` by Jest.
const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * Files that take longest, longest first. Jest knows that only after a first run; on a fresh clone it begins with the
 * largest.
 */
const longest = [
  'test/tools/faults/faults.test.ts',
  'test/security/hostile-input.test.ts',
  'test/integration/worker/lagging-majority.test.ts',
  'test/e2e/sibling-packages.test.ts',
  'test/integration/worker/relay.test.ts',
  'test/integration/worker/crash.test.ts',
  'test/integration/gateway/drain.test.ts',
  'test/security/hash-flood.test.ts',
  'test/security/login-timing.test.ts',
  'test/integration/api/rate-limit-login.test.ts',
  'libs/lifecycle/src/run-service.test.ts',
];

/** Begins with the longest files, so that the run does not end with one busy worker and the others idle. */
module.exports = class LongOnesFirst extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    const first = longest.flatMap((file) => sorted.filter(({ path }) => path.endsWith(file)));
    return [...first, ...sorted.filter((one) => !first.includes(one))];
  }
};
