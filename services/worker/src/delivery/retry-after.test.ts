import { expect, test } from '@jest/globals';
import { retryAfterMs } from './retry-after.ts';

const now = new Date('2026-01-02T03:04:05Z');

test.each([
  ['120', 120_000],
  ['0', 0],
  ['Fri, 02 Jan 2026 03:05:05 GMT', 60_000],
  ['Fri, 02 Jan 2026 03:00:00 GMT', 0],
  ['Friday, 02-Jan-26 03:05:05 GMT', 60_000],
  ['soon', undefined],
  ['soon 5', undefined],
  ['Fri Jan  2 03:05:05 2026', 60_000],
  ['Sunny 2030', undefined],
  ['Fri, 02 Abc 2026 03:05:05 GMT', undefined],
  ['2026-01-02T03:05:05Z', undefined],
  ['120s', undefined],
  ['a120', undefined],
  ['', undefined],
  [undefined, undefined],
  [['1', '2'], undefined],
])('Retry-After %j asks for %j ms', (header, expected) => {
  expect(retryAfterMs(header, now)).toBe(expected);
});
