// biome-ignore-all lint/style/noExcessiveLinesPerFile: a table, which is read from top to bottom
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { type Forger, newSigningKey } from './token-forger.ts';

/** Forged tokens, by the idea behind them. */
export type Forgeries = Readonly<Record<string, readonly string[]>>;

const oddValues = [null, undefined, 0, 1, -1, 1.5, true, false, '', ' ', 'x', [], {}, ['x'], { a: 1 }, '\u0000', 'é'];

const algorithms = [
  ...['none', 'None', 'NONE', 'nOnE', 'none ', ' none', '', 'HS256', 'HS384', 'HS512', 'hs256', 'RS256', 'PS512'],
  ...['EdDSA', 'eddsa', 'EDDSA', 'Ed25519', 'Ed448', 'ES256', 'es256', 'ES256K', 'ES384', 'ES512', 'dir', 'A256GCM'],
  ...['RSA-OAEP', 'PBES2-HS256+A128KW', null, undefined, 0, true, [], {}, ['EdDSA'], ['ES256'], { alg: 'EdDSA' }],
];

const kids = [
  ...['../../../../dev/null', '/dev/null', '/etc/passwd', '..\\..\\windows\\win.ini', 'file:///dev/null', '%2e%2e%2f'],
  ...["' OR '1'='1", "x' UNION SELECT 'AAAA' --", '"; DROP TABLE keys; --', '{"$ne":null}', '$where', '| sleep 5 #'],
  ...['$\u007bjndi:ldap://x}', '`id`', '$(id)', 'https://evil.example/keys.json', 'data:,{}', '\u0000', 'ключ'],
  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'undefined', 'null', 'x'.repeat(2_000)],
];

/** Returns every systematic forgery, some two thousand. Forgeries that only change characters are in `spellingsOf`. */
export function forgeriesOf(forger: Forger): Forgeries {
  return {
    algorithms: forgedAlgorithms(forger),
    headers: forgedHeaders(forger),
    kids: forgedKids(forger),
    signatures: forgedSignatures(forger),
    'claims without a new signature': tamperedClaims(forger),
    'claims that are wrong, rightly signed': wrongClaims(forger),
    'JSON that is not as we write it': oddJson(forger),
    structures: oddStructures(forger),
    'keys that are not in force': wrongKeys(forger),
    sizes: hugeTokens(forger),
  };
}

function forgedAlgorithms({ header, claims, genuine, material, publicSpellings, signed, sealed, hmac }: Forger) {
  const signature = genuine.split('.')[2] as string;
  return algorithms
    .filter((alg) => alg !== material.algorithm)
    .flatMap((alg) => {
      const head = { ...header, alg };
      return [
        ...['', 'AA', signature, randomBytes(64), Buffer.alloc(64)].map((text) => sealed(head, claims, text)),
        ...publicSpellings.map((secret) => hmac(head, claims, secret)),
        signed(head, claims),
      ];
    });
}

function forgedHeaders({ header, claims, signed, sealed, material }: Forger): string[] {
  const own = newSigningKey(material.algorithm, 'own');
  const { d: _, ...jwk } = own;
  const pem = 'MIIBszCCAVmgAwIBAgIUQQ==';
  const members: object[] = [
    ...[{ jwk }, { jwk: own }, { jwk: { ...jwk, kid: header.kid } }, { jwk: { kty: 'oct', k: 'AA' } }],
    ...[
      { jku: 'https://evil.example/jwks.json' },
      { jku: 'http://169.254.169.254/' },
      { jku: '/.well-known/jwks.json' },
    ],
    ...[{ x5u: 'https://evil.example/cert.pem' }, { x5c: [pem] }, { x5c: pem }, { x5t: 'AA' }, { 'x5t#S256': 'AA' }],
    ...[
      { crit: ['exp'] },
      { crit: [] },
      { crit: ['x'], x: 1 },
      { crit: ['b64'], b64: false },
      { crit: 'b64', b64: false },
    ],
    ...[{ b64: false }, { b64: true }, { crit: ['b64'], b64: true }, { zip: 'DEF' }, { zip: null }, { cty: 'JWT' }],
    ...[{ enc: 'A256GCM' }, { epk: jwk }, { p2c: 2 ** 31, p2s: 'AA' }, { apu: 'AA' }, { iv: 'AA', tag: 'AA' }],
    ...[{ nonce: 'x' }, { url: 'https://evil.example' }, { iss: material.issuer }, { exp: claims.exp }, { ver: 1 }],
    ...[
      'JWT',
      'jwt',
      'at+JWT',
      'AT+JWT',
      'application/at+jwt',
      'at+jwt ',
      'at',
      '',
      'logout+jwt',
      'dpop+jwt',
      'secevent+jwt',
    ]
      .concat('rt+jwt', 'id+jwt', 'JOSE', 'at+jwt;x')
      .map((typ) => ({ typ })),
    ...oddValues.map((typ) => ({ typ })),
  ];
  return members.flatMap((member) => {
    const head = { ...header, ...member };
    return [
      signed(head, claims),
      signed(head, claims, own),
      signed({ ...head, kid: 'own' }, claims, own),
      sealed(head, claims, Buffer.alloc(64)),
    ];
  });
}

