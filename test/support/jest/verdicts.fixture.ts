import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

// Run by native-runtime.test.ts, which knows how each test ends.

let before = 0;
beforeEach(() => {
  before += 1;
});

test('passes', () => {
  expect(before).toBe(1);
});

test('fails by what it expects', () => {
  expect({ is: 1 }).toEqual({ is: 2 });
});

test('fails by its own time-out', () => new Promise(() => undefined), 200);

test('fails by a rejection that nobody handles', async () => {
  void Promise.reject(new Error('unhandled'));
  await new Promise((resolve) => setTimeout(resolve, 20));
});

describe('a block', () => {
  beforeAll(() => {
    throw new Error('the hook fails');
  });

  test('fails by its hook', () => undefined);
});

test.each([1, 2])('of a table: %i is 1', (value) => {
  expect(value).toBe(1);
});

// biome-ignore lint/suspicious/noSkippedTests: the runner has to leave it out.
test.skip('is skipped', () => {
  throw new Error('it ran');
});
