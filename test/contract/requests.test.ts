import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { exchange } from '../support/gateway/raw-connection.ts';
import { send } from '../support/http-client.ts';

const path = '/api/v1/auth/register';
const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let api: TestApi;
let generating: TestApi;
beforeAll(async () => {
  [api, generating] = await Promise.all([
    startTestApi(),
    startTestApi({ REQUEST_ID_MODE: 'generate', ALLOWED_ORIGINS: 'https://app.example.com,capacitor://localhost' }),
  ]);
});
afterAll(() => Promise.all([api.close(), generating.close()]));

/** Sends exactly these headers: name, value, name, value, … */
function rawHeaders(list: readonly string[], target = api) {
  const headers: Record<string, string[]> = {};
  list.forEach((name, i) => {
    if (i % 2 === 0) headers[name] = [...(headers[name] ?? []), list[i + 1] ?? ''];
  });
  return send(target.base, { path, headers, body: {} });
}

describe('X-Request-ID', () => {
  // guarantees: request-id
  test('an X-Request-ID is echoed, on errors too', async () => {
    const answer = await api.registerAccount({}, { 'X-Request-ID': 'a.B-9_~:/+=' });
    expect(answer.status).toBe(422);
    expect(answer.headers['x-request-id']).toBe('a.B-9_~:/+=');
  });

  test.each(['', undefined])(
    'a missing or empty X-Request-ID (%j) answers 400 PMA_TRACE_ID_MISSING with a generated id',
    async (value) => {
      const headers = value === undefined ? [] : ['X-Request-ID', value];
      const answer = await rawHeaders(['Content-Type', 'application/json', ...headers]);
      expect(answer.status).toBe(400);
      expect(answer.json).toMatchObject({ error_code: 'PMA_TRACE_ID_MISSING' });
      expect(answer.headers['x-error-code']).toBe('PMA_TRACE_ID_MISSING');
      expect(answer.headers['x-request-id']).toMatch(uuidV4);
    },
  );

  test.each([
    ['with white space', ['X-Request-ID', 'a b']],
    ['of 129 characters', ['X-Request-ID', 'x'.repeat(129)]],
    ['doubled', ['X-Request-ID', 'one', 'X-Request-ID', 'two']],
  ])('an X-Request-ID %s answers 422 and is not echoed', async (_, headers) => {
    const answer = await rawHeaders(['Content-Type', 'application/json', ...headers]);
    expect(answer.status).toBe(422);
    expect(answer.json.details).toEqual([
      { loc: ['header', 'X-Request-ID'], msg: expect.any(String), type: 'string_pattern_mismatch' },
    ]);
    expect(answer.headers['x-request-id']).toMatch(uuidV4);
  });

  test('an X-Request-ID is generated if the configuration says so', async () => {
    const { status, headers } = await rawHeaders(['Content-Type', 'application/json'], generating);
    expect(status).toBe(422); // the empty body's, not the header's
    expect(headers['x-request-id']).toMatch(uuidV4);
  });
});

