// Loaded with `require` by Jest.
const { default: Sequencer } = require('@jest/test-sequencer');

/**
 * Files that take longest, longest first, except `recovery-wins`, whose storm would meet the begin of everything else.
 * Jest knows the order only after a first run; on a fresh clone it begins with the largest.
 */
const longest = [
  'test/tools/faults/faults.system.test.ts',
  'test/security/hostile-input.system.test.ts',
  'test/contract/openapi-errors.test.ts',
  'test/integration/worker/lagging-majority.system.test.ts',
  'test/tools/faults/lost-writes.system.test.ts',
  'test/tools/cluster/agent.system.test.ts',
  'test/model/account-model.test.ts',
  'test/integration/api/recovery-wins.test.ts',
  'test/integration/api/idempotency-majority.system.test.ts',
  'test/integration/stores/queries.test.ts',
  'test/security/code-timing.system.test.ts',
  'test/tools/conformance/bodies.test.ts',
  'test/e2e/internal-service-packages.system.test.ts',
  'libs/bundle/src/bundle-service.system.test.ts',
  'test/integration/worker/smtp-sender.test.ts',
  'test/integration/api/session-faults.system.test.ts',
  'test/integration/gateway/drain.system.test.ts',
  'test/security/login-timing.system.test.ts',
  'test/integration/worker/relay.system.test.ts',
  'test/integration/worker/erasure-faults.system.test.ts',
  'test/integration/api/full-redis.system.test.ts',
  'test/e2e/local-stack/up.system.test.ts',
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
