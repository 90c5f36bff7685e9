import { describe, expect, test } from '@jest/globals';
import { toBase32 } from './base32.ts';
import { newTotpSeed, otpauthUri, totpCode, totpStepOf } from './totp.ts';

/** Seed of RFC 6238, appendix B. */
const seed = Buffer.from('12345678901234567890');
const at = (seconds: number) => new Date(seconds * 1_000);
const stepAt = (seconds: number) => Math.floor(seconds / 30);

describe('codes of TOTP', () => {
  // RFC 6238, appendix B, has eight digits. The last six are ours.
  test.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('the code at %i s is that of RFC 6238', (seconds, code) => {
    expect(totpCode(seed, stepAt(seconds))).toBe(code.slice(-6));
    expect(totpStepOf(seed, code.slice(-6), at(seconds))).toBe(stepAt(seconds));
  });
});

describe('given codes', () => {
  const step = 37_037_036;
  const present = at(step * 30 + 29);

  test.each([-1, 0, 1])('a code %i steps off names its step', (drift) => {
    expect(totpStepOf(seed, totpCode(seed, step + drift), present)).toBe(step + drift);
  });

  test.each([-2, 2])('a code %i steps off is wrong', (drift) => {
    expect(totpStepOf(seed, totpCode(seed, step + drift), present)).toBeUndefined();
  });

  test('a code of another seed, or of another length, is wrong', () => {
    const code = totpCode(seed, step);
    expect(totpStepOf(newTotpSeed(), code, present)).toBeUndefined();
    for (const other of [code.slice(1), `0${code}`, '', `${code} `]) {
      expect(totpStepOf(seed, other, present)).toBeUndefined();
    }
  });
});

test('a seed has 160 bits and is different each time', () => {
  const [one, other] = [newTotpSeed(), newTotpSeed()];
  expect([one.length, other.equals(one)]).toEqual([20, false]);
});

test('the URL for authenticator apps escapes the names', () => {
  const label = { issuer: 'Home & Office', account: 'cook+1@example.com' };
  expect(otpauthUri(label, seed)).toBe(
    'otpauth://totp/Home%20%26%20Office:cook%2B1%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Home%20%26%20Office',
  );
});

describe('encoding in base32', () => {
  // RFC 4648, section 10, without padding.
  test.each([
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ])('base32 of "%s" is that of RFC 4648', (text, encoded) => {
    expect(toBase32(Buffer.from(text))).toBe(encoded);
  });
});
