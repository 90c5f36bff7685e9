/** A drawing with both colour schemes, on its own background, so that it is readable on any page. */
export interface DrawingOptions {
  readonly width: number;
  readonly height: number;
  /** Heading and text alternative. */
  readonly title: string;
  /** The measured quantity and its unit: below the heading. */
  readonly subtitle: string;
}

const schemes = {
  light: {
    ...{ surface: '#ffffff', text: '#1f2328', faint: '#59636e', grid: '#d1d9e0' },
    ...{ own: '#0969da', reference: '#57606a', peer: '#b5bdc6' },
    series: ['#0072b2', '#c4500a', '#00805c', '#a64d85', '#8a6a00'],
  },
  dark: {
    ...{ surface: '#0d1117', text: '#f0f6fc', faint: '#9198a1', grid: '#30363d' },
    ...{ own: '#58a6ff', reference: '#aab3bd', peer: '#545d68' },
    series: ['#56b4e9', '#f28c4b', '#2fbf94', '#e08bbd', '#e3c14a'],
  },
} as const;

export const seriesCount = schemes.light.series.length;

function rules({
  surface,
  text,
  faint,
  grid,
  own,
  reference,
  peer,
  series,
}: (typeof schemes)['light' | 'dark']): string {
  const lines = series.map((colour, index) => `.line-${index}{stroke:${colour}}.dot-${index}{fill:${colour}}`);
  return [
    `.surface{fill:${surface}}.title,.value,.label{fill:${text}}.faint{fill:${faint}}`,
    `.grid{stroke:${grid}}.mark{stroke:${text}}.halo{stroke:${surface}}.own{fill:${own}}.reference{fill:${reference}}.peer{fill:${peer}}`,
    ...lines,
  ].join('');
}

const shapes =
  'text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif}.title{font-size:15px;font-weight:600}' +
  '.value{font-variant-numeric:tabular-nums}.grid{stroke-width:1}.mark{stroke-width:1;stroke-dasharray:4 3}.halo{stroke-width:3}' +
  '.line{fill:none;stroke-width:2}';

export function svgDocument({ width, height, title, subtitle }: DrawingOptions, body: readonly string[]): string {
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

/** Margin around the drawing, and the top of its body. */
export const margin = 20;
export const bodyTop = 64;

export interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly class: string;
  readonly anchor?: 'start' | 'middle' | 'end';
}

export function svgText({ x, y, class: name, anchor = 'start' }: TextPlace, content: string): string {
  return `<text class="${name}" x="${shortNumber(x)}" y="${shortNumber(y)}" text-anchor="${anchor}">${escaped(content)}</text>`;
}

/** Rounds to a tenth of a pixel. */
export function shortNumber(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
