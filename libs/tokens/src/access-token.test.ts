import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import {
  type AccessTokenAlgorithm,
  createAccessTokenVerifier,
  findExpiredClaims,
  type KeyEntry,
  parseKeySet,
  publicKeySet,
} from '@auth-account/verifier/access-token';
import { describe, expect, test } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader, type JWTHeaderParameters, SignJWT } from 'jose';
import { createAccessTokenSigner } from './access-token.ts';

const pairs = {
  EdDSA: () => generateKeyPairSync('ed25519'),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
} satisfies Record<AccessTokenAlgorithm, () => { privateKey: KeyObject }>;

function newKey(kid: string, algorithm: AccessTokenAlgorithm = 'ES256') {
  const { privateKey } = pairs[algorithm]();
  return { privateKey, jwk: { ...privateKey.export({ format: 'jwk' }), kid } as KeyEntry };
}

const first = newKey('first');
const second = newKey('second', 'EdDSA');
const set = (...keys: KeyEntry[]) => parseKeySet(JSON.stringify({ keys }), 'test');
const settings = {
  keys: set(first.jwk, second.jwk),
  issuer: 'https://a',
  audience: 'food',
  ttlSeconds: 600,
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
const sign = (options = {}) => createAccessTokenSigner({ ...settings, now: at(issuedAt), ...options })(claims);
const verify = async (token: string, options = {}) =>
  (await createAccessTokenVerifier({ ...settings, now: at(issuedAt), ...options }))(token);

test('a signed token is verified, with its claims and expiry', async () => {
  expect(await verify(sign())).toEqual({ ...claims, exp: issuedAt + 600 });
});

test('time, methods and level of the proof are verified claims, if present', async () => {
  const proof = { auth_time: issuedAt - 900, amr: ['pwd', 'otp', 'mfa'], acr: '2' } as const;
  const token = createAccessTokenSigner({ ...settings, now: at(issuedAt) })({ ...claims, ...proof });
  expect(await verify(token)).toEqual({ ...claims, ...proof, exp: issuedAt + 600 });
});

test('the first key signs, and every key of the set verifies', async () => {
  const bySecond = sign({ keys: set(second.jwk, first.jwk) });
  expect(await verify(bySecond)).toMatchObject({ sid: claims.sid });
});

test.each([
  ['ES256', first, undefined],
  ['ES256', first, 'ES256'],
  ['EdDSA', second, undefined],
  ['EdDSA', second, 'EdDSA'],
  ['EdDSA', second, 'Ed25519'],
])(
  'a token is signed by %s if that is the first key’s own algorithm, whose alg may be missing',
  (alg, { jwk }, named) => {
    const keys = set({ ...jwk, ...(named && { alg: named }) }, newKey('another').jwk);
    expect(decodeProtectedHeader(sign({ keys }))).toMatchObject({ alg, kid: jwk.kid });
    expect(publicKeySet(keys).keys[0]).toMatchObject({ alg, kid: jwk.kid });
  },
);

test('each token has its own id, and is for the audience as its client (RFC 9068)', async () => {
  const read = (token: string) => ({ header: decodeProtectedHeader(token), payload: decodeJwt(token) });
  const [one, other] = [read(sign()), read(sign())];
  expect(one.header).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: 'first' });
  expect(one.payload).toEqual({
    ...claims,
    sub: claims.user_id,
    iss: 'https://a',
    aud: 'food',
    client_id: 'food',
    jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
    iat: issuedAt,
    exp: issuedAt + 600,
  });
  expect(other.payload.jti).not.toBe(one.payload.jti);
});

test('the default clock is the system’s, in whole seconds', async () => {
  const signByClock = createAccessTokenSigner(settings);
  const before = Math.floor(Date.now() / 1_000);
  const token = signByClock(claims);
  const { iat = 0 } = decodeJwt(token);
  expect([before, before + 1, before + 2]).toContain(iat);
  expect(await (await createAccessTokenVerifier(settings))(token)).toEqual({ ...claims, exp: iat + 600 });
  expect(decodeJwt(sign({ now: () => issuedAt * 1_000 + 999 })).iat).toBe(issuedAt);
});

test('the leeway is five seconds', async () => {
  const token = sign();
  await expect(verify(token, { now: at(issuedAt + 604) })).resolves.toMatchObject({ ver: 3 });
  await expect(verify(token, { now: at(issuedAt + 605) })).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_EXPIRED' });
});

test('a refusal names the token’s user only where the token has merely expired', async () => {
  const token = sign();
  const refusalAt = (sent: string, seconds: number) =>
    verify(sent, { now: at(seconds) }).catch((error: unknown) => error);
  expect(findExpiredClaims(await refusalAt(token, issuedAt + 605))).toMatchObject({ user_id: claims.user_id });
  expect(findExpiredClaims(await refusalAt(`${token}x`, issuedAt + 605))).toBeUndefined();
  expect(findExpiredClaims(new Error('another'))).toBeUndefined();
});

