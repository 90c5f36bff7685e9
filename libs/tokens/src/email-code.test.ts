import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { parseKeySet } from '@auth-account/verifier/access-token';
import { describe, expect, test } from '@jest/globals';
import { createEmailCodes } from './email-code.ts';

const key = (kid: string) => ({ kty: 'oct', kid, k: randomBytes(32).toString('base64url') });
const [first, second] = [key('s1'), key('s2')];
const set = (...keys: object[]) => parseKeySet(JSON.stringify({ keys }), 'test');
const codes = createEmailCodes(set(first, second));
const parts = {
  kid: 's1',
  challengeId: randomUUID(),
  purpose: 'password_reset',
  userId: randomUUID(),
  emailKey: 'cook@example.com',
} as const;

/** Returns a challenge whose code begins with the given number of zeros. */
function partsWithZeros(zeros: number) {
  for (;;) {
    const tried = { ...parts, challengeId: randomUUID() };
    if (codes.codeOf(tried).startsWith('0'.repeat(zeros))) return tried;
  }
}

test('a code is the last 8 decimal digits of the HMAC over what it is bound to', () => {
  const message = JSON.stringify(['email-code', parts.challengeId, parts.purpose, parts.userId, parts.emailKey]);
  const mac = createHmac('sha256', Buffer.from(first?.k ?? '', 'base64url'))
    .update(message)
    .digest('hex');
  expect(codes.codeOf(parts)).toBe(BigInt(`0x${mac}`).toString().slice(-8));
});

test('a code keeps its leading zeros', () => {
  const withZeros = partsWithZeros(2);
  const code = codes.codeOf(withZeros);
  expect(code).toMatch(/^00\d{6}$/);
  expect(codes.isCodeOf(withZeros, code)).toBe(true);
  expect(codes.isCodeOf(withZeros, String(Number(code)))).toBe(false);
});

test('a code is the same in a process with another newest key', () => {
  const rotated = createEmailCodes(set(key('s3'), second, first));
  expect([codes.currentKid, rotated.currentKid]).toEqual(['s1', 's3']);
  expect(rotated.codeOf(parts)).toBe(codes.codeOf(parts));
});

describe('binding of codes', () => {
  test.each([
    ['challenge', { challengeId: randomUUID() }],
    ['purpose', { purpose: 'email_verification' }],
    ['user', { userId: randomUUID() }],
    ['address', { emailKey: 'thief@example.com' }],
    ['key', { kid: 's2' }],
  ] as const)('a code for another %s is different', (_, change) => {
    // Two codes of 8 digits may be equal by chance, but not three times in a row.
    const isEqual = () => {
      const challenge = { ...parts, challengeId: randomUUID() };
      return codes.codeOf(challenge) === codes.codeOf({ ...challenge, ...change });
    };
    expect([isEqual(), isEqual(), isEqual()]).toContain(false);
  });
});

test.each([
  ['longer', (code: string) => `${code}0`],
  ['shorter', (code: string) => code.slice(1)],
  ['empty', () => ''],
  ['another one', (code: string) => String((Number(code) + 1) % 1e8).padStart(8, '0')],
  ['in other digits', (code: string) => code.replaceAll(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)))],
])('a code that is %s is wrong', (_, change) => {
  expect(codes.isCodeOf(parts, change(codes.codeOf(parts)))).toBe(false);
});

test('a missing key is named, and may arrive', async () => {
  expect(codes.hasKey('gone')).toBe(false);
  expect(() => codes.codeOf({ ...parts, kid: 'gone' })).toThrow('no server key has the kid gone');
  let current = set(first);
  const awaited = createEmailCodes({
    current: () => current,
    async reread() {
      current = set(second, first);
    },
  });
  expect(awaited.hasKey('s2')).toBe(false);
  await awaited.rereadKeys();
  expect(awaited.hasKey('s2')).toBe(true);
});

test('a short secret is refused as a key', () => {
  const short = { kty: 'oct', kid: 'a', k: randomBytes(31).toString('base64url') };
  expect(() => createEmailCodes(set(short))).toThrow('256 bits');
});
