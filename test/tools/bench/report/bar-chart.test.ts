import { describe, expect, test } from '@jest/globals';
import { barChart } from './bar-chart.ts';

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