describe('IAD_JWT_ACCESS_INVALID', () => {
  const good = { ...claims, client_id: 'food', jti: 'j', sub: claims.user_id, iss: 'https://a', aud: 'food' };
  const forge = (payload: object, header: object = {}, key: KeyObject = first.privateKey) =>
    new SignJWT({ iat: issuedAt, exp: issuedAt + 600, ...good, ...payload })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'first', ...header } as JWTHeaderParameters)
      .sign(key);
  const unsigned = (header: object) =>
    [header, { ...good, iat: issuedAt, exp: issuedAt + 600 }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');

  test('a token that is signed correctly raises no IAD_JWT_ACCESS_INVALID', async () => {
    expect(await verify(await forge({}))).toMatchObject({ sid: claims.sid });
  });

  test('the leeway and an account’s first version raise no IAD_JWT_ACCESS_INVALID', async () => {
    expect(await verify(await forge({ iat: issuedAt + 5, nbf: issuedAt + 5 }))).toMatchObject({ sid: claims.sid });
    expect(await verify(await forge({ ver: 0, account_type: 'HOME' }))).toMatchObject({ ver: 0, account_type: 'HOME' });
  });

  test('a lifetime of the setting plus the leeway raises no IAD_JWT_ACCESS_INVALID, for any setting', async () => {
    const longest = await forge({ exp: issuedAt + 605 });
    expect(await verify(longest)).toMatchObject({ exp: issuedAt + 605 });
    await expect(verify(longest, { ttlSeconds: 599 })).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
    expect(await verify(await forge({ exp: issuedAt + 606 }), { ttlSeconds: 601 })).toMatchObject({ ver: 3 });
  });

  test.each<[string, () => Promise<string> | string]>([
    ['text', () => 'x'],
    ['three dots', () => '...'],
    ['alg none', () => `${unsigned({ alg: 'none', typ: 'at+jwt', kid: 'first' })}.`],
    ['no signature', () => `${unsigned({ alg: 'ES256', typ: 'at+jwt', kid: 'first' })}.`],
    ['another typ', () => forge({}, { typ: 'JWT' })],
    ['an unknown kid', () => forge({}, { kid: 'third' })],
    ['no kid', () => forge({}, { kid: undefined })],
    ['the kid of another key', () => forge({}, { kid: 'second' })],
    ['the kid of another key, with its algorithm', () => forge({}, { kid: 'first', alg: 'EdDSA' }, second.privateKey)],
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
    ['a ver that is no whole number', () => forge({ ver: 1.5 })],
    ['a ver below 0', () => forge({ ver: -1 })],
    ['no user', () => forge({ user_id: '', sub: '' })],
    ['a user that is no text', () => forge({ user_id: 1, sub: 1 })],
    ['no session', () => forge({ sid: '' })],
    ['an empty jti', () => forge({ jti: '' })],
    ['an exp that is no time', () => forge({ exp: -1, iat: -2 })],
    ['an iat that is no time', () => forge({ iat: -1 })],
    ['an iat six seconds ahead', () => forge({ iat: issuedAt + 6 })],
    ['an end at its beginning', () => forge({ exp: issuedAt, iat: issuedAt })],
    ['a life that is a second longer than the setting and the leeway', () => forge({ exp: issuedAt + 606 })],
    ['as long a life that began at another time', () => forge({ iat: issuedAt - 300, exp: issuedAt + 306 })],
    ['too long a life that is over', () => forge({ iat: issuedAt - 9_999, exp: issuedAt - 5 })],
    ['an nbf that lies ahead', () => forge({ nbf: issuedAt + 6 })],
    ['an nbf that is no time', () => forge({ nbf: 'now' })],
    ['an nbf that is null', () => forge({ nbf: null })],
    ['no device', () => forge({ device_id: '' })],
    ['a proof that lies ahead', () => forge({ auth_time: issuedAt + 6 })],
    ['a time of proof that is no time', () => forge({ auth_time: 'now' })],
    ['methods that are no list', () => forge({ amr: 'pwd' })],
    ['a method that is no text', () => forge({ amr: ['pwd', 1] })],
    ['a level that is no text', () => forge({ acr: 2 })],
    ['a level that is null', () => forge({ acr: null })],
    ['wrong claims in an expired token', () => forge({ sid: 1, iat: issuedAt - 999, exp: issuedAt - 99 })],
  ])('IAD_JWT_ACCESS_INVALID is raised for %s', async (_, token) => {
    await expect(verify(await token())).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
  });
});

describe('key sets of access tokens', () => {
  test('a key set without a private first key cannot sign', () => {
    const { d: _, ...open } = first.jwk;
    expect(() => sign({ keys: set(open as KeyEntry, second.jwk) })).toThrow('no private part');
  });

  test('a key set is published without its private parts', () => {
    const published = publicKeySet(settings.keys);
    const [{ d: _, ...es }, { d: __, ...ed }] = [first.jwk, second.jwk];
    expect(published.keys).toEqual([
      { ...es, use: 'sig', alg: 'ES256' },
      { ...ed, use: 'sig', alg: 'EdDSA' },
    ]);
  });

  test.each([
    [
      'of another curve',
      { kty: 'OKP', crv: 'X25519' },
      'does not fit ES256 or EdDSA: it must be of kty EC and crv P-256',
    ],
    ['of another kind', { kty: 'EC', crv: 'Ed25519' }, 'or kty OKP and crv Ed25519'],
    ['with the alg of the other kind', { alg: 'EdDSA' }, 'has another alg than its kty and crv: it must be ES256'],
    ['with an unknown alg', { alg: ['ES256'] }, 'has another alg than its kty and crv: it must be ES256'],
  ])('a key set with a key %s is refused, and the message says what fits', async (_, kind, why) => {
    const odd = { ...first.jwk, ...kind } as KeyEntry;
    const message = new RegExp(`^key first .*${why}`);
    await expect(createAccessTokenVerifier({ ...settings, keys: set(odd) })).rejects.toThrow(message);
    expect(() => sign({ keys: set(odd) })).toThrow(message);
  });
});
