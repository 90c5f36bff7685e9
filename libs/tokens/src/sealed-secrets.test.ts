import { createDecipheriv, createSecretKey, hkdfSync, randomBytes, randomUUID } from 'node:crypto';
import { type KeySet, parseKeySet } from '@auth-account/verifier/access-token';
import { describe, expect, test } from '@jest/globals';
import { createSealedSecrets } from './sealed-secrets.ts';

const key = (kid: string) => ({ kty: 'oct', kid, k: randomBytes(32).toString('base64url') });
const [first, second] = [key('s1'), key('s2')];
const set = (...keys: object[]): KeySet => parseKeySet(JSON.stringify({ keys }), 'test');
const secrets = createSealedSecrets(set(first));
const owner = { userId: randomUUID(), factorId: randomUUID() };
const seed = randomBytes(20);

test('a sealed secret is AES-256-GCM with 96 bits of IV, bound to user, factor and key', () => {
  const { kid, box } = secrets.seal(seed, owner);
  const serverKey = createSecretKey(Buffer.from(first.k, 'base64url'));
  const derived = Buffer.from(hkdfSync('sha256', serverKey, '', 'sealed-secret', 32));
  const decipher = createDecipheriv('aes-256-gcm', derived, box.subarray(0, 12));
  decipher.setAAD(Buffer.from(JSON.stringify(['sealed-secret', owner.userId, owner.factorId, 's1'])));
  decipher.setAuthTag(box.subarray(-16));
  expect(Buffer.concat([decipher.update(box.subarray(12, -16)), decipher.final()])).toEqual(seed);
  expect([kid, box.length]).toEqual(['s1', 12 + 20 + 16]);
});

test('the same secret is never sealed twice to the same text', () => {
  const boxes = Array.from({ length: 100 }, () => secrets.seal(seed, owner).box);
  expect(new Set(boxes.map((box) => box.toString('hex'))).size).toBe(100);
  expect(new Set(boxes.map((box) => box.toString('hex', 0, 12))).size).toBe(100);
});

describe('sealed secrets that cannot be opened', () => {
  const sealed = secrets.seal(seed, owner);

  test.each([
    ['for another user', { ...owner, userId: randomUUID() }],
    ['for another factor', { ...owner, factorId: randomUUID() }],
  ])('a sealed secret cannot be opened %s', (_, other) => {
    expect(() => secrets.open(sealed, other)).toThrow('unable to authenticate');
  });

  test('a sealed secret cannot be opened if any of its bytes was changed, or is missing', () => {
    for (let place = 0; place < sealed.box.length; place += 1) {
      const box = Buffer.from(sealed.box);
      box.writeUInt8(box.readUInt8(place) ^ 1, place);
      expect(() => secrets.open({ ...sealed, box }, owner)).toThrow('unable to authenticate');
      expect(() => secrets.open({ ...sealed, box: sealed.box.subarray(0, place) }, owner)).toThrow();
    }
  });

  test('a sealed secret cannot be opened under the name of another key', () => {
    const both = createSealedSecrets(set(second, first));
    expect(() => both.open({ ...sealed, kid: 's2' }, owner)).toThrow('unable to authenticate');
    expect(() => secrets.open({ ...sealed, kid: 's2' }, owner)).toThrow('no server key has the kid s2');
  });
});

test('after a rotation the newest key seals, and the older key opens its secrets until it is removed', async () => {
  let keys = set(first);
  const reread = async () => {
    keys = set(second, first);
  };
  const rotating = createSealedSecrets({ current: () => keys, reread });
  const old = rotating.seal(seed, owner);
  expect(rotating.hasKey('s2')).toBe(false);
  await rotating.rereadKeys();
  expect([rotating.hasKey('s1'), rotating.hasKey('s2'), rotating.unusedKids]).toEqual([true, true, ['s2']]);
  expect(rotating.open(old, owner)).toEqual(seed);
  const resealed = rotating.seal(rotating.open(old, owner), owner);
  keys = set(second);
  expect(rotating.open(resealed, owner)).toEqual(seed);
  expect([resealed.kid, rotating.hasKey('s1')]).toEqual(['s2', false]);
});

test('a key that is published before its use causes no new seal, and a retired one does', () => {
  const [next, retired] = [{ ...second, published_at: '2026-11-25T09:00:00Z' }, '2026-11-25T10:00:00Z'];
  expect(createSealedSecrets(set(first, next)).unusedKids).toEqual(['s1', 's2']);
  expect(createSealedSecrets(set(next, { ...first, retired_at: retired })).unusedKids).toEqual(['s2']);
  expect(createSealedSecrets(set(first, { ...next, retired_at: retired })).unusedKids).toEqual(['s1']);
});

test('keys that are not secrets of 256 bits are refused', () => {
  expect(() => createSealedSecrets(set({ kty: 'oct', kid: 'short', k: 'AAAA' }))).toThrow('no symmetric key');
});
