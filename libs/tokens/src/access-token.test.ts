import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { type JWTHeaderParameters, SignJWT } from 'jose';
import { createAccessTokenSigner } from './access-token.ts';
import { type AccessTokenAlgorithm, publicKeySet } from './access-token-keys.ts';
import { createAccessTokenVerifier } from './access-token-verifier.ts';
import { type KeyEntry, parseKeySet } from './key-file.ts';

const pairs = {
  EdDSA: () => generateKeyPairSync('ed25519'),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
} satisfies Record<AccessTokenAlgorithm, () => { privateKey: KeyObject }>;

function newKey(kid: string, algorithm: AccessTokenAlgorithm = 'EdDSA') {
  const { privateKey } = pairs[algorithm]();
  return { privateKey, jwk: { ...privateKey.export({ format: 'jwk' }), kid } as KeyEntry };
}

const first = newKey('first');
const second = newKey('second');
const set = (...keys: KeyEntry[]) => parseKeySet(JSON.stringify({ keys }), 'test');
const settings = {
  keys: set(first.jwk, second.jwk),
  algorithm: 'EdDSA',
  issuer: 'https://a',
  audience: 'food',
} as const;
const claims = {
  user_id: randomUUID(),
  home_group_id: randomUUID(),
  account_type: 'OFFICE',
  sid: randomUUID(),
  ver: 3,
  device_id: randomUUID(),
} as const;

const at = (seconds: number) => () => seconds * 1_000;
const issuedAt = 1_800_000_000;
const sign = async (options = {}) =>
  (await createAccessTokenSigner({ ...settings, ttlSeconds: 600, now: at(issuedAt), ...options }))(claims);
const verify = async (token: string, options = {}) =>
  (await createAccessTokenVerifier({ ...settings, now: at(issuedAt), ...options }))(token);

test('what was signed is verified, claims and expiry', async () => {
  expect(await verify(await sign())).toEqual({ ...claims, exp: issuedAt + 600 });
});

test('the first key signs, every key of the set verifies', async () => {
  const bySecond = await sign({ keys: set(second.jwk, first.jwk) });
  expect(await verify(bySecond)).toMatchObject({ sid: claims.sid });
});

test('a set of ES256 signs and verifies as configured', async () => {
  const es = { algorithm: 'ES256', keys: set(newKey('e', 'ES256').jwk) } as const;
  expect(await verify(await sign(es), es)).toMatchObject({ ver: 3 });
});

test('the leeway is five seconds', async () => {
  const token = await sign();
  await expect(verify(token, { now: at(issuedAt + 604) })).resolves.toMatchObject({ ver: 3 });
  await expect(verify(token, { now: at(issuedAt + 605) })).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_EXPIRED' });
});

describe('IAD_JWT_ACCESS_INVALID is raised', () => {
  const good = { ...claims, client_id: 'food', jti: 'j', sub: claims.user_id, iss: 'https://a', aud: 'food' };
  const forge = (payload: object, header: object = {}, key: KeyObject = first.privateKey) =>
    new SignJWT({ iat: issuedAt, exp: issuedAt + 600, ...good, ...payload })
      .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: 'first', ...header } as JWTHeaderParameters)
      .sign(key);
  const unsigned = (header: object) =>
    [header, { ...good, iat: issuedAt, exp: issuedAt + 600 }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');

  test('for nothing that the forger of these tests signs rightly', async () => {
    expect(await verify(await forge({}))).toMatchObject({ sid: claims.sid });
  });

  test.each<[string, () => Promise<string> | string]>([
    ['text', () => 'x'],
    ['three dots', () => '...'],
    ['alg none', () => `${unsigned({ alg: 'none', typ: 'at+jwt', kid: 'first' })}.`],
    ['no signature', () => `${unsigned({ alg: 'EdDSA', typ: 'at+jwt', kid: 'first' })}.`],
    ['another typ', () => forge({}, { typ: 'JWT' })],
    ['an unknown kid', () => forge({}, { kid: 'third' })],
    ['no kid', () => forge({}, { kid: undefined })],
    ['the kid of another key', () => forge({}, { kid: 'second' })],
    ['a key of nobody', () => forge({}, {}, newKey('first').privateKey)],
    ['another issuer', () => forge({ iss: 'https://b' })],
    ['another audience', () => forge({ aud: 'bank' })],
    ['no exp', () => forge({ exp: undefined })],
    ['no iat', () => forge({ iat: undefined })],
    ['no jti', () => forge({ jti: undefined })],
    ['an iat far ahead', () => forge({ iat: issuedAt + 60, exp: issuedAt + 660 })],
    ['a subject that is not the user', () => forge({ sub: randomUUID() })],
    ['no group', () => forge({ home_group_id: undefined })],
    ['an unknown account type', () => forge({ account_type: 'BARN' })],
    ['a ver that is no number', () => forge({ ver: '3' })],
    ['no device', () => forge({ device_id: '' })],
    ['wrong claims in an expired token', () => forge({ sid: 1, iat: issuedAt - 999, exp: issuedAt - 99 })],
  ])('for %s', async (_, token) => {
    await expect(verify(await token())).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
  });
});

describe('a key set', () => {
  test('that does not fit the algorithm is refused', async () => {
    await expect(createAccessTokenVerifier({ ...settings, algorithm: 'ES256' })).rejects.toThrow('does not fit ES256');
  });

  test('without a private first key cannot sign', async () => {
    const { d: _, ...open } = first.jwk;
    await expect(sign({ keys: set(open as KeyEntry) })).rejects.toThrow('no private part');
  });

  test('is published without its private parts', () => {
    const published = publicKeySet(settings.keys, 'EdDSA');
    expect(published.keys.map(({ kid }) => kid)).toEqual(['first', 'second']);
    for (const key of published.keys) expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
  });
});
