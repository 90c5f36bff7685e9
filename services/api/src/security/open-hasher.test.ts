import { describe, expect, test } from '@jest/globals';
import { type HashSlotsInput, hashSlots } from './open-hasher.ts';

const mib = 1_048_576;
const pod = { cores: 4, memoryBytes: 1_024 * mib };

function slotsOf(input: Partial<HashSlotsInput>) {
  return hashSlots({ limits: pod, concurrency: 0, memoryMib: 0, hashKib: 19_456, ...input });
}

describe('numbers of hashes at once', () => {
  test('one hash per core runs at once, if half of the memory is enough', () => {
    expect(slotsOf({})).toEqual({ slots: 4, memoryMib: 512, isTooSmall: false });
  });

  test.each([
    [1, 1],
    [1.5, 1],
    [0.25, 1],
    [64, 11],
  ])('%d cores run %d hashes at once', (cores, slots) => {
    expect(slotsOf({ limits: { ...pod, cores } }).slots).toBe(slots);
  });

  test('fewer hashes run at once if the memory for them is less', () => {
    expect(slotsOf({ memoryMib: 132 }).slots).toBe(3);
    expect(slotsOf({ limits: { ...pod, memoryBytes: 200 * mib } })).toMatchObject({ slots: 2, memoryMib: 100 });
  });

  test('hashes at once never take more memory than there is, however many are configured', () => {
    expect(slotsOf({ concurrency: 64, memoryMib: 256 }).slots).toBe(5);
  });

  test('as many hashes run at once as are configured if there is memory', () => {
    expect(slotsOf({ concurrency: 2 }).slots).toBe(2);
  });

  test('one hash at a time runs, and is reported as too many, if not even one fits', () => {
    expect(slotsOf({ memoryMib: 16 })).toEqual({ slots: 1, memoryMib: 16, isTooSmall: true });
  });
});
