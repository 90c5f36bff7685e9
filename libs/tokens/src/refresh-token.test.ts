import { randomBytes, randomUUID } from 'node:crypto';
import { parseKeySet } from '@auth-account/verifier/access-token';
import { describe, expect, test } from '@jest/globals';
import { assertRefreshTokenKeys, createRefreshTokens, refreshTokenHash } from './refresh-token.ts';

const key = (kid: string) => ({ kty: 'oct', kid, k: randomBytes(32).toString('base64url') });
const [first, second] = [key('r1'), key('r2')];
const set = (...keys: object[]) => parseKeySet(JSON.stringify({ keys }), 'test');
const tokens = createRefreshTokens(set(first, second));
const nonce = randomBytes(32);
const parts = { kid: 'r1', sessionId: randomUUID(), generation: 7 };

test('a token reveals its parts, and is the same in every process', () => {
  const token = tokens.issue(parts, nonce);
  expect(tokens.parse(token)).toEqual(parts);
  expect(tokens.isGenuine(token, nonce)).toBe(true);
  expect(createRefreshTokens(set(second, first)).issue(parts, nonce)).toBe(token);
});

test('a token of an older key stays genuine after a newer one has become the first', () => {
  const token = tokens.issue(parts, nonce);
  const rotated = createRefreshTokens(set(key('r3'), first));
  expect(rotated.currentKid).toBe('r3');
  expect(rotated.isGenuine(token, nonce)).toBe(true);
});

describe('tokens that are not genuine', () => {
  const token = tokens.issue(parts, nonce);

  test('a token with any one bit changed is not genuine', () => {
    const bytes = Buffer.from(token, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(tokens.isGenuine(changed.toString('base64url'), nonce)).toBe(false);
    }
  });

  // guarantees: no-refresh-token-stored
  test.each([
    ['for another session’s nonce', token, randomBytes(32)],
    ['of a key that is gone', createRefreshTokens(set(key('gone'))).issue({ ...parts, kid: 'gone' }, nonce), nonce],
    ['in another spelling of the same bytes', `${token}=`, nonce],
    ['with white space', ` ${token}`, nonce],
    ['cut short', token.slice(0, -4), nonce],
    ['empty', '', nonce],
  ])('a token %s is not genuine', (_, text, itsNonce) => {
    expect(tokens.isGenuine(text, itsNonce)).toBe(false);
  });
});

test.each(['', 'x', 'not base64url!', 'A'.repeat(200), randomBytes(80).toString('base64url')])(
  '%j is not a refresh token',
  (text) => {
    expect(tokens.parse(text)).toBeUndefined();
  },
);

test('a secret of 256 bits is accepted, and one byte less is refused', () => {
  const ofBytes = (bytes: number) => set({ kty: 'oct', kid: 'a', k: randomBytes(bytes).toString('base64url') });
  expect(() => assertRefreshTokenKeys(ofBytes(31))).toThrow('key a is no symmetric key of 256 bits or more');
  for (const bytes of [32, 64]) expect(() => assertRefreshTokenKeys(ofBytes(bytes))).not.toThrow();
  expect(() => createRefreshTokens(ofBytes(31))).toThrow('256 bits');
});

test.each([
  ['another kind of key', { kty: 'OKP', kid: 'a', crv: 'Ed25519', x: 'x' }],
  ['a secret under another kind', { kty: 'OKP', kid: 'a', k: randomBytes(32).toString('base64url') }],
  ['a symmetric key without a secret', { kty: 'oct', kid: 'a' }],
  ['a secret that is no text', { kty: 'oct', kid: 'a', k: Array(64).fill(1) }],
])('a key is refused if it is %s', (_, jwk) => {
  expect(() => assertRefreshTokenKeys(set(jwk))).toThrow('256 bits');
});

test('a session holds the SHA-256 of its token in base64url', () => {
  // Test vector of RFC 4634.
  expect(refreshTokenHash('abc')).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
});

describe('limits of making a token', () => {
  test('a token is made for every generation that 32 bits hold, and for no other', () => {
    for (const generation of [0, 0xffff_ffff]) {
      expect(tokens.parse(tokens.issue({ ...parts, generation }, nonce))).toEqual({ ...parts, generation });
    }
    expect(() => tokens.issue({ ...parts, generation: 2 ** 32 }, nonce)).toThrow(
      'the generation of a refresh token does not fit 32 bits',
    );
  });

  test('a token is made only for a session with a UUID', () => {
    for (const sessionId of ['x', '', `${parts.sessionId}00`]) {
      expect(() => tokens.issue({ ...parts, sessionId }, nonce)).toThrow('a session id must be a UUID');
    }
  });

  test('a token is made only by an existing key', () => {
    expect(() => tokens.issue({ ...parts, kid: 'r9' }, nonce)).toThrow('no refresh token key has the kid r9');
  });

  test('a token has its version, the length of its key’s name in bytes, and 32 bytes of proof', () => {
    const named = createRefreshTokens(set(key('ключ')));
    const token = named.issue({ ...parts, kid: 'ключ' }, nonce);
    const bytes = Buffer.from(token, 'base64url');
    expect([bytes[0], bytes[1], bytes.length]).toEqual([1, 8, 2 + 8 + 16 + 4 + 32]);
    expect(named.parse(token)).toEqual({ ...parts, kid: 'ключ' });
  });
});

test.each<[string, (bytes: Buffer) => Buffer]>([
  ['of another version', (bytes) => Buffer.concat([Buffer.from([2]), bytes.subarray(1)])],
  ['one byte too long', (bytes) => Buffer.concat([bytes, Buffer.from([0])])],
  ['one byte too short', (bytes) => bytes.subarray(0, -1)],
  ['whose key has no name', (bytes) => Buffer.concat([Buffer.from([1, 0]), bytes.subarray(4)])],
  ['of one byte', (bytes) => bytes.subarray(0, 1)],
])('a token %s reveals no parts', (_, change) => {
  const bytes = Buffer.from(tokens.issue(parts, nonce), 'base64url');
  expect(tokens.parse(change(bytes).toString('base64url'))).toBeUndefined();
});
