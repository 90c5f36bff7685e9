import { describe, expect, test } from '@jest/globals';
import { blockedPasswordCheck } from './body-checks.ts';

const check = blockedPasswordCheck((password) => password.toLowerCase() === 'password1', 'password');

describe('the check of passwords', () => {
  test('the check of passwords reports a blocked one', () => {
    const msg = 'Value error, the password is on a list of common passwords';
    const item = { loc: ['body', 'password'], msg, type: 'value_error' };
    expect(check({ password: 'password1' })).toEqual([item]);
  });

  test('the check of passwords looks at its own field only', () => {
    const checkNew = blockedPasswordCheck((password) => password === 'password1', 'new_password');
    expect(checkNew({ password: 'password1' })).toEqual([]);
    expect(checkNew({ new_password: 'password1' })).toMatchObject([{ loc: ['body', 'new_password'] }]);
  });

  test.each([
    [{ password: 'correct horse battery' }],
    [{ password: ['password1'] }],
    [{}],
    [null],
    [undefined],
    ['password1'],
  ])('the check of passwords leaves %j to the schema', (body) => {
    expect(check(body)).toEqual([]);
  });
});
