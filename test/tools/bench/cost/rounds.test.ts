import { describe, expect, test } from '@jest/globals';
import { quietestRounds, roundsToRepeat, standsStill } from './rounds.ts';

describe('stability of a cost', () => {
  const eight = (...costs: number[]) => costs.flatMap((cost) => Array.from({ length: 8 }, () => cost));
  test.each([
    ['after fewer rounds than are compared', eight(1, 1).slice(1), false],
    ['when it does not change', eight(1, 1), true],
    ['when it changed long ago only', [9, 5, 3, ...eight(1, 1)], true],
    ['while it falls', Array.from({ length: 16 }, (_, place) => 2 - place / 100), false],
    ['while it rises', Array.from({ length: 16 }, (_, place) => 1 + place / 100), false],
    ['when it falls by less than 3 %', eight(1.02, 1), true],
    ['when it falls by more', eight(1.04, 1), false],
    ['in spite of one disturbed round', [3, ...eight(1, 1).slice(1)], true],
  ])('a cost is judged %s: %p is %p', (_, rounds, still) => {
    expect(standsStill(rounds)).toBe(still);
  });
});

describe('rounds that others disturb', () => {
  const rounds = (...others: number[]) => others.map((each) => ({ others: each }));

  test('disturbed rounds are repeated', () => {
    expect(roundsToRepeat(rounds(0, 0.9, 0, 0.8), 4)).toBe(2);
    expect(roundsToRepeat(rounds(0, 0.9, 0, 0.8, 0, 0), 4)).toBe(0);
  });

  test('disturbed rounds are repeated up to half as many times as there are rounds', () => {
    expect(roundsToRepeat(rounds(1, 1, 1, 1, 1), 4)).toBe(1);
    expect(roundsToRepeat(rounds(1, 1, 1, 1, 1, 1), 4)).toBe(0);
  });

  test('disturbed rounds do not count if enough are quiet, and otherwise the quietest of them do', () => {
    expect(quietestRounds(rounds(0.9, 0.1, 0.5, 0), 2)).toEqual(rounds(0, 0.1));
    expect(quietestRounds(rounds(0.9, 0.4, 0.5), 2)).toEqual(rounds(0.4, 0.5));
  });
});
