import { describe, expect, test } from '@jest/globals';
import { blockedPasswordCheck } from './body-checks.ts';

const check = blockedPasswordCheck((password) => password.toLowerCase() === 'password1', 'password');

describe('the check of passwords', () => {
  test('tells of one that is blocked', () => {
    const msg = 'Value error, the password is on a list of common passwords';
    const item = { loc: ['body', 'password'], msg, type: 'value_error' };
    expect(check({ password: 'password1' })).toEqual([item]);
  });

  test('looks at the field that it is for', () => {
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
  ])('has nothing to say of %j, which is the schema’s affair where it is wrong', (body) => {
    expect(check(body)).toEqual([]);
  });
});
