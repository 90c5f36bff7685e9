import { describe, expect, test } from '@jest/globals';
import { AppError } from './app-error.ts';
import { rowOf, throwableCodes } from './catalogue.ts';
import { fromHttp } from './from-http.ts';
import { type Locale, locales } from './locales.ts';
import { sampleError } from './sample-error.fixture.ts';
import { toHttp } from './to-http.ts';
import type { ValidationItem } from './validation-item.ts';

describe.each(Object.keys(locales) as Locale[])('toHttp in %s', (locale) => {
  test.each(throwableCodes)('the answer of %s has its status, its text and exactly three fields', (code) => {
    const row = rowOf(code);
    const { status, headers, body } = toHttp(sampleError(code), { locale });
    expect(status).toBe(row.http);
    expect(Object.keys(body)).toEqual(['error_code', 'message', 'details']);
    // The sample has the last of the words that have their own text.
    const text =
      code === 'IAD_JWT_REFRESH_STOLEN' ? locales[locale][code].variants.reason.reused : locales[locale][code];
    expect(body).toMatchObject({ error_code: code, message: text.message });
    if (row.details !== 'validation-items') expect(body.details).toMatchObject({ action: text.action });
    expect(headers).toMatchObject({ 'Content-Language': locale, Vary: 'Accept-Language' });
    expect(headers['X-Error-Code']).toBe(row.domain === 'ENDPOINT' ? row.canonical : code);
    expect(headers['WWW-Authenticate']).toBe(row.challenge);
    expect(headers['Retry-After']).toBe(row.retryAfterSeconds?.toString());
    expect(Object.values(headers)).not.toContain(undefined);
  });
});

