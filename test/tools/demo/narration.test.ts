import { describe, expect, test } from '@jest/globals';
import { fold } from './narration.ts';

describe('a text that is folded', () => {
  test('has no line past the width, begins its lines at the column, and loses nothing but spaces at their ends', () => {
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

  test('is broken in the middle of a word that is longer than a line', () => {
    expect(fold('x'.repeat(45), 20, 0)).toBe(`${'x'.repeat(20)}\n${'x'.repeat(20)}\n${'x'.repeat(5)}`);
  });

  test('stays as it is without a width', () => {
    expect(fold('one, two and three', Number.POSITIVE_INFINITY, 13)).toBe('one, two and three');
  });
});
