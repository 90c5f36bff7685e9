import { describe, expect, test } from '@jest/globals';
import { quietestRounds, roundsToRepeat } from './quiet-rounds.ts';
import { standsStill } from './steady-state.ts';

describe('a cost stands still', () => {
  test.each([
    ['after fewer rounds than are compared', [1, 1, 1, 1, 1, 1, 1], false],
    ['when it does not change', [1, 1, 1, 1, 1, 1, 1, 1], true],
    ['when it changed long ago only', [9, 5, 3, 1, 1, 1, 1, 1, 1, 1, 1], true],
    ['while it falls', [2, 1.9, 1.8, 1.7, 1.6, 1.5, 1.4, 1.3], false],
    ['while it rises', [1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2], false],
    ['when it falls by less than a twentieth', [1.04, 1.04, 1.04, 1.04, 1, 1, 1, 1], true],
    ['when it falls by more', [1.06, 1.06, 1.06, 1.06, 1, 1, 1, 1], false],
    ['in spite of one disturbed round', [1, 1, 3, 1, 1, 1, 1, 1], true],
  ])('%s: %p is %p', (_, rounds, still) => {
    expect(standsStill(rounds)).toBe(still);
  });
});

describe('rounds that others disturb', () => {
  const rounds = (...others: number[]) => others.map((each) => ({ others: each }));

  test('are repeated', () => {
    expect(roundsToRepeat(rounds(0, 0.9, 0, 0.8), 4)).toBe(2);
    expect(roundsToRepeat(rounds(0, 0.9, 0, 0.8, 0, 0), 4)).toBe(0);
  });

  test('are repeated up to half as many rounds again as count', () => {
    expect(roundsToRepeat(rounds(1, 1, 1, 1, 1), 4)).toBe(1);
    expect(roundsToRepeat(rounds(1, 1, 1, 1, 1, 1), 4)).toBe(0);
  });

  test('do not count if there are enough quiet ones, and the quietest of them do otherwise', () => {
    expect(quietestRounds(rounds(0.9, 0.1, 0.5, 0), 2)).toEqual(rounds(0, 0.1));
    expect(quietestRounds(rounds(0.9, 0.4, 0.5), 2)).toEqual(rounds(0.4, 0.5));
  });
});
