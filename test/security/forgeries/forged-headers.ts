import { randomBytes } from 'node:crypto';
import { type Forger, newSigningKey } from '../../support/api/token-forger.ts';
import { oddValues } from './odd-values.ts';

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

export function forgedAlgorithms({
  header,
  claims,
  genuine,
  algorithm,
  publicSpellings,
  signed,
  sealed,
  hmac,
}: Forger) {
  const signature = genuine.split('.')[2] as string;
  return algorithms
    .filter((alg) => alg !== algorithm)
    .flatMap((alg) => {
      const head = { ...header, alg };
      return [
        ...['', 'AA', signature, randomBytes(64), Buffer.alloc(64)].map((text) => sealed(head, claims, text)),
        ...publicSpellings.map((secret) => hmac(head, claims, secret)),
        signed(head, claims),
      ];
    });
}

export function forgedHeaders({ header, claims, signed, sealed, material, algorithm }: Forger): string[] {
  const own = newSigningKey(algorithm, 'own');
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

export function forgedKids({ header, claims, material, algorithm, signed, sealed, hmac }: Forger): string[] {
  const kid = material.key.kid;
  const own = newSigningKey(algorithm, kid);
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
