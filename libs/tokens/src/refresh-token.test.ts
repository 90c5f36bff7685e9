import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { parseKeySet } from './key-file.ts';
import { createRefreshTokens } from './refresh-token.ts';

const key = (kid: string) => ({ kty: 'oct', kid, k: randomBytes(32).toString('base64url') });
const [first, second] = [key('r1'), key('r2')];
const set = (...keys: object[]) => parseKeySet(JSON.stringify({ keys }), 'test');
const tokens = createRefreshTokens(set(first, second));
const nonce = randomBytes(32);
const parts = { kid: 'r1', sessionId: randomUUID(), generation: 7 };

test('a token tells its parts, and is the same whoever makes it', () => {
  const token = tokens.issue(parts, nonce);
  expect(tokens.parse(token)).toEqual(parts);
  expect(tokens.isGenuine(token, nonce)).toBe(true);
  expect(createRefreshTokens(set(second, first)).issue(parts, nonce)).toBe(token);
});

test('a token of an elder key stays genuine after a newer one has become the first', () => {
  const token = tokens.issue(parts, nonce);
  const rotated = createRefreshTokens(set(key('r3'), first));
  expect(rotated.currentKid).toBe('r3');
  expect(rotated.isGenuine(token, nonce)).toBe(true);
});

describe('not genuine is', () => {
  const token = tokens.issue(parts, nonce);

  test('a token with any one bit changed', () => {
    const bytes = Buffer.from(token, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(tokens.isGenuine(changed.toString('base64url'), nonce)).toBe(false);
    }
  });

  test.each([
    ['for another session’s nonce', token, randomBytes(32)],
    ['of a key that is gone', createRefreshTokens(set(key('gone'))).issue({ ...parts, kid: 'gone' }, nonce), nonce],
    ['in another spelling of the same bytes', `${token}=`, nonce],
    ['with white space', ` ${token}`, nonce],
    ['cut short', token.slice(0, -4), nonce],
    ['empty', '', nonce],
  ])('one %s', (_, text, itsNonce) => {
    expect(tokens.isGenuine(text, itsNonce)).toBe(false);
  });
});

test.each(['', 'x', 'not base64url!', 'A'.repeat(200), randomBytes(80).toString('base64url')])(
  '%j is no token',
  (text) => {
    expect(tokens.parse(text)).toBeUndefined();
  },
);

test.each([
  ['a short secret', { kty: 'oct', kid: 'a', k: randomBytes(16).toString('base64url') }],
  ['another kind of key', { kty: 'OKP', kid: 'a', crv: 'Ed25519', x: 'x' }],
])('%s is refused as a key', (_, jwk) => {
  expect(() => createRefreshTokens(set(jwk))).toThrow('256 bits');
});

test('a generation past 32 bits and a session that is no UUID cannot be made', () => {
  expect(() => tokens.issue({ ...parts, generation: 2 ** 32 }, nonce)).toThrow(RangeError);
  expect(() => tokens.issue({ ...parts, sessionId: 'x' }, nonce)).toThrow(TypeError);
  expect(() => tokens.issue({ ...parts, kid: 'none' }, nonce)).toThrow('kid');
});
