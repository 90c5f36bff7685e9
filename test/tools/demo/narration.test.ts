import { describe, expect, test } from '@jest/globals';
import { check, fold, inTime } from './narration.ts';

describe('folded texts', () => {
  test('a folded text keeps to the width and its column, and loses only spaces at the ends of lines', () => {
    const text = JSON.stringify({
      message: 'a longer text of many words',
      details: Array.from({ length: 40 }, String),
    });
    const lines = fold(text, 60, 13).split('\n');
    expect(lines.length).toBeGreaterThan(3);
    expect(Math.max(...lines.map((line, index) => line.length + (index === 0 ? 13 : 0)))).toBeLessThanOrEqual(60);
    expect(lines.slice(1).every((line) => /^ {13}\S/.test(line))).toBe(true);
    expect(
      lines
        .map((line) => line.trim())
        .join('')
        .replaceAll(' ', ''),
    ).toBe(text.replaceAll(' ', ''));
  });

  test('a folded text breaks a word that is longer than a line', () => {
    expect(fold('x'.repeat(45), 20, 0)).toBe(`${'x'.repeat(20)}\n${'x'.repeat(20)}\n${'x'.repeat(5)}`);
  });

  test('a text without a width stays as it is', () => {
    expect(fold('one, two and three', Number.POSITIVE_INFINITY, 13)).toBe('one, two and three');
  });
});

test('a value that differs from the story ends the demo, with both values', () => {
  check('the close code', 4001, 4001);
  expect(() => check('the close code', 1000, 4001)).toThrow('the close code is 1000, not 4001');
});

test('a result in time is passed on, an error too', async () => {
  expect(await inTime('the frame', Promise.resolve('hello'))).toBe('hello');
  await expect(inTime('the frame', Promise.reject(new Error('no frame')))).rejects.toThrow('no frame');
});
