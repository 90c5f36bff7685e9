import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

/** A bad request to the api. */
export interface BodyAttack {
  readonly name: string;
  readonly bytes: Buffer;
  readonly status: number;
}

interface Sent {
  readonly status: number;
  readonly body: string | Buffer;
  readonly headers?: readonly string[];
}

const megabytes = (count: number) => Buffer.alloc(count * 1_048_576);

/** As large as they can be, if their compressed form is to fit into the limit on bodies. */
const bombs = {
  gzip: gzipSync(megabytes(12)),
  deflate: deflateSync(megabytes(12)),
  br: brotliCompressSync(megabytes(64)),
};

const plain = ['Content-Type: application/json'];

/**
 * Returns bodies on which a JSON reader, a decompressor or a decoder might fail. Each is answered, then its connection
 * ends.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table, which is read from top to bottom
export function bodyAttacks(path: string): BodyAttack[] {
  const post = (name: string, { status, body, headers = plain }: Sent): BodyAttack => {
    const bytes = Buffer.from(body);
    const hasLength = headers.some((header) => /^(?:Content-Length|Transfer-Encoding):/.test(header));
    const head = [
      `POST ${path} HTTP/1.1`,
      'Host: a.example',
      'X-Request-ID: body-attack',
      'Connection: close',
      ...headers,
      ...(hasLength ? [] : [`Content-Length: ${bytes.length}`]),
    ];
    return { name, bytes: Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), bytes]), status };
  };
  const chunk = (size: number) => `${size.toString(16)}\r\n${'a'.repeat(size)}\r\n`;
  const members = (count: number) => Array.from({ length: count }, (_, i) => `"k${i}":0`).join(',');
  return [
    post('17 KiB', { status: 413, body: JSON.stringify({ a: 'a'.repeat(17 * 1024) }) }),
    post('a length of 10 GB', { status: 413, body: '{', headers: [...plain, 'Content-Length: 10000000000'] }),
    post('1 MiB in chunks', {
      status: 413,
      body: `${chunk(4_096).repeat(256)}0\r\n\r\n`,
      headers: [...plain, 'Transfer-Encoding: chunked'],
    }),
    post('17,000 chunks of one byte', {
      status: 413,
      body: `${chunk(1).repeat(17_000)}0\r\n\r\n`,
      headers: [...plain, 'Transfer-Encoding: chunked'],
    }),
    ...Object.entries(bombs).flatMap(([encoding, body]) => [
      post(`a bomb of ${encoding}`, { status: 415, body, headers: [...plain, `Content-Encoding: ${encoding}`] }),
      post(`a bomb of ${encoding}, twice named`, {
        status: 415,
        body,
        headers: [...plain, `Content-Encoding: ${encoding}, ${encoding}`],
      }),
    ]),
    post('a coding that nobody knows', { status: 415, body: '{}', headers: [...plain, 'Content-Encoding: zstd'] }),
    post('a bomb that is not announced', { status: 422, body: bombs.gzip }),
    post('JSON as text', { status: 415, body: '{}', headers: ['Content-Type: text/plain'] }),
    post('JSON in UTF-16', { status: 415, body: '{}', headers: ['Content-Type: application/json; charset=utf-16'] }),
    post('no type', { status: 415, body: '{}', headers: [] }),
    post('16,000 arrays that are not closed', { status: 422, body: '['.repeat(16_000) }),
    post('8,000 arrays in each other', { status: 422, body: '['.repeat(8_000) + ']'.repeat(8_000) }),
    post('2,700 objects in each other', { status: 422, body: `${'{"a":'.repeat(2_700)}0${'}'.repeat(2_700)}` }),
    post('deep values of known members', {
      status: 422,
      body: `{"email":${'['.repeat(7_000)}${']'.repeat(7_000)},"password":{},"refresh_token":[]}`,
    }),
    post('1,500 members', { status: 422, body: `{${members(1_500)}}` }),
    post('16,000 digits', { status: 422, body: `{"email":${'9'.repeat(16_000)}}` }),
    post('numbers beyond all', { status: 422, body: '{"email":1e99999,"password":-0,"refresh_token":1E-99999}' }),
    post('a prototype', {
      status: 422,
      body: '{"__proto__":{"email":"a@example.com","password":"long enough","refresh_token":"a"}}',
    }),
    post('a constructor', { status: 422, body: '{"constructor":{"prototype":{"email":1}},"toString":1}' }),
    post('members twice', { status: 422, body: '{"email":"a@example.com","email":"b@example.com"}' }),
    post('lone surrogates', {
      status: 422,
      body: String.raw`{"email":"\ud800@example.com","password":"\udfff","device_name":0,"refresh_token":1}`,
    }),
    post('NULs', {
      status: 422,
      body: String.raw`{"email":"\u0000@example.com","password":"\u0000\u0000","device_name":0,"refresh_token":0}`,
    }),
    ...[
      Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
      Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]),
      Buffer.from([0x22, 0xc0, 0x80, 0x22]),
      Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
      Buffer.from([0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]),
      Buffer.from([0x22, 0xc3, 0x22]),
      Buffer.from([0x80]),
    ].map((body) => post(`bytes ${body.toString('hex')}`, { status: 422, body })),
    post('nothing', { status: 422, body: '' }),
    post('zeros', { status: 422, body: Buffer.alloc(16_000) }),
  ];
}

/** Returns requests with paths and headers that no client sends by mistake, with the expected answers. */
export function oddRequests(): BodyAttack[] {
  const request = (line: string, status: number, ...headers: readonly string[]): BodyAttack => {
    const all = ['Host: a.example', 'Connection: close', ...headers];
    const name = [line, ...headers].join(', ').slice(0, 80);
    return { name, bytes: Buffer.from(`${line} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n`, 'latin1'), status };
  };
  const id = 'X-Request-ID: odd-request';
  const sessions = 'GET /api/v1/auth/sessions';
  return [
    ...['%ff', '%00', '%2e%2e%2f', '%', '%zz', '..;/', '%c0%ae%c0%ae', 'a'.repeat(8_000)].map((segment) =>
      request(`GET /api/v1/invites/${segment}`, 404, id),
    ),
    request('GET /%ff%fe', 404, id),
    request('GET /api/v1/invites/\u00ff\u00fe', 400, id),
    request(`GET /${'/'.repeat(4_000)}`, 404, id),
    request(`GET /api/v1/auth/../../etc/passwd`, 404, id),
    request('GET http://b.example/etc/passwd', 404, id),
    request('OPTIONS *', 404, id),
    request('TRACE /api/v1/auth/login', 405, id),
    request(sessions, 422, 'X-Request-ID: \u00ff\u00fe'),
    request(sessions, 422, `X-Request-ID: ${'a'.repeat(8_000)}`),
    request(sessions, 401, id, 'Authorization: Bearer \u00ff\u00fe'),
    request(sessions, 401, id, `Authorization: Bearer ${'a.'.repeat(6_000)}`),
    request(sessions, 401, id, `Authorization: ${'Bearer '.repeat(1_000)}`),
    request(sessions, 401, id, 'Authorization: Bearer a.b.c', 'Authorization: Bearer d.e.f'),
    request(sessions, 417, id, 'Expect: the unexpected'),
    request(sessions, 401, id, `Accept-Language: ${'*,'.repeat(7_000)}`),
    request(sessions, 401, id, `X-Forwarded-For: ${'1.2.3.4,'.repeat(1_500)}`, 'Forwarded: for="[::1"'),
    request(
      sessions,
      401,
      id,
      'Upgrade: h2c',
      'Connection: Upgrade, HTTP2-Settings',
      'HTTP2-Settings: AAMAAABkAAQAAP__',
    ),
    request(sessions, 401, id, `traceparent: 00-${'f'.repeat(8_000)}`, `baggage: ${'a=b,'.repeat(1_000)}`),
  ];
}