function forgedKids({ header, claims, material, signed, sealed, hmac }: Forger): string[] {
  const kid = material.key.kid;
  const own = newSigningKey(material.algorithm, kid);
  const near = [` ${kid}`, `${kid} `, `${kid}\u0000`, `../${kid}`, `${kid}/../${kid}`, kid.slice(1), `${kid}x`, [kid]];
  const changed = [...kid].map((_, at) => kid.slice(0, at) + kid.slice(at + 1));
  const all = [...kids, ...near, ...changed, { kid }, ...oddValues];
  return all.flatMap((forged) => {
    const head = { ...header, kid: forged };
    return [
      signed(head, claims),
      signed(head, claims, own),
      hmac(head, claims, ''),
      sealed(head, claims, Buffer.alloc(64)),
    ];
  });
}

function forgedSignatures({ header, claims, genuine, sealed }: Forger): string[] {
  const [head, payload, text] = genuine.split('.') as [string, string, string];
  const right = Buffer.from(text, 'base64url');
  const withSignature = (signature: string) => `${head}.${payload}.${signature}`;
  const flipped = Array.from({ length: right.length * 8 }, (_, bit) => {
    const bytes = Buffer.from(right);
    bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    return bytes;
  });
  const half = right.length / 2;
  const bytes: Buffer[] = [
    ...flipped,
    ...[
      Buffer.alloc(0),
      Buffer.alloc(64),
      Buffer.alloc(64, 0xff),
      Buffer.alloc(32),
      Buffer.alloc(65),
      Buffer.alloc(96),
    ],
    Buffer.concat([right.subarray(half), right.subarray(0, half)]),
    Buffer.concat([Buffer.alloc(half), right.subarray(half)]),
    Buffer.concat([right.subarray(0, half), Buffer.alloc(half)]),
    Buffer.concat([right, Buffer.alloc(1)]),
    Buffer.concat([Buffer.alloc(1), right]),
    Buffer.from(right).reverse(),
    derOf(right),
    createHash('sha256').update(`${head}.${payload}`).digest(),
    createHash('sha512').update(`${head}.${payload}`).digest(),
  ];
  return [...bytes.map((signature) => sealed(header, claims, signature)), ...sameBytes(text).map(withSignature)];
}

/** Returns other spellings of the same signature that base64 readers accept. */
function sameBytes(text: string): string[] {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet.indexOf(text.at(-1) as string);
  const trailing = Array.from({ length: 15 }, (_, i) => text.slice(0, -1) + alphabet[last + 1 + i]);
  const standard = text.replaceAll('-', '+').replaceAll('_', '/');
  const padded = ['=', '==', '===', '%3D%3D', '\u0000', '\n', ' ', '\t', '.', '~', '*'].map((end) => text + end);
  const spaced = [1, 20, 43, 85].flatMap((at) =>
    [' ', '\n', '=', '\r\n', '\u00a0'].map((gap) => insert(text, at, gap)),
  );
  // Without a - or _, the standard alphabet spells the signature the same way, so adds no spelling.
  return [...trailing, ...(standard === text ? [] : [standard]), `${standard}==`, ...padded, ...spaced];
}

/** Returns the signature's two halves as ASN.1 integers, as other libraries write ES256. */
function derOf(signature: Buffer): Buffer {
  const integers = [signature.subarray(0, 32), signature.subarray(32)].map((half) => {
    return Buffer.concat([Buffer.from([2, 33, 0]), half]);
  });
  const body = Buffer.concat(integers);
  return Buffer.concat([Buffer.from([48, body.length]), body]);
}

