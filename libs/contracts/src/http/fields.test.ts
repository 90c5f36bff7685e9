import { describe, expect, test } from '@jest/globals';
import { Email, NameOrNull } from './fields.ts';

const pattern = new RegExp((Email as { pattern?: string }).pattern ?? '', 'u');

describe('the pattern of e-mail addresses', () => {
  test.each([
    'a@example.com',
    'First.Last+tag@sub.example.co.uk',
    "!#$%&'*+/=?^_`{|}~-@example.com",
    'a@xn--bcher-kva.example',
    `${'a'.repeat(64)}@${'b'.repeat(63)}.example`,
    '1@1.2.example',
  ])('takes %s', (address) => {
    expect(pattern.test(address)).toBe(true);
  });

  test.each([
    '',
    '@example.com',
    'a@',
    'a@localhost',
    'a@@example.com',
    '.a@example.com',
    'a.@example.com',
    'a..b@example.com',
    'a@-example.com',
    'a@example-.com',
    'a@example..com',
    'a@.example.com',
    'a@example.com.',
    `a@${'b'.repeat(64)}.example`,
    'a b@example.com',
    'a@exam ple.com',
    'a@example.com\n',
    '"a b"@example.com',
    'a@[192.0.2.1]',
    'ä@example.com',
    'a@exämple.com',
  ])('refuses %j', (address) => {
    expect(pattern.test(address)).toBe(false);
  });

  // Sixteen texts beside one that is as long as all of them: quadratic would be 16 times.
  test.each([
    ['a long local part', (n: number) => 'a'.repeat(n)],
    ['many dots before the @', (n: number) => 'a.'.repeat(n)],
    ['many labels after it', (n: number) => `a@${'b.'.repeat(n)}-`],
    ['long labels after it', (n: number) => `a@${`${'b'.repeat(63)}.`.repeat(n / 64)}!`],
    ['hyphens', (n: number) => `a@${'b-'.repeat(n)}`],
  ])('costs no more than in proportion to %s', (_, make) => {
    const [short, long] = [make(50_000), make(800_000)];
    // Time of the processor, not of the clock: the machine may stand still. It is told in steps of some milliseconds.
    const measure = (text: string, times: number) => {
      const before = process.cpuUsage();
      for (let each = 0; each < times; each += 1) pattern.test(text);
      return process.cpuUsage(before).user;
    };
    measure(short, 16);
    const rounds = 8;
    const stepMicroseconds = 20_000;
    expect(measure(long, rounds) / Math.max(measure(short, 16 * rounds), stepMicroseconds)).toBeLessThan(6);
  });
});

describe('the pattern of names', () => {
  const name = new RegExp((NameOrNull as { pattern?: string }).pattern ?? '', 'u');

  test.each(['Anna', 'Анна Петровна', ' a ', '👩‍🍳', '日本', 'می‌خواهم', '.', 'O’Brien-Núñez'])('takes %j', (text) => {
    expect(name.test(text)).toBe(true);
  });

  test.each([
    '',
    ' ',
    '\u00a0',
    '\u200b',
    '\ufeff ',
    'a\nb',
    'a\u0000',
    'a\u2028b',
    '\ud800',
    'a\udfffb',
    'Anna\u202egnp',
    '\u2067a',
  ])('refuses %j', (text) => {
    expect(name.test(text)).toBe(false);
  });

  test('answers in linear time', () => {
    const texts = [`${' '.repeat(65_536)}\n`, `${'a '.repeat(32_768)}\n`];
    for (const text of texts) expect(name.test(text)).toBe(false);
  });
});
