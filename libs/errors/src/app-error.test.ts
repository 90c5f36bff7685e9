import { describe, expect, test } from '@jest/globals';
import { AppError, isAppError } from './app-error.ts';
import { isErrorCode, isThrowableCode } from './catalogue.ts';

describe('AppError', () => {
  test('an AppError carries what its row says where the thrower says nothing', () => {
    const error = new AppError('ERR-DEPENDENCY-UNAVAILABLE');
    expect(error).toMatchObject({
      name: 'AppError',
      message: 'ERR-DEPENDENCY-UNAVAILABLE: A store or another service that this one needs cannot be reached.',
      details: {},
      canonical: undefined,
      status: 503,
      retryAfterSeconds: 5,
      headers: {},
    });
    expect('cause' in error).toBe(false);
    expect(error.details).toEqual({});
  });

  test('an AppError keeps its cause', () => {
    const cause = new Error('down');
    expect(new AppError('ERR-INTERNAL', { cause }).cause).toBe(cause);
  });

  test('an AppError with a canonical code is its own canonical code, whatever is given', () => {
    expect(new AppError('IAD_JWT_ACCESS_EXPIRED', { canonical: 'MDM_RECIPE_NOT_FOUND' }).canonical).toBe(
      'IAD_JWT_ACCESS_EXPIRED',
    );
  });

  // The types forbid each of these, but JavaScript callers and casts can pass them.
  test.each([
    ['INV_STOCK_MASKED_MINUS', {}],
    ['ERR-NO-SUCH-CODE', {}],
    ['toString', {}],
    ['ERR-INTERNAL', { status: 418 }],
    ['ERR-INTERNAL', { canonical: 'ERR-OVERLOADED' }],
    ['ERR-INTERNAL', { canonical: 'constructor' }],
  ])('the constructor of AppError refuses %s with %j', (code, options) => {
    expect(() => Reflect.construct(AppError, [code, options])).toThrow(TypeError);
  });

  test.each([
    ['ERR-NO-SUCH-CODE', {}, 'An AppError needs a throwable code of the catalogue'],
    ['ERR-INTERNAL', { status: 418 }, 'The row allows no status 418'],
    [
      'ERR-INTERNAL',
      { canonical: 'ERR-OVERLOADED' },
      'ERR-INTERNAL cannot stand for a code that is not in the catalogue',
    ],
  ])('the constructor of AppError says what is wrong with %s and %j', (code, options, message) => {
    expect(() => Reflect.construct(AppError, [code, options])).toThrow(message);
  });

  test('an AppError has a list of violations as details where its code wants one', () => {
    expect(Reflect.construct(AppError, ['ERR-VALIDATION-FAILED']).details).toEqual([]);
  });
});

describe('isAppError', () => {
  test('isAppError recognizes an AppError, also of another copy of the package', () => {
    const foreign = Object.assign(new Error('x'), {
      [Symbol.for('auth-account.errors.AppError')]: true,
      code: 'ERR-INTERNAL',
    });
    expect([new AppError('ERR-INTERNAL'), foreign].map(isAppError)).toEqual([true, true]);
  });

  test.each([
    [undefined],
    [null],
    [new Error('x')],
    [{ code: 'ERR-INTERNAL', details: {} }],
    [Object.assign(new Error('x'), { code: 'ERR-INTERNAL' })],
    [Object.assign(new Error('x'), { [Symbol.for('auth-account.errors.AppError')]: true, code: 'ERR-OF-TOMORROW' })],
  ])('isAppError refuses %p', (value) => {
    expect(isAppError(value)).toBe(false);
  });
});

test.each(['__proto__', 'constructor', '', 1, undefined, ['ERR-INTERNAL']])('%p is not an error code', (value) => {
  expect([isErrorCode(value), isThrowableCode(value)]).toEqual([false, false]);
});
