import { describe, expect, test } from '@jest/globals';
import { barChart } from './bar-chart.ts';
import { lineChart, ticksUpTo } from './line-chart.ts';

const bars = (...values: number[]) =>
  barChart({
    title: 'Cost',
    subtitle: 'ms',
    groups: [
      {
        label: 'login',
        mark: { value: 10, label: 'one hash' },
        bars: values.map((value) => ({ label: `a <b> & "c"`, value, shown: `${value} ms`, kind: 'own' as const })),
      },
    ],
  });

const lines = (...ys: number[][]) =>
  lineChart({
    title: 'Growth',
    subtitle: 'flat is 1',
    xLabel: 'users',
    xScale: 'log',
    showX: String,
    showY: String,
    series: ys.map((of, index) => ({ name: `line ${index}`, points: of.map((y, place) => ({ x: 10 ** place, y })) })),
  });

const numbersOf = (svg: string, tag: RegExp) => [...svg.matchAll(tag)].map(([, found]) => Number(found));

describe('bar chart', () => {
  test('the lengths of bars are in the ratio of their values', () => {
    const [whole = 0, half = 0] = numbersOf(bars(40, 20), /class="own"[^>]* width="([\d.]+)"/g);
    expect(whole / half).toBeCloseTo(2, 1);
  });

  test('a mark beyond the largest bar stays on the drawing', () => {
    const [x = 0] = numbersOf(bars(5), /class="mark" x1="([\d.]+)"/g);
    expect(x).toBeLessThan(760 - 20);
  });

  test('text is escaped', () => {
    expect(bars(1)).toContain('>a &lt;b> &amp; &quot;c&quot;<');
  });

  test('both colour schemes are in the drawing', () => {
    const svg = bars(1);
    expect(svg).toContain('@media(prefers-color-scheme:dark)');
    expect(svg.indexOf('.surface{fill:#ffffff}')).toBeLessThan(svg.indexOf('.surface{fill:#0d1117}'));
  });
});

describe('line chart', () => {
  test('powers of ten are equally far apart', () => {
    const [a = 0, b = 0, c = 0] = numbersOf(lines([1, 1, 1]), /<circle class="dot-0" cx="([\d.]+)"/g);
    expect(b - a).toBeCloseTo(c - b, 0);
  });

  test('a line of equal values is level', () => {
    expect(new Set(numbersOf(lines([1, 1, 1], [2, 3, 4]), /<circle class="dot-0"[^>]* cy="([\d.]+)"/g)).size).toBe(1);
  });

  test('names of lines that end at one place do not cover one another', () => {
    const ys = numbersOf(lines([1, 1], [1, 1], [1, 1]), /<text class="label"[^>]* y="([\d.]+)"[^>]*>line/g);
    expect(ys).toHaveLength(3);
    for (const [index, y] of ys.entries()) if (index > 0) expect(y - (ys[index - 1] ?? 0)).toBeGreaterThanOrEqual(16);
  });

  test('more lines than there are colours are refused', () => {
    expect(() => lines([1], [1], [1], [1], [1], [1])).toThrow(RangeError);
  });

  test.each([
    [1.07, [0, 0.5, 1, 1.5]],
    [4, [0, 1, 2, 3, 4]],
    [87, [0, 25, 50, 75, 100]],
    [0, [0, 1]],
  ])('up to %p the ticks are %p', (most, ticks) => {
    expect(ticksUpTo(most)).toEqual(ticks);
  });
});
