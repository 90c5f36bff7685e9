import { describe, expect, test } from '@jest/globals';
import { type AppError, isAppError } from './app-error.ts';
import { decideWriteOff, type StockAccountType, type WriteOff } from './decide-write-off.ts';

describe('write-offs of what is available', () => {
  test.each<[StockAccountType, number, number, number]>([
    ['HOME', 5, 2, 3],
    ['HOME', 5, 5, 0],
    ['HOME', 0, 0, 0],
    ['OFFICE', 5, 2, 3],
    ['OFFICE', 5, 5, 0],
    ['OFFICE', 0, 0, 0],
  ])('%s: a write-off from %d of %d needs no notice', (accountType, available, requested, balance) => {
    const decision = { balance, displayedBalance: balance, notice: undefined };
    expect(decideWriteOff({ accountType, available, requested })).toEqual(decision);
  });
});

describe('write-offs of more than is available', () => {
  test.each([
    [2, 5, -3],
    [0, 1, -1],
    [-3, 1, -4],
    [-3, 0, -3],
  ])('HOME: a write-off from %d of %d goes below zero, shows 0, and says so', (available, requested, balance) => {
    const decision = { balance, displayedBalance: 0, notice: 'INV_STOCK_MASKED_MINUS' };
    expect(decideWriteOff({ accountType: 'HOME', available, requested })).toEqual(decision);
  });

  test.each([
    ['with its unit', 'kg', { available: 2, unit: 'kg' }],
    ['without a unit', undefined, { available: 2 }],
  ])('OFFICE: a write-off is refused, and the answer says what is available %s', (_, unit, details) => {
    const refusal = refusalOf({ accountType: 'OFFICE', available: 2, requested: 2.5, unit });
    expect(isAppError(refusal)).toBe(true);
    expect(refusal).toMatchObject({ code: 'INV_STOCK_INSUFFICIENT_OFFICE', status: 422 });
    expect((refusal as AppError).details).toStrictEqual(details);
  });
});

test.each([
  ['an account type that nobody knows', { accountType: 'FARM' as StockAccountType }],
  ['a name that every object has', { accountType: 'constructor' as StockAccountType }],
  ['a negative volume', { requested: -1 }],
  ['no number', { requested: Number.NaN }],
  ['an endless stock', { available: Number.POSITIVE_INFINITY }],
])('%s is the caller’s mistake, and no write-off is allowed', (_, change) => {
  const refusal = refusalOf({ accountType: 'HOME', available: 1, requested: 1, ...change });
  expect(refusal).toBeInstanceOf(TypeError);
  const needed = 'accountType' in change ? 'an account type: HOME or OFFICE' : 'finite volumes';
  expect((refusal as Error).message).toMatch(new RegExp(`^A write-off needs ${needed}`));
});

function refusalOf(writeOff: WriteOff): unknown {
  try {
    return decideWriteOff(writeOff);
  } catch (error) {
    return error;
  }
}
