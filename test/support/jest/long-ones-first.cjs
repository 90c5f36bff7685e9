// Loaded with `require` by Jest.
const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * Files that take longest, longest first, except `recovery-wins`, whose storm would meet the begin of everything else.
 * Jest knows the order only after a first run; on a fresh clone it begins with the largest.
 */
const longest = [
  'test/tools/faults/faults.test.ts',
  'test/security/hostile-input.test.ts',
  'test/contract/openapi-errors.test.ts',
  'test/integration/worker/lagging-majority.test.ts',
  'test/tools/faults/lost-writes.test.ts',
  'test/tools/cluster/agent.test.ts',
  'test/model/account-model.test.ts',
  'test/integration/api/recovery-wins.test.ts',
  'test/integration/api/idempotency-majority.test.ts',
  'test/integration/stores/queries.test.ts',
  'test/security/code-timing.test.ts',
  'test/tools/conformance/bodies.test.ts',
  'test/e2e/sibling-packages.test.ts',
  'libs/bundle/src/bundle-service.test.ts',
  'test/integration/worker/smtp-sender.test.ts',
  'test/integration/api/session-faults.test.ts',
  'test/integration/gateway/drain.test.ts',
  'test/security/login-timing.test.ts',
  'test/integration/worker/relay.test.ts',
  'test/integration/worker/erasure-faults.test.ts',
  'test/integration/api/full-redis.test.ts',
  'test/e2e/local-stack/up.test.ts',
  'test/security/codes.test.ts',
  'test/security/second-factor-guesses.test.ts',
];

/** Begins with the longest files, so that the run does not end with one busy worker and the others idle. */
module.exports = class LongOnesFirst extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    const first = longest.flatMap((file) => sorted.filter(({ path }) => path.endsWith(file)));
    return [...first, ...sorted.filter((one) => !first.includes(one))];
  }
};
