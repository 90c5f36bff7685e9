import { randomBytes } from 'node:crypto';
import type { Forger } from '../../support/api/token-forger.ts';

export function oddJson({ header, claims, signed }: Forger): string[] {
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

export function oddStructures({ header, claims, genuine, signed }: Forger): string[] {
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

/** The longest token still fits into the headers that servers accept. */
export function hugeTokens({ header, claims, signed, sealed }: Forger): string[] {
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
