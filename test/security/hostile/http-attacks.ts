/** Bytes that a server must not read differently from a proxy in front of it. */
export interface Attack {
  readonly name: string;
  readonly bytes: Buffer;
  /**
   * `refused`: gets one answer of 4xx (or none), then the connection ends, and no later request on it is answered.
   * `answered`: is odd but correct, so each of its requests gets one answer.
   */
  readonly fate: 'refused' | 'answered';
  /** True if two readers may see different ends of the request. A server must answer it once. */
  readonly isAmbiguous: boolean;
}

/** A port, and the paths to use on it. */
export interface Target {
  /** Answers a GET without a body. */
  readonly readPath: string;
  /** Accepts a body, if any path on this port does. */
  readonly bodyPath: string;
}

const host = 'Host: a.example';
const json = 'Content-Type: application/json';

/** Returns a request that asks for the end of the connection. After a refused request it must never be answered. */
const last = (path: string) => `GET ${path} HTTP/1.1\r\n${host}\r\nX-Request-ID: behind\r\nConnection: close\r\n\r\n`;

/** Text is sent as Latin-1: one byte per character. */
const refused = (name: string, bytes: string | Buffer): Attack => ({
  name,
  bytes: typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes,
  fate: 'refused',
  isAmbiguous: false,
});

