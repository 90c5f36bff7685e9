import { expect, test } from '@jest/globals';
import { createRecoveryCodeHash, findRecoveryCode, newRecoveryCodes, recoveryKeyOf } from './recovery-codes.ts';
import { newTotpSeed } from './totp.ts';

const key = recoveryKeyOf(newTotpSeed());
const codes = newRecoveryCodes();
const stored = codes.map(createRecoveryCodeHash(key));
const [first = '', second = ''] = codes;

test('a set has ten codes of 25 base32 characters in five groups', () => {
  const set = newRecoveryCodes();
  expect(new Set(set).size).toBe(10);
  for (const code of set) expect(code).toMatch(/^([A-Z2-7]{5}-){4}[A-Z2-7]{5}$/);
});

test('the stored form of a code reveals nothing of it', () => {
  for (const hash of stored) expect(hash).toMatch(/^[\w-]{43}$/);
  expect(new Set(stored).size).toBe(10);
});

test('a code that an earlier release has stored is found, also among malformed hashes', () => {
  const code = 'ABCDE-FGHIJ-KLMNO-PQRST-UVWXY';
  const hash = 'EqVjT8y3kuEd2xwSPubm-V2eNDMjOuIU9kqFfQxkRr0';
  expect(findRecoveryCode(recoveryKeyOf(Buffer.from('12345678901234567890')), code, ['short', hash])).toBe(hash);
});

test('a code is found however it is typed', () => {
  const typed = [second, second.toLowerCase(), second.replaceAll('-', ''), second.replaceAll('-', ' ')];
  for (const each of typed) expect(findRecoveryCode(key, each, stored)).toBe(stored[1]);
});

test('digits that base32 does not have are read as the letters that look like them', () => {
  const hash = createRecoveryCodeHash(key);
  expect(hash('01810-OIBIO')).toBe(hash('OIBIO-OIBIO'));
});

test('a code of another set, a used code, a part and another seed are not found', () => {
  const [foreign = ''] = newRecoveryCodes();
  for (const wrong of [foreign, '', first.slice(0, 24), `${first}A`]) {
    expect(findRecoveryCode(key, wrong, stored)).toBeUndefined();
  }
  expect(findRecoveryCode(key, first, stored.slice(1))).toBeUndefined();
  expect(findRecoveryCode(recoveryKeyOf(newTotpSeed()), first, stored)).toBeUndefined();
});
