import { describe, expect, test } from '@jest/globals';
import { AppError } from './app-error.ts';
import { rowOf, throwableCodes } from './catalogue.ts';
import { fromHttp } from './from-http.ts';
import { locales } from './locales.ts';
import { sampleError } from './sample-error.fixture.ts';
import { toHttp } from './to-http.ts';
import type { ValidationItem } from './validation-item.ts';

describe.each(['en', 'ru'] as const)('toHttp in %s', (locale) => {
  test.each(throwableCodes)('%s has its status, its text and exactly three fields', (code) => {
    const row = rowOf(code);
    const { status, headers, body } = toHttp(sampleError(code), { locale });
    expect(status).toBe(row.http);
    expect(Object.keys(body)).toEqual(['error_code', 'message', 'details']);
    expect(body).toMatchObject({ error_code: code, message: locales[locale][code].message });
    if (row.details !== 'validation-items')
      expect(body.details).toMatchObject({ action: locales[locale][code].action });
    expect(headers).toMatchObject({ 'Content-Language': locale, Vary: 'Accept-Language' });
    expect(headers['X-Error-Code']).toBe(row.domain === 'ENDPOINT' ? row.canonical : code);
    expect(headers['WWW-Authenticate']).toBe(row.challenge);
    expect(headers['Retry-After']).toBe(row.retryAfterSeconds?.toString());
  });
});

describe('toHttp', () => {
  test('answers a taken e-mail address as the specification shows it', () => {
    const error = new AppError('ERR-EMAIL-ALREADY-EXISTS', { details: { rejected_email: 'ann@example.org' } });
    expect(toHttp(error, { locale: 'en' })).toEqual({
      status: 409,
      headers: {
        'Content-Language': 'en',
        Vary: 'Accept-Language',
        'X-Error-Code': 'IAD_AUTH_EMAIL_DUPLICATE',
      },
      body: {
        error_code: 'ERR-EMAIL-ALREADY-EXISTS',
        message: locales.en['ERR-EMAIL-ALREADY-EXISTS'].message,
        details: { rejected_email: 'ann@example.org', action: locales.en['ERR-EMAIL-ALREADY-EXISTS'].action },
      },
    });
  });

  test('names the expired invite in X-Error-Code only where it expired', () => {
    const details = { provided_token: '' };
    const expired = { details, status: 410, canonical: 'IAD_GROUP_INVITE_EXPIRED' } as const;
    const answers = [
      toHttp(new AppError('ERR-INVITE-TOKEN-INVALID', { details }), { locale: 'en' }),
      toHttp(new AppError('ERR-INVITE-TOKEN-INVALID', { details, status: 410 }), { locale: 'en' }),
      toHttp(new AppError('ERR-INVITE-TOKEN-INVALID', expired), { locale: 'en' }),
    ];
    expect(answers.map(({ status, headers }) => [status, headers['X-Error-Code']])).toEqual([
      [404, undefined],
      [410, undefined],
      [410, 'IAD_GROUP_INVITE_EXPIRED'],
    ]);
  });

  test('writes validation items with loc, msg and type only', () => {
    const item = { loc: ['body', 'password'], msg: 'too short', type: 'string_too_short', input: 'secret' } as const;
    const details = [item as unknown as ValidationItem];
    const { status, body } = toHttp(new AppError('ERR-VALIDATION-FAILED', { details }), { locale: 'en' });
    expect(status).toBe(422);
    expect(body.details).toEqual([{ loc: ['body', 'password'], msg: 'too short', type: 'string_too_short' }]);
  });

  test('keeps cause and stack to itself', () => {
    const error = new AppError('ERR-INTERNAL', { cause: new Error('mongodb://user:secret@host') });
    expect(JSON.stringify(toHttp(error, { locale: 'en' }))).not.toMatch(/secret|at .*\.ts|cause|stack/);
  });

  test.each([
    [0, '1'],
    [-5, '1'],
    [0.2, '1'],
    [1.001, '2'],
    [30, '30'],
    [Number.NaN, '1'],
    [Number.POSITIVE_INFINITY, '1'],
  ])('writes a pause of %d s as Retry-After %s', (retryAfterSeconds, header) => {
    const error = new AppError('ERR-OVERLOADED', { retryAfterSeconds });
    expect(toHttp(error, { locale: 'en' }).headers['Retry-After']).toBe(header);
  });

  test('adds the headers of the error, without giving up those of the contract', () => {
    const headers = { Allow: 'GET, POST', vary: 'Origin', 'x-error-code': 'FORGED', 'content-language': 'xx' };
    const answer = toHttp(new AppError('ERR-METHOD-NOT-ALLOWED', { headers }), { locale: 'ru' });
    expect(answer.headers).toEqual({
      Allow: 'GET, POST',
      Vary: 'Origin, Accept-Language',
      'Content-Language': 'ru',
    });
  });

  test('lets the error replace the challenge, for a request that sent no token', () => {
    const headers = { 'www-authenticate': 'Bearer' };
    const answer = toHttp(new AppError('IAD_JWT_ACCESS_INVALID', { headers }), { locale: 'en' });
    expect(answer.headers).toMatchObject(headers);
    expect(answer.headers['WWW-Authenticate']).toBeUndefined();
  });

  test.each(['*', 'accept-language, Origin'])('leaves a Vary of %s alone', (vary) => {
    const answer = toHttp(new AppError('ERR-INTERNAL', { headers: { Vary: vary } }), { locale: 'en' });
    expect(answer.headers.Vary).toBe(vary);
  });
});

