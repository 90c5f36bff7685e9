import { expect, test } from '@jest/globals';
import { codeOf, nextStep, waitFor } from './authenticator.ts';

/** The seed of RFC 6238, appendix B, in base32. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const entry = { secret, takenStep: 0 };

test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [20_000_000_000, '353130'],
])('the authenticator shows the code of RFC 6238 after %s seconds', async (seconds, code) => {
  expect(await codeOf(entry, Math.floor(seconds / 30))).toBe(code);
});

test('the authenticator gives each code once, and immediately only what the service accepts', () => {
  const at = 3_000_000;
  expect(nextStep(entry, at)).toBe(99);
  // The code before would be refused in less than 15 seconds.
  expect(nextStep(entry, at + 15_000)).toBe(100);
  expect(nextStep({ secret, takenStep: 100 }, at)).toBe(101);
  expect([99, 101, 102].map((step) => waitFor(step, at))).toEqual([0, 0, 30_000]);
});