describe('toHttp', () => {
  test('toHttp answers a taken email address as the specification shows it', () => {
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

  test.each(Object.keys(locales) as Locale[])('toHttp gives the reason for the end of a session, in %s', (locale) => {
    const own = locales[locale].IAD_JWT_REFRESH_STOLEN;
    for (const reason of ['logged_out', 'revoked', 'replaced', 'session_limit', 'forced', 'reused'] as const) {
      const { body } = toHttp(new AppError('IAD_JWT_REFRESH_STOLEN', { details: { reason } }), { locale });
      const { message, action } = own.variants.reason[reason];
      expect(body).toEqual({ error_code: 'IAD_JWT_REFRESH_STOLEN', message, details: { reason, action } });
    }
  });

  test.each([
    ['no reason', {}],
    ['one of tomorrow', { reason: 'of_tomorrow' }],
    ['one that every object has', { reason: 'constructor' }],
    ['one that is no text', { reason: 7 }],
  ])('toHttp says that a session has ended, without a mention of theft, with %s', (_, given) => {
    const error = new AppError('IAD_JWT_REFRESH_STOLEN', { details: given as { reason: 'reused' } });
    const { body } = toHttp(error, { locale: 'en' });
    expect(body).toMatchObject({ message: 'Your session has ended.', details: { action: 'Log in again.' } });
  });

  test('toHttp names the expired invite in X-Error-Code only where it expired', () => {
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

  test('toHttp writes validation items with loc, msg and type only', () => {
    const item = { loc: ['body', 'password'], msg: 'too short', type: 'string_too_short', input: 'secret' } as const;
    const details = [item as unknown as ValidationItem];
    const { status, body } = toHttp(new AppError('ERR-VALIDATION-FAILED', { details }), { locale: 'en' });
    expect(status).toBe(422);
    expect(body.details).toEqual([{ loc: ['body', 'password'], msg: 'too short', type: 'string_too_short' }]);
  });

  // guarantees: errors-show-nothing
  test('toHttp hides cause and stack', () => {
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
  ])('toHttp writes a pause of %d s as Retry-After %s', (retryAfterSeconds, header) => {
    const error = new AppError('ERR-OVERLOADED', { retryAfterSeconds });
    expect(toHttp(error, { locale: 'en' }).headers['Retry-After']).toBe(header);
  });

  test('toHttp adds the headers of the error, and keeps those of the contract', () => {
    const headers = { Allow: 'GET, POST', vary: 'Origin', 'x-error-code': 'FORGED', 'content-language': 'xx' };
    const answer = toHttp(new AppError('ERR-METHOD-NOT-ALLOWED', { headers }), { locale: 'ru' });
    expect(answer.headers).toEqual({
      Allow: 'GET, POST',
      Vary: 'Origin, Accept-Language',
      'Content-Language': 'ru',
    });
  });

  test('an error can replace the challenge, for a request that sent no token', () => {
    const headers = { 'www-authenticate': 'Bearer' };
    const answer = toHttp(new AppError('IAD_JWT_ACCESS_INVALID', { headers }), { locale: 'en' });
    expect(answer.headers).toMatchObject(headers);
    expect(answer.headers['WWW-Authenticate']).toBeUndefined();
  });

  test.each(['*', 'Origin, *', 'accept-language, Origin', 'Origin , Accept-Language '])(
    'toHttp leaves a Vary of %s alone',
    (vary) => {
      const answer = toHttp(new AppError('ERR-INTERNAL', { headers: { Vary: vary } }), { locale: 'en' });
      expect(answer.headers.Vary).toBe(vary);
    },
  );

  test.each([undefined, '', ' '])('toHttp makes a Vary of %j one of the language alone', (vary) => {
    const headers = vary === undefined ? {} : { Vary: vary };
    expect(toHttp(new AppError('ERR-INTERNAL', { headers }), { locale: 'en' }).headers.Vary).toBe('Accept-Language');
  });
});

describe('fromHttp', () => {
  test.each(throwableCodes)('fromHttp restores %s unchanged', (code) => {
    const error = sampleError(code);
    const { status, headers, body } = toHttp(error, { locale: 'ru' });
    const back = fromHttp({ status, headers: new Headers(headers), body: JSON.parse(JSON.stringify(body)) });
    expect({ ...back, cause: undefined }).toEqual({ ...error, headers: {}, cause: undefined });
  });

  test('fromHttp reads canonical code, other status and pause from plain headers, too', () => {
    const options = { status: 410, canonical: 'IAD_GROUP_INVITE_EXPIRED', retryAfterSeconds: 7 } as const;
    const error = new AppError('ERR-INVITE-TOKEN-INVALID', { details: { provided_token: 'x' }, ...options });
    const { status, headers, body } = toHttp(error, { locale: 'en' });
    expect(fromHttp({ status, headers: new Headers(headers), body })).toMatchObject(options);
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
    [501, {}, 'ERR-INTERNAL'],
    [
      422,
      { error_code: 'ERR-VALIDATION-FAILED', details: [{ loc: ['body', 1], msg: '', type: 'missing' }] },
      'ERR-INTERNAL',
    ],
    [
      422,
      { error_code: 'ERR-VALIDATION-FAILED', details: [{ loc: ['body'], msg: 1, type: 'missing' }] },
      'ERR-INTERNAL',
    ],
    [422, { error_code: 'ERR-VALIDATION-FAILED', details: [{ loc: ['body'], msg: '', type: 'odd' }] }, 'ERR-INTERNAL'],
    [422, { error_code: 'ERR-VALIDATION-FAILED', details: [null] }, 'ERR-INTERNAL'],
    [
      422,
      { error_code: 'ERR-VALIDATION-FAILED', details: [{ loc: ['body'], msg: '', type: 'missing' }, {}] },
      'ERR-INTERNAL',
    ],
    [422, { error_code: 'ERR-VALIDATION-FAILED', details: ['text'] }, 'ERR-INTERNAL'],
    [409, { error_code: 'ERR-EMAIL-ALREADY-EXISTS', details: null }, 'ERR-INTERNAL'],
    [409, { error_code: 'ERR-EMAIL-ALREADY-EXISTS', details: 'text' }, 'ERR-INTERNAL'],
    [409, { error_code: 'ERR-EMAIL-ALREADY-EXISTS' }, 'ERR-INTERNAL'],
  ])('fromHttp maps %d with the body %j to %s', (status, body, code) => {
    const error = fromHttp({ status, body });
    expect(error.code).toBe(code);
    expect(error.cause).toEqual({ status, body });
  });

  test('fromHttp ignores a status that the row does not allow and a pause that is a date', () => {
    const headers = { 'Retry-After': 'Wed, 21 Oct 2026 07:28:00 GMT' };
    const error = fromHttp({ status: 418, headers, body: { error_code: 'ERR-OVERLOADED', details: {} } });
    expect(error).toMatchObject({ code: 'ERR-OVERLOADED', status: 503, retryAfterSeconds: 1 });
  });

  test('fromHttp leaves out fields of details that the row does not know', () => {
    const details = { available: 2, action: 'x', extra: true };
    const error = fromHttp({ status: 422, body: { error_code: 'INV_STOCK_INSUFFICIENT_OFFICE', details } });
    expect(error.details).toEqual({ available: 2 });
  });

  test('fromHttp keeps only those parts of a violation that the contract names', () => {
    const item = { loc: ['body'], msg: 'm', type: 'missing' };
    const body = { error_code: 'ERR-VALIDATION-FAILED', details: [{ ...item, input: 'secret' }] };
    expect(fromHttp({ status: 422, body }).details).toEqual([item]);
  });

  test.each<[string, object | undefined, number | undefined]>([
    ['seconds', { 'Retry-After': '7' }, 7],
    ['seconds of nine digits', { 'retry-after': '123456789' }, 123_456_789],
    ['seconds of ten digits', { 'retry-after': '1234567890' }, undefined],
    ['seconds and more', { 'retry-after': '7 s' }, undefined],
    ['more and seconds', { 'retry-after': 'in 7' }, undefined],
    ['the first of several', { 'retry-after': ['8', '9'] }, 8],
    ['none beside a header that is called get', { get: 'x', 'retry-after': '6' }, 6],
    ['none in a Headers object', new Headers({ 'X-Other': '1' }), undefined],
    ['none', undefined, undefined],
  ])('fromHttp reads from Retry-After %s', (_, headers, expected) => {
    const status = 500;
    const error = fromHttp({ status, headers: headers as Record<string, string> | undefined, body: 'x' });
    expect(error).toMatchObject({ code: 'ERR-INTERNAL', retryAfterSeconds: expected });
  });

  test.each<[unknown, unknown]>([
    [['a', 'b'], { missing_ids: ['a', 'b'] }],
    [[], { missing_ids: [] }],
    [undefined, {}],
    [['a', 1], undefined],
    ['a', undefined],
    [{ every: 1 }, undefined],
    [null, undefined],
  ])('fromHttp accepts %j as a list of texts: %j', (missing_ids, details) => {
    const error = fromHttp({
      status: 422,
      body: { error_code: 'MDM_RECIPE_INTEGRITY_BROKEN', details: { missing_ids } },
    });
    expect(error.code).toBe(details === undefined ? 'ERR-INTERNAL' : 'MDM_RECIPE_INTEGRITY_BROKEN');
    expect(error.details).toEqual(details ?? {});
  });

  test.each<[string, unknown, boolean]>([
    ['passkey_options', { challenge: 'x', allowCredentials: [{ id: 'y' }] }, true],
    ['passkey_options', {}, true],
    ['passkey_options', [], false],
    ['passkey_options', null, false],
    ['passkey_options', 'text', false],
    ['unknown_credential', false, true],
    ['unknown_credential', 'true', false],
    ['unknown_credential', null, false],
  ])('fromHttp accepts as %s the value %j: %j', (field, value, isTaken) => {
    const needed = { challenge_id: 'x', methods: [], expires_at: 'y' };
    const isOptions = field === 'passkey_options';
    const error_code = isOptions ? 'ERR-SECOND-FACTOR-REQUIRED' : 'ERR-PASSKEY-INVALID';
    const details = { ...(isOptions && needed), [field]: value };
    const error = fromHttp({ status: 403, body: { error_code, details } });
    expect([error.code, error.details]).toEqual(isTaken ? [error_code, details] : ['ERR-INTERNAL', {}]);
  });

  test.each<[unknown, unknown]>([
    ['reused', { reason: 'reused' }],
    ['of_tomorrow', {}],
    ['constructor', {}],
    [7, {}],
    [['reused'], {}],
    [undefined, {}],
  ])('fromHttp accepts the reason %j, and restores the error by its code in any case: %j', (reason, details) => {
    const body = { error_code: 'IAD_JWT_REFRESH_STOLEN', details: { reason, action: 'x' } };
    expect(fromHttp({ status: 401, body })).toMatchObject({ code: 'IAD_JWT_REFRESH_STOLEN', status: 401 });
    expect(fromHttp({ status: 401, body }).details).toEqual(details);
  });

  test('fromHttp keeps the cause that it is given', () => {
    const cause = new Error('the answer');
    const failure = { status: 503, body: undefined, cause };
    expect(fromHttp(failure).cause).toBe(cause);
    expect(fromHttp({ ...failure, body: { error_code: 'ERR-OVERLOADED', details: {} } }).cause).toBe(cause);
  });

  test('fromHttp ignores an unknown canonical code', () => {
    const details = { provided_token: 'x' };
    const body = { error_code: 'ERR-INVITE-TOKEN-INVALID', details };
    expect(fromHttp({ status: 410, headers: { 'X-Error-Code': 'IAD_NEW' }, body })).toMatchObject({
      code: 'ERR-INVITE-TOKEN-INVALID',
      status: 410,
      canonical: undefined,
    });
  });
});
