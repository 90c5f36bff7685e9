import { bodyTop, margin, seriesCount, shortNumber, svgDocument, svgText } from './svg-document.ts';

export interface Series {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface LineChart {
  readonly title: string;
  readonly subtitle: string;
  readonly xLabel: string;
  /** `log`: every power of ten has the same width. */
  readonly xScale: 'linear' | 'log';
  readonly showX: (x: number) => string;
  readonly showY: (y: number) => string;
  /** Lines, at most five. */
  readonly series: readonly Series[];
}

const width = 760;
const plotHeight = 260;
const left = margin + 40;
const right = width - 150;
const top = bodyTop + 6;
const bottom = top + plotHeight;
const labelStep = 16;

/** Draws lines from zero up; each has its name at its end. */
export function lineChart(chart: LineChart): string {
  const { title, subtitle, series, xLabel, showX, showY } = chart;
  if (series.length > seriesCount) throw new RangeError(`${series.length} lines have no ${seriesCount} colours`);
  const xs = [...new Set(series.flatMap(({ points }) => points.map(({ x }) => x)))].toSorted((a, b) => a - b);
  const toX = xScale(chart.xScale, xs[0] ?? 0, xs.at(-1) ?? 1);
  const ticks = ticksUpTo(Math.max(...series.flatMap(({ points }) => points.map(({ y }) => y))));
  const most = ticks.at(-1) ?? 1;
  const toY = (y: number) => shortNumber(bottom - (y / most) * plotHeight);
  const grid = ticks.flatMap((tick) => [
    `<line class="grid" x1="${left}" y1="${toY(tick)}" x2="${right}" y2="${toY(tick)}"/>`,
    svgText({ x: left - 8, y: toY(tick) + 4, class: 'faint', anchor: 'end' }, showY(tick)),
  ]);
  const axis = xs.map((x) => svgText({ x: toX(x), y: bottom + 18, class: 'faint', anchor: 'middle' }, showX(x)));
  const lines = series.flatMap(({ points }, index) => [
    `<polyline class="line line-${index}" points="${points.map(({ x, y }) => `${toX(x)},${toY(y)}`).join(' ')}"/>`,
    ...points.map(({ x, y }) => `<circle class="dot-${index}" cx="${toX(x)}" cy="${toY(y)}" r="4"/>`),
  ]);
  const below = svgText({ x: (left + right) / 2, y: bottom + 38, class: 'faint', anchor: 'middle' }, xLabel);
  return svgDocument({ width, height: bottom + 38 + margin, title, subtitle }, [
    ...grid,
    ...axis,
    below,
    ...lines,
    ...names(series, toX, toY),
  ]);
}

function xScale(kind: LineChart['xScale'], first: number, last: number): (x: number) => number {
  const place = kind === 'log' ? Math.log10 : (x: number) => x;
  const span = place(last) - place(first) || 1;
  return (x) => shortNumber(left + 16 + ((place(x) - place(first)) / span) * (right - left - 32));
}

/** Places each name at the end of its line, without overlaps. */
function names(series: readonly Series[], toX: (x: number) => number, toY: (y: number) => number): string[] {
  const ends = series.flatMap(({ name, points }, index) => {
    const end = points.at(-1);
    return end === undefined ? [] : [{ name, index, x: toX(end.x), y: toY(end.y) }];
  });
  let above = Number.NEGATIVE_INFINITY;
  return ends
    .toSorted((a, b) => a.y - b.y)
    .flatMap(({ name, index, x, y }) => {
      above = Math.max(y, above + labelStep);
      return [
        `<rect class="dot-${index}" x="${x + 12}" y="${shortNumber(above - 4)}" width="8" height="8"/>`,
        svgText({ x: x + 25, y: above + 4, class: 'label' }, name),
      ];
    });
}

/** Returns zero and round steps up to the first one that is not below the largest value. */
export function ticksUpTo(most: number): number[] {
  if (!(most > 0)) return [0, 1];
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const count = Math.ceil(most / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}