describe('fromHttp', () => {
  test.each(throwableCodes)('gives %s back as it was', (code) => {
    const error = sampleError(code);
    const { status, headers, body } = toHttp(error, { locale: 'ru' });
    const back = fromHttp({ status, headers: new Headers(headers), body: JSON.parse(JSON.stringify(body)) });
    expect({ ...back, cause: undefined }).toEqual({ ...error, headers: {}, cause: undefined });
  });

  test('reads canonical code, other status and pause from plain headers, too', () => {
    const options = { status: 410, canonical: 'IAD_GROUP_INVITE_EXPIRED', retryAfterSeconds: 7 } as const;
    const error = new AppError('ERR-INVITE-TOKEN-INVALID', { details: { provided_token: 'x' }, ...options });
    const { status, headers, body } = toHttp(error, { locale: 'en' });
    const lowerCased = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]),
    );
    expect(fromHttp({ status, headers: lowerCased, body })).toMatchObject(options);
  });

  test.each([
    [401, { error_code: 'IAD_SOMETHING_NEW', details: {} }, 'ERR-INTERNAL'],
    [401, '<html>', 'ERR-INTERNAL'],
    [200, { error_code: 'INV_STOCK_MASKED_MINUS', details: {} }, 'ERR-INTERNAL'],
    [500, { error_code: '__proto__' }, 'ERR-INTERNAL'],
    [409, { error_code: 'ERR-EMAIL-ALREADY-EXISTS', details: { rejected_email: 1 } }, 'ERR-INTERNAL'],
    [
      422,
      { error_code: 'ERR-VALIDATION-FAILED', details: [{ loc: 'body', msg: '', type: 'missing' }] },
      'ERR-INTERNAL',
    ],
    [422, { error_code: 'ERR-VALIDATION-FAILED', details: {} }, 'ERR-INTERNAL'],
    [429, undefined, 'ERR-RATE-LIMITED'],
    [502, null, 'ERR-DEPENDENCY-UNAVAILABLE'],
    [503, [], 'ERR-DEPENDENCY-UNAVAILABLE'],
    [504, '', 'ERR-DEPENDENCY-UNAVAILABLE'],
  ])('maps %d with the body %j to %s', (status, body, code) => {
    const error = fromHttp({ status, body });
    expect(error.code).toBe(code);
    expect(error.cause).toEqual({ status, body });
  });

  test('ignores a status that the row does not allow and a pause that is a date', () => {
    const headers = { 'Retry-After': 'Wed, 21 Oct 2026 07:28:00 GMT' };
    const error = fromHttp({ status: 418, headers, body: { error_code: 'ERR-OVERLOADED', details: {} } });
    expect(error).toMatchObject({ code: 'ERR-OVERLOADED', status: 503, retryAfterSeconds: 1 });
  });

  test('leaves out fields of details that the row does not know', () => {
    const details = { available: 2, action: 'x', extra: true };
    const error = fromHttp({ status: 422, body: { error_code: 'INV_STOCK_INSUFFICIENT_OFFICE', details } });
    expect(error.details).toEqual({ available: 2 });
  });
});
