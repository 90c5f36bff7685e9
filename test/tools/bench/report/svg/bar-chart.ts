import { bodyTop, margin, shortNumber, svgDocument, svgText } from './svg-document.ts';

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** Text behind the bar. */
  readonly shown: string;
  /** Whose value it is: ours, a reference's, or a peer's. */
  readonly kind: 'own' | 'reference' | 'peer';
}

export interface BarGroup {
  readonly label: string;
  readonly bars: readonly Bar[];
  /** An aim: a line across the group. */
  readonly mark?: { readonly value: number; readonly label: string };
}

export interface BarChart {
  readonly title: string;
  readonly subtitle: string;
  readonly groups: readonly BarGroup[];
}

const width = 760;
const labelWidth = 150;
const valueWidth = 110;
const barHeight = 16;
const barStep = 21;
const headHeight = 24;
const groupGap = 14;

/** Draws horizontal bars, one below the other, all on one scale from zero. */
export function barChart({ title, subtitle, groups }: BarChart): string {
  const most = Math.max(...groups.flatMap(({ bars, mark }) => [...bars.map(({ value }) => value), mark?.value ?? 0]));
  const left = margin + labelWidth;
  const scale = (value: number) => (most === 0 ? 0 : (value / most) * (width - left - valueWidth - margin));
  const body: string[] = [];
  let y = bodyTop;
  for (const { label, bars, mark } of groups) {
    body.push(svgText({ x: margin, y: y + 13, class: 'label' }, label));
    if (mark !== undefined) body.push(svgText({ x: left, y: y + 13, class: 'faint' }, `┆ ${mark.label}`));
    y += headHeight;
    const top = y;
    for (const bar of bars) {
      body.push(...drawBar(bar, { x: left, y, width: scale(bar.value) }));
      y += barStep;
    }
    if (mark !== undefined) {
      const x = shortNumber(left + scale(mark.value));
      const line = (name: string) => `<line class="${name}" x1="${x}" y1="${top - 3}" x2="${x}" y2="${y - 1}"/>`;
      body.push(line('halo'), line('mark'));
    }
    y += groupGap;
  }
  return svgDocument({ width, height: y + margin - groupGap, title, subtitle }, body);
}

function drawBar(bar: Bar, at: { x: number; y: number; width: number }): string[] {
  const middle = at.y + barHeight - 4;
  const length = shortNumber(Math.max(1, at.width));
  return [
    svgText({ x: at.x - 8, y: middle, class: bar.kind === 'own' ? 'label' : 'faint', anchor: 'end' }, bar.label),
    `<rect class="${bar.kind}" x="${at.x}" y="${at.y}" width="${length}" height="${barHeight}" rx="2"/>`,
    svgText({ x: at.x + length + 6, y: middle, class: 'value' }, bar.shown),
  ];
}
