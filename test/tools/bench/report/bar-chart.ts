export interface Bar {
  readonly label: string;
  readonly value: number;
  /** Text after the bar. */
  readonly shown: string;
  /** Owner of the value: us, a reference, or a peer. */
  readonly kind: 'own' | 'reference' | 'peer';
}

export interface BarGroup {
  readonly label: string;
  readonly bars: readonly Bar[];
  /** An aim, drawn as a line across the group. */
  readonly mark?: { readonly value: number; readonly label: string };
}

export interface BarChart {
  readonly title: string;
  readonly subtitle: string;
  readonly groups: readonly BarGroup[];
}

/** Margin around the drawing, and the top of its body. */
const margin = 20;
const bodyTop = 64;

const width = 760;
const labelWidth = 150;
const valueWidth = 110;
const barHeight = 16;
const barStep = 21;
const headHeight = 24;
const groupGap = 14;

/** Draws horizontal bars, one below another, all on one scale from zero. */
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

/** A drawing with both colour schemes, on its own background, so that it is readable on any page. */
interface DrawingOptions {
  readonly width: number;
  readonly height: number;
  /** Heading and text alternative. */
  readonly title: string;
  /** The measured quantity and its unit, shown below the heading. */
  readonly subtitle: string;
}

const schemes = {
  light: {
    ...{ surface: '#ffffff', text: '#1f2328', faint: '#59636e' },
    ...{ own: '#0969da', reference: '#57606a', peer: '#b5bdc6' },
  },
  dark: {
    ...{ surface: '#0d1117', text: '#f0f6fc', faint: '#9198a1' },
    ...{ own: '#58a6ff', reference: '#aab3bd', peer: '#545d68' },
  },
} as const;

function rules({ surface, text, faint, own, reference, peer }: (typeof schemes)['light' | 'dark']): string {
  return (
    `.surface{fill:${surface}}.title,.value,.label{fill:${text}}.faint{fill:${faint}}` +
    `.mark{stroke:${text}}.halo{stroke:${surface}}.own{fill:${own}}.reference{fill:${reference}}.peer{fill:${peer}}`
  );
}

const shapes =
  'text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif}.title{font-size:15px;font-weight:600}' +
  '.value{font-variant-numeric:tabular-nums}.mark{stroke-width:1;stroke-dasharray:4 3}.halo{stroke-width:3}';

function svgDocument({ width, height, title, subtitle }: DrawingOptions, body: readonly string[]): string {
  const style = `${shapes}${rules(schemes.light)}@media(prefers-color-scheme:dark){${rules(schemes.dark)}}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">`,
    `<title id="title">${escaped(`${title}. ${subtitle}`)}</title>`,
    `<style>${style}</style>`,
    `<rect class="surface" width="${width}" height="${height}" rx="6"/>`,
    svgText({ x: margin, y: 26, class: 'title' }, title),
    svgText({ x: margin, y: 45, class: 'faint' }, subtitle),
    ...body,
    '</svg>\n',
  ].join('\n');
}

interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly class: string;
  readonly anchor?: 'start' | 'middle' | 'end';
}

function svgText({ x, y, class: name, anchor = 'start' }: TextPlace, content: string): string {
  return `<text class="${name}" x="${shortNumber(x)}" y="${shortNumber(y)}" text-anchor="${anchor}">${escaped(content)}</text>`;
}

/** Rounds to a tenth of a pixel. */
function shortNumber(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
