import { expect, test } from '@jest/globals';
import { otherUse, processTimeOf, timeBelow } from './cpu-counters.ts';

test('a line of /proc is read, whatever the name of the process', () => {
  const fields = 'S 41 42 42 0 -1 4194560 100 200 0 0 150 30 12 8 20 0 11 0 5000';
  expect(processTimeOf(`42 (a (b) c) ${fields}`)).toEqual({ pid: 42, parent: 41, ms: 2_000 });
});

test('the time of a run is that of its process and of all that descend from it', () => {
  const processes = [
    { pid: 1, parent: 0, ms: 5_000 },
    { pid: 10, parent: 1, ms: 100 },
    { pid: 11, parent: 10, ms: 20 },
    { pid: 12, parent: 11, ms: 3 },
    { pid: 13, parent: 1, ms: 700 },
  ];
  expect(timeBelow(10, processes)).toBe(123);
});

test('others’ CPU time is what the run did not use, and never negative', () => {
  const before = { at: 0, all: 1_000, own: 500, stolen: 0 };
  expect(otherUse(before, { at: 2_000, all: 4_000, own: 2_500, stolen: 400 })).toEqual({ others: 0.5, stolen: 0.2 });
  expect(otherUse(before, { at: 2_000, all: 2_900, own: 2_500, stolen: 0 })).toEqual({ others: 0, stolen: 0 });
});