describe('the body', () => {
  test.each([
    ['text', 'text/plain'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['JSON in another charset', 'application/json; charset=utf-16'],
    ['a relative of JSON', 'application/problem+json'],
  ])('a body of %s answers 415', async (_, type) => {
    const answer = await api.send({ path, body: '{}', headers: { 'Content-Type': type } });
    expect(answer.status).toBe(415);
    expect(answer.json.error_code).toBe('ERR-UNSUPPORTED-MEDIA-TYPE');
  });

  test.each(['Application/JSON; charset="UTF-8"', 'application/json;', 'application/json ; charset=utf-8;'])(
    'a body of the media type %s is taken',
    async (type) => {
      expect((await api.registerAccount({}, { 'Content-Type': type })).status).toBe(422);
    },
  );

  test('null for an optional field counts as absent', async () => {
    const nothing: object = { device_id: null, device_name: null, platform: null, trusted_device_token: null };
    const body = { email: 'nobody@example.com', password: 'correct horse battery', ...nothing };
    expect((await api.logIn(body)).status).toBe(401);
  });

  test('a compressed body answers 415', async () => {
    const answer = await api.send({ path, body: 'x', headers: { 'Content-Encoding': 'gzip' } });
    expect(answer.status).toBe(415);
  });

  test.each([
    ['no JSON', '{"email":'],
    ['nothing', ''],
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
    ['a byte order mark', Buffer.from('\ufeff{}')],
    ['a duplicate key', '{"email":"a@example.com","email":"b@example.com"}'],
    ['brackets without end', '['.repeat(16_000)],
  ])('a body with %s answers 422 json_invalid', async (_, body) => {
    const answer = await api.send({ path, body });
    expect(answer.status).toBe(422);
    expect(answer.json.details).toEqual([{ loc: ['body'], msg: expect.any(String), type: 'json_invalid' }]);
  });
});

describe('an announced body of 10 GB', () => {
  const id = 'X-Request-ID: huge';
  const json = 'Content-Type: application/json';
  test.each([
    ['at an unknown path', 404, 'POST /api/v1/nothing', [id, json]],
    ['for another method', 405, `PUT ${path}`, [id, json]],
    ['without a request id', 400, `POST ${path}`, [json]],
    ['without a token', 401, 'POST /api/v1/auth/logout', [id, json]],
    ['as text', 415, `POST ${path}`, [id, 'Content-Type: text/plain']],
    ['as JSON', 413, `POST ${path}`, [id, json]],
  ])(
    'a body of 10 GB %s is refused with %i before any of it is read, and the connection ends',
    async (_, status, line, headers) => {
      const head = [`${line} HTTP/1.1`, 'Host: a.example', ...headers, 'Content-Length: 10000000000'];
      const answer = await exchange(api.base, `${head.join('\r\n')}\r\n\r\n`, { waitMs: 60_000 });
      expect(answer).toMatchObject({ statuses: [status], endedMs: expect.any(Number) });
      expect(answer.text).toMatch(/^Connection: close\r$/m);
    },
  );
});

describe('routing', () => {
  test('an unknown path answers 404', async () => {
    const answer = await api.send({ method: 'GET', path: '/api/v1/nothing' });
    expect(answer.status).toBe(404);
    expect(answer.json.error_code).toBe('ERR-ROUTE-NOT-FOUND');
    expect(answer.headers['content-type']).toBe('application/json');
  });

  test.each(['GET', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'])(
    'the method %s at a path without it answers 405 with Allow',
    async (method) => {
      const answer = await api.send({ method, path });
      expect(answer.status).toBe(405);
      expect(answer.headers.allow).toBe('POST');
      expect(answer.json.error_code).toBe('ERR-METHOD-NOT-ALLOWED');
    },
  );

  test('a path that is no valid percent-encoding answers 404', async () => {
    expect((await api.send({ method: 'GET', path: '/api/v1/%zz' })).status).toBe(404);
  });
});

describe('languages', () => {
  test.each([
    [undefined, 'en'],
    ['ru', 'ru'],
    ['de, ru;q=0.8, en;q=0.5', 'ru'],
    ['fr', 'en'],
  ])('Accept-Language %j is answered in %s', async (language, locale) => {
    const answer = await api.registerAccount({}, language === undefined ? {} : { 'Accept-Language': language });
    expect(answer.headers['content-language']).toBe(locale);
    expect(answer.headers.vary).toBe('Accept-Language');
    expect(/[а-я]/i.test(answer.json.message)).toBe(locale === 'ru');
  });
});

test('every answer carries the security headers of an API, and none names the framework', async () => {
  const { headers } = await api.registerAccount({});
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'strict-transport-security': expect.stringMatching(/^max-age=\d+/),
  });
  expect(headers['x-powered-by']).toBeUndefined();
});

describe('a page on another origin', () => {
  const origin = 'capacitor://localhost';
  const preflight = (from: string, on = generating) => {
    const headers = { Origin: from, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'dpop' };
    return send(on.base, { method: 'OPTIONS', path, headers });
  };

  test('the preflight of a page of an allowed origin is answered with what it may send, and without credentials', async () => {
    const { status, headers } = await preflight(origin);
    expect([status, headers['access-control-allow-origin'], headers.vary]).toEqual([204, origin, 'Origin']);
    expect(headers['access-control-allow-headers']?.split(',')).toEqual(
      expect.arrayContaining([
        'Authorization',
        'Content-Type',
        'DPoP',
        'Idempotency-Key',
        'X-Device-Secret',
        'X-Request-ID',
      ]),
    );
    expect(headers['access-control-allow-methods']).toBe('GET,POST,PUT,PATCH,DELETE');
    expect(headers['access-control-max-age']).toBe('7200');
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  });

  test('a page of an allowed origin may read an answer, an error too, and the headers that apps need', async () => {
    const { status, headers } = await generating.registerAccount({}, { Origin: origin });
    expect([status, headers['access-control-allow-origin']]).toEqual([422, origin]);
    expect(headers.vary?.split(', ').toSorted()).toEqual(['Accept-Language', 'Origin']);
    expect(headers['access-control-expose-headers']?.split(',')).toEqual(
      expect.arrayContaining(['Date', 'Retry-After', 'WWW-Authenticate', 'X-Error-Code', 'X-Request-ID']),
    );
  });

  test.each(['https://evil.example', 'null', 'https://app.example.com.evil.example', 'http://app.example.com'])(
    'a page of %s gets no permission',
    async (other) => {
      const answers = [await preflight(other), await generating.registerAccount({}, { Origin: other })];
      for (const { headers } of answers) expect(headers['access-control-allow-origin']).toBeUndefined();
    },
  );

  test('a page of no origin is allowed by default', async () => {
    expect((await preflight(origin, api)).status).toBe(400);
    const { headers } = await api.registerAccount({}, { Origin: origin });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});
