import { describe, expect, test } from '@jest/globals';
import { Compile } from 'typebox/schema';
import { AccountResponse, accountExample } from './account.ts';
import { Email, NameOrNull } from './fields.ts';

const pattern = new RegExp((Email as { pattern?: string }).pattern ?? '', 'u');

describe('the pattern of email addresses', () => {
  test.each([
    'a@example.com',
    'First.Last+tag@sub.example.co.uk',
    "!#$%&'*+/=?^_`{|}~-@example.com",
    'a@xn--bcher-kva.example',
    `${'a'.repeat(64)}@${'b'.repeat(63)}.example`,
    '1@1.2.example',
  ])('the pattern of email addresses matches %s', (address) => {
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
    'a@192.0.2.1',
    'ä@example.com',
    'a@exämple.com',
  ])('the pattern of email addresses refuses %j', (address) => {
    expect(pattern.test(address)).toBe(false);
  });

  // Compares sixteen texts with one text that is as long as all of them. In quadratic time, the long text would take 16
  // times as long.
  test.each([
    ['a long local part', (n: number) => 'a'.repeat(n)],
    ['many dots before the @', (n: number) => 'a.'.repeat(n)],
    ['many labels after it', (n: number) => `a@${'b.'.repeat(n)}-`],
    ['long labels after it', (n: number) => `a@${`${'b'.repeat(63)}.`.repeat(n / 64)}!`],
    ['hyphens', (n: number) => `a@${'b-'.repeat(n)}`],
  ])('the pattern of email addresses takes time in proportion to its input, with %s', (_, make) => {
    const [short, long] = [make(25_000), make(400_000)];
    // Measures processor time, because the machine may pause. The system counts this time in steps of some
    // milliseconds.
    const measure = (text: string, times: number) => {
      const before = process.cpuUsage();
      for (let each = 0; each < times; each += 1) pattern.test(text);
      return process.cpuUsage(before).user;
    };
    measure(short, 16);
    const rounds = 4;
    const stepMicroseconds = 20_000;
    expect(measure(long, rounds) / Math.max(measure(short, 16 * rounds), stepMicroseconds)).toBeLessThan(6);
  });
});

/**
 * Hangul fillers, the Braille blank, variation selectors, joiners, a Khmer vowel that is not drawn, direction marks.
 */
const invisible = [
  ...['\u3164', '\uffa0', '\u115f', '\u1160', '\u2800', '\ufe0f', '\u034f', '\u17b4', '\u200c', '\u200d', '\u2060'],
  ...['\u00ad', '\u180e', '\u061c', '\u200e', '\u200f', '\u{e0020}', '\u{e0100}', '\u{1d173}'],
];

/** Combining marks without a base character, and blank characters that Unicode classifies as letters or symbols. */
const bare = [
  ...['\u0301', '\u0336', '\u20e0', '\u1039', '\u2d7f', '\u0a3c', '\u{1107f}', '\u{16fe4}', '\u{13440}'],
  ...['\u{13430}', '\u{1343f}', '\u{13441}', '\u{13442}', '\u{1d159}', '\ufffc', '\u06dd', '\u{110bd}'],
];

describe('the pattern of names', () => {
  const name = new RegExp((NameOrNull as { pattern?: string }).pattern ?? '', 'u');

  test.each([
    'Anna',
    'Анна Петровна',
    ' a ',
    '👩‍🍳',
    '日本',
    'می‌خواهم',
    '.',
    'O’Brien-Núñez',
    '❤️',
    '1️⃣',
    'ศรี',
    '🏴\u{e0067}\u{e0062}\u{e007f}',
    'ශ්‍රී',
    'न्‍',
    'שָׁלוֹם',
    'مُحَمَّد',
    'ᠮᠣᠩᠭᠣᠯ',
    '葛\u{e0100}城',
    '*️⃣',
    '👨‍👩‍👧‍👦',
    '🏳️‍🌈',
    '🇩🇪',
    '\ue000',
    '\u{1fae9}',
  ])('the pattern of names matches %j', (text) => {
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
    ...invisible,
    ...invisible.map((character) => ` ${character}${character}`),
    ...bare,
    ...bare.map((character) => ` ${character}${character}`),
    ...['\u061c', '\u200e', '\u200f', '\u2069', '\u206a', '\ufffa'].map((character) => `Anna${character} (owner)`),
  ])('the pattern of names refuses %j', (text) => {
    expect(name.test(text)).toBe(false);
  });

  test('the pattern of names does not apply to answers: what is stored may be older', () => {
    const answer = { ...accountExample, data: { ...accountExample.data, display_name: '\u3164' } };
    expect(Compile(AccountResponse).Errors(answer)).toEqual([true, []]);
  });

  test('the pattern of names answers in linear time', () => {
    const texts = [`${' '.repeat(65_536)}\n`, `${'a '.repeat(32_768)}\n`];
    for (const text of texts) expect(name.test(text)).toBe(false);
  });
});
