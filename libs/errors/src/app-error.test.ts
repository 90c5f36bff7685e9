import { describe, expect, test } from '@jest/globals';
import { AppError, isAppError } from './app-error.ts';
import { isErrorCode, isThrowableCode } from './catalogue.ts';

describe('AppError', () => {
  test('carries what its row says where the thrower says nothing', () => {
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
  });

  test('keeps its cause', () => {
    const cause = new Error('down');
    expect(new AppError('ERR-INTERNAL', { cause }).cause).toBe(cause);
  });

  test('stands for itself where its code is canonical, whatever else is said', () => {
    expect(new AppError('IAD_JWT_ACCESS_EXPIRED', { canonical: 'MDM_RECIPE_NOT_FOUND' }).canonical).toBe(
      'IAD_JWT_ACCESS_EXPIRED',
    );
  });

  // The types forbid each of these; JavaScript callers and casts do not.
  test.each([
    ['INV_STOCK_MASKED_MINUS', {}],
    ['ERR-NO-SUCH-CODE', {}],
    ['toString', {}],
    ['ERR-INTERNAL', { status: 418 }],
    ['ERR-INTERNAL', { canonical: 'ERR-OVERLOADED' }],
    ['ERR-INTERNAL', { canonical: 'constructor' }],
  ])('refuses %s with %j', (code, options) => {
    expect(() => Reflect.construct(AppError, [code, options])).toThrow(TypeError);
  });
});

describe('isAppError', () => {
  test('knows an AppError, also of another copy of the package', () => {
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
  ])('does not take %p for one', (value) => {
    expect(isAppError(value)).toBe(false);
  });
});

test.each(['__proto__', 'constructor', '', 1, undefined])('%p is no code', (value) => {
  expect([isErrorCode(value), isThrowableCode(value)]).toEqual([false, false]);
});
