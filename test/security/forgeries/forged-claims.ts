import { randomUUID } from 'node:crypto';
import type { Forger } from '../../support/api/token-forger.ts';
import { oddValues } from './odd-values.ts';

export function tamperedClaims({ header, claims, genuine, sealed }: Forger): string[] {
  const signature = genuine.split('.')[2] as string;
  const values = [...oddValues, randomUUID(), 'OFFICE', 'admin', 2, Number(claims.exp) + 1, 2 ** 53];
  return Object.entries(claims).flatMap(([name, right]) =>
    values.filter((value) => value !== right).map((value) => sealed(header, { ...claims, [name]: value }, signature)),
  );
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table, which is read from top to bottom
export function wrongClaims({ header, claims, material, signed }: Forger): string[] {
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