function tamperedClaims({ header, claims, genuine, sealed }: Forger): string[] {
  const signature = genuine.split('.')[2] as string;
  const values = [...oddValues, randomUUID(), 'OFFICE', 'admin', 2, Number(claims.exp) + 1, 2 ** 53];
  return Object.entries(claims).flatMap(([name, right]) =>
    values.filter((value) => value !== right).map((value) => sealed(header, { ...claims, [name]: value }, signature)),
  );
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table, which is read from top to bottom
function wrongClaims({ header, claims, material, signed }: Forger): string[] {
  const { issuer, audience, at } = material;
  const without = Object.keys(claims).filter((name) => name !== 'client_id');
  const oddTimes = [
    null,
    '',
    String(at + 600),
    `${at + 600}.0`,
    at + 600.5,
    -1,
    -at,
    0,
    [],
    [at + 600],
    {},
    true,
    'never',
  ];
  const times = [
    ...oddTimes,
    '9'.repeat(20),
    1e300,
    2 ** 53,
    at - 6,
    at - 600,
    at - 1e8,
    '0x7fffffff',
    new Date(at * 1e3),
  ];
  const changes: Record<string, unknown[]> = {
    iss: [
      `${issuer}/`,
      issuer.toUpperCase(),
      `${issuer}.evil.example`,
      [issuer],
      [issuer, 'x'],
      `${issuer}\u0000`,
      ...oddValues,
    ],
    aud: [
      `${audience} `,
      audience.toUpperCase(),
      [audience],
      [audience, 'bank'],
      ['bank', audience],
      { 0: audience },
      ...oddValues,
    ],
    exp: times.concat(at - 5, at + 606, at + 3_600, at + 86_400),
    iat: oddTimes.concat(at - 6, at + 6, at + 60, at + 599, at + 600, at + 1e8, 2 ** 53),
    nbf: [at + 6, at + 60, at + 1e8, String(at), null, [], {}, 'now', true],
    sub: [randomUUID(), ...oddValues],
    user_id: [randomUUID(), ...oddValues],
    home_group_id: oddValues.filter((value) => typeof value !== 'string' || value === ''),
    sid: oddValues.filter((value) => typeof value !== 'string' || value === ''),
    device_id: oddValues.filter((value) => typeof value !== 'string' || value === ''),
    jti: oddValues.filter((value) => typeof value !== 'string' || value === ''),
    account_type: ['home', 'BARN', 'HOME ', ['HOME'], ...oddValues],
    ver: [null, undefined, -1, 1.5, '1', true, [1], {}, 2 ** 53],
  };
  return [
    ...without.map((name) => signed(header, { ...claims, [name]: undefined })),
    ...Object.entries(changes).flatMap(([name, values]) =>
      values.map((value) => signed(header, { ...claims, [name]: value })),
    ),
    signed(header, { ...claims, iat: at - 1_200, exp: at - 600 }),
    signed(header, { ...claims, iat: at + 600, exp: at + 600 }),
  ];
}

function oddJson({ header, claims, signed }: Forger): string[] {
  const [head, payload] = [JSON.stringify(header), JSON.stringify(claims)];
  const odd = (text: string) => [
    ...[
      ` ${text}`,
      `${text} `,
      `${text}\n`,
      `\ufeff${text}`,
      `${text}{}`,
      `${text},`,
      text.slice(0, -1),
      text.slice(1),
    ],
    ...[
      text.replace('{', '{ '),
      text.replace(':', ': '),
      text.replace('}', ',}'),
      text.replace('{', '{,'),
      `[${text}]`,
    ],
    ...[text.replaceAll('"', "'"), text.replace('{', '{/**/'), `"${text}"`],
    ...['{}', '[]', 'null', '1', '"x"', '', 'true', '\u0000', 'NaN', '{"a":1}', '['.repeat(1_000), '{"a":'.repeat(300)],
  ];
  const again = (text: string, value: object) =>
    Object.entries(value).flatMap(([name, former]) => {
      const member = (given: unknown) => `"${name}":${JSON.stringify(given)}`;
      const escaped = `"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}":${JSON.stringify(former)}`;
      return [
        text.replace('{', `{${member('x')},`),
        text.replace('{', `{${member(former)},`),
        text.replace('}', `,${member(former)}}`),
        text.replace('}', `,${member(null)}}`),
        text.replace(member(former), escaped),
      ];
    });
  return [
    signed(head.replace('{', '{"__proto__":{},'), payload),
    ...[...odd(head), ...again(head, header)].map((text) => signed(text, payload)),
    ...[...odd(payload), ...again(payload, claims)].map((text) => signed(head, text)),
    signed(Buffer.from([0xff, 0xfe]), payload),
    signed(head, Buffer.concat([Buffer.from(payload.slice(0, -1)), Buffer.from([0xff, 0x7d])])),
  ];
}

function oddStructures({ header, claims, genuine, signed }: Forger): string[] {
  const [head, payload, signature] = genuine.split('.') as [string, string, string];
  const text = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const blob = (length: number) => randomBytes(length).toString('base64url');
  const jwe = ['dir', 'A256KW', 'RSA-OAEP-256', 'ECDH-ES', 'PBES2-HS256+A128KW'].flatMap((alg) =>
    ['A128GCM', 'A256GCM', 'A128CBC-HS256'].flatMap((enc) => [
      `${text({ ...header, alg, enc })}.${blob(40)}.${blob(12)}.${blob(300)}.${blob(16)}`,
      `${text({ ...header, alg, enc })}..${blob(12)}.${payload}.${signature}`,
    ]),
  );
  return [
    ...jwe,
    ...['', '.', '..', '...', '....', '.....', 'x', 'null', 'undefined', '[object Object]', 'Bearer', 'é', '🍲.🍲.🍲'],
    ...[
      head,
      `${head}.`,
      `${head}.${payload}`,
      `${head}.${payload}.`,
      `.${payload}.${signature}`,
      `${head}..${signature}`,
    ],
    ...[
      `.${genuine}`,
      `${genuine}.`,
      `${genuine}.${signature}`,
      `${genuine}.x.y`,
      `${genuine}${genuine}`,
      `..${genuine}`,
    ],
    ...[`${payload}.${head}.${signature}`, `${signature}.${payload}.${head}`, `${head}.${head}.${signature}`],
    ...[
      `Bearer ${genuine}`,
      `"${genuine}"`,
      `'${genuine}'`,
      `${genuine};`,
      `${genuine}?`,
      `${genuine}#x`,
      encodeURI(`${genuine} `),
    ],
    JSON.stringify({ protected: head, payload, signature }),
    JSON.stringify({ payload, signatures: [{ protected: head, signature }] }),
    signed({ ...header, cty: 'JWT' }, genuine),
    signed(header, genuine),
    signed(header, [claims]),
    Buffer.from(genuine).toString('base64url'),
    genuine.toLowerCase(),
    genuine.toUpperCase(),
    [...genuine].reverse().join(''),
  ];
}

function wrongKeys({ header, claims, retired, foreign, material, signed, sealed }: Forger): string[] {
  const other = material.algorithm === 'EdDSA' ? 'ES256' : 'EdDSA';
  const heads = [
    header,
    { ...header, kid: retired.kid },
    { ...header, alg: other },
    { ...header, kid: foreign.kid, alg: other },
  ];
  const keys = [retired, foreign, newSigningKey(material.algorithm, material.key.kid), newSigningKey(other, 'x')];
  const payloads = Array.from({ length: 5 }, () => ({ ...claims, jti: randomUUID() }));
  return heads.flatMap((head) =>
    payloads.flatMap((payload) => [
      ...keys.map((key) => signed(head, payload, key)),
      ...(head === header ? [] : [signed(head, payload)]),
      sealed(head, payload, randomBytes(64)),
    ]),
  );
}

/** The longest token still fits into the headers that servers accept. */
function hugeTokens({ header, claims, signed, sealed }: Forger): string[] {
  return [4_000, 6_000, 8_000].flatMap((length) => {
    const filling = 'x'.repeat(length);
    return [
      signed(header, { ...claims, filling }),
      signed({ ...header, filling }, claims),
      signed({ ...header, kid: filling }, claims),
      sealed(header, claims, filling),
      '.'.repeat(length),
      filling,
    ];
  });
}

function insert(text: string, at: number, gap: string): string {
  return text.slice(0, at) + gap + text.slice(at);
}

/** Returns the genuine token with one character changed or added, or cut short: some nine thousand tokens. */
export function spellingsOf({ genuine }: Forger): Forgeries {
  const places = [...genuine].map((_, at) => at);
  const replacements = [...'AgQwZz09-_', '=', '+', '.', ' ', 'é'];
  const gaps = ['=', ' ', '\n', '\u0000', '.', 'A'];
  return {
    'one character changed': places.flatMap((at) =>
      replacements.filter((c) => c !== genuine[at]).map((c) => genuine.slice(0, at) + c + genuine.slice(at + 1)),
    ),
    'one character too many': places
      .filter((at) => at % 5 === 0)
      .flatMap((at) => gaps.map((gap) => insert(genuine, at, gap))),
    'cut short': places.flatMap((at) => [genuine.slice(0, at), ...(at === 0 ? [] : [genuine.slice(at)])]),
  };
}
