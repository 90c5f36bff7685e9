import { describe, expect, test } from '@jest/globals';
import { blockedPasswordCheck } from './body-checks.ts';

const check = blockedPasswordCheck((password) => password.toLowerCase() === 'password1');

describe('the check of passwords', () => {
  test('tells of one that is blocked', () => {
    const msg = 'Value error, the password is on a list of common passwords';
    const item = { loc: ['body', 'password'], msg, type: 'value_error' };
    expect(check({ password: 'password1' })).toEqual([item]);
  });

  test.each([
    [{ password: 'correct horse battery' }],
    [{ password: ['password1'] }],
    [{}],
    [null],
    [undefined],
    ['password1'],
  ])('has nothing to say of %j, which is the schema’s affair where it is wrong', (body) => {
    expect(check(body)).toEqual([]);
  });
});