/**
 * Returns requests whose length two readers can understand differently (RFC 9112 sections 6.3, 11.2). Another request
 * follows each.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table, which is read from top to bottom
export function smugglingAttacks({ readPath, bodyPath }: Target): Attack[] {
  const behind = last(readPath);
  const post = (name: string, headers: readonly string[], body: string): Attack => {
    const head = [`POST ${bodyPath} HTTP/1.1`, host, json, 'X-Request-ID: smuggling', ...headers];
    return { ...refused(name, `${head.join('\r\n')}\r\n\r\n${body}`), isAmbiguous: true };
  };
  const chunked = `2\r\n{}\r\n0\r\n\r\n${behind}`;
  return [
    post('CL.TE', [`Content-Length: ${5 + behind.length}`, 'Transfer-Encoding: chunked'], `0\r\n\r\n${behind}`),
    post('TE.CL', ['Transfer-Encoding: chunked', 'Content-Length: 4'], chunked),
    post('CL.0 with TE', ['Content-Length: 0', 'Transfer-Encoding: chunked'], chunked),
    ...[
      'Transfer-Encoding: xchunked',
      'Transfer-Encoding: chunked, identity',
      'Transfer-Encoding: chunked;q=1',
      'Transfer-Encoding: "chunked"',
      'Transfer-Encoding: chunke\u0001d',
      'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
      'Transfer-Encoding: identity',
      'Transfer-Encoding: gzip',
      'Transfer-Encoding : chunked',
      'Transfer-Encoding\t: chunked',
      ' Transfer-Encoding: chunked',
      'X: y\r\n Transfer-Encoding: chunked',
      'Transfer-Encoding:\r\n chunked',
      'Transfer-Encoding: chu\0nked',
      'X: y\nTransfer-Encoding: chunked',
      'X: y\rTransfer-Encoding: chunked',
      'Transfer\u00adEncoding: chunked',
    ].map((header) => post(`TE.TE: ${JSON.stringify(header)}`, [header, 'Content-Length: 2'], `{}${behind}`)),
    ...[
      ['Content-Length: 2', 'Content-Length: 2'],
      ['Content-Length: 2', 'Content-Length: 44'],
      ['Content-Length: 2, 2'],
      ['Content-Length: 2, 44'],
      ['Content-Length: +2'],
      ['Content-Length: -1'],
      ['Content-Length: 0x2'],
      ['Content-Length: 2a'],
      ['Content-Length: 2 2'],
      ['Content-Length: '],
      ['Content-Length: 18446744073709551618'],
      ['Content-Length: 99999999999999999999999999999999'],
      ['Content-Length : 2'],
      ['Content\u0000-Length: 2'],
      ['Content-Length: 2\u0000'],
    ].map((headers) => post(headers.map((header) => JSON.stringify(header)).join(' and '), headers, `{}${behind}`)),
    ...[
      '-1\r\n{}\r\n',
      '+2\r\n{}\r\n',
      '0x2\r\n{}\r\n',
      ' 2\r\n{}\r\n',
      '2 \r\n{}\r\n',
      'g\r\n{}\r\n',
      '\r\n{}\r\n',
      'ffffffffffffffff\r\n{}\r\n',
      '10000000000000002\r\n{}\r\n',
      `${'0'.repeat(40)}g\r\n{}\r\n`,
      '2\n{}\n',
      '2\r{}\r',
      '2\r\n{}0\r\n',
      '2\r\n{}x\r\n',
      `2;${'e'.repeat(20_000)}\r\n{}\r\n`,
      '2;\nx\r\n{}\r\n',
    ].map((chunk) =>
      post(`chunk ${JSON.stringify(chunk.slice(0, 24))}`, ['Transfer-Encoding: chunked'], `${chunk}0\r\n\r\n${behind}`),
    ),
    post('a trailer too large', ['Transfer-Encoding: chunked'], `0\r\nX: ${'t'.repeat(20_000)}\r\n\r\n${behind}`),
  ];
}

/** Returns malformed heads (RFC 9112 section 3, RFC 9110 sections 5.1 and 5.5). */
export function malformedHeads({ readPath }: Target): Attack[] {
  const behind = last(readPath);
  const lines = [
    `GET ${readPath}`,
    `GET ${readPath} HTTP/1.1 `,
    `GET ${readPath} HTTP/1.2`,
    `GET ${readPath} HTTP/2.0`,
    `GET ${readPath} HTTP/9.9`,
    `GET ${readPath} http/1.1`,
    `GET ${readPath} HTTP/1.1x`,
    `GET ${readPath} HTTP/11`,
    `GET ${readPath} ICE/1.0`,
    `GET\t${readPath}\tHTTP/1.1`,
    `G\u0000T ${readPath} HTTP/1.1`,
    `GÉT ${readPath} HTTP/1.1`,
    `get ${readPath} HTTP/1.1`,
    `HACK ${readPath} HTTP/1.1`,
    ` GET ${readPath} HTTP/1.1`,
    'GET HTTP/1.1',
    'GET',
    `GET ${readPath}\u0000 HTTP/1.1`,
    `GET ${readPath}\u007f HTTP/1.1`,
    `GET x${readPath} HTTP/1.1`,
    'CONNECT a.example:443 HTTP/1.1',
    'PRI * HTTP/2.0',
  ].map((line) => refused(line, `${line}\r\n${host}\r\n\r\n${behind}`));
  const headers = [
    'no colon',
    ': no name',
    'X Y: z',
    'X\u0000: y',
    'X: y\u0000z',
    'X: y\u0001z',
    'X(: y',
    'Ü: y',
    ' folded: from the start',
    'X: y\r\n\tfolded',
    'X: y\nZ: bare line feed',
    'X: y\rZ: bare carriage return',
  ].map((header) =>
    refused(`header ${JSON.stringify(header)}`, `GET ${readPath} HTTP/1.1\r\n${host}\r\n${header}\r\n\r\n${behind}`),
  );
  return [
    ...lines,
    ...headers,
    {
      ...refused('two spaces', `GET  ${readPath} HTTP/1.1\r\n${host}\r\n\r\n${behind}`),
      fate: 'answered', // RFC 9112 section 3 allows it
    },
    refused('no Host', `GET ${readPath} HTTP/1.1\r\n\r\n${behind}`),
    refused('two Hosts', `GET ${readPath} HTTP/1.1\r\n${host}\r\nHost: b.example\r\n\r\n${behind}`),
    refused('line feeds only', `GET ${readPath} HTTP/1.1\n${host}\n\n${behind}`),
    refused('a TLS hello', Buffer.from('16030100c8010000c40303', 'hex')),
    refused('an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    refused('zeros', Buffer.alloc(4_096)),
    refused('a PROXY protocol line', `PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n${behind}`),
    refused('lines of other protocols', 'EHLO a.example\r\nSTAT\r\n*1\r\n$4\r\nPING\r\n'),
  ];
}

/** Returns heads that are far too large. */
export function headerFloods({ readPath }: Target): Attack[] {
  const behind = last(readPath);
  const get = (name: string, headers: string) =>
    refused(name, `GET ${readPath} HTTP/1.1\r\n${host}\r\n${headers}\r\n${behind}`);
  return [
    get('a header of 20 KB', `X: ${'v'.repeat(20_000)}\r\n`),
    get('a header of 1 MB', `X: ${'v'.repeat(1_000_000)}\r\n`),
    get('a name of 20 KB', `${'n'.repeat(20_000)}: v\r\n`),
    get('3,000 headers', 'X: y\r\n'.repeat(3_000)),
    get('100,000 headers', 'X: y\r\n'.repeat(100_000)),
    get('3,000 names', Array.from({ length: 3_000 }, (_, i) => `X-${i}: y\r\n`).join('')),
    get('a header that never ends', `X: ${'v'.repeat(60_000)}`),
    get('cookies of 64 KB', `Cookie: ${'a=b; '.repeat(13_000)}\r\n`),
    refused('a path of 20 KB', `GET ${readPath}?${'q'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n\r\n${behind}`),
    refused('a method of 1 MB', 'G'.repeat(1_000_000)),
    refused('empty lines without end', '\r\n'.repeat(40_000)),
  ];
}
