import { readFileSync } from 'node:fs';
import { generateFile } from './page-sections.ts';

/**
 * Writes docs/images/running.svg, the README's picture of a terminal, from the output in running.txt beside it. Lines
 * are cut to the picture's width. With --check it only compares.
 */

const TEXT = new URL('../../../docs/images/running.txt', import.meta.url);
const TITLE = 'Output of npm run up and npm run demo';
const COLUMNS = 112;
const LINE_HEIGHT = 17;
const CHARACTER_WIDTH = 7.3;
const MARGIN = 16;

const colours: readonly (readonly [RegExp, string])[] = [
  [/^\$ /, '#7ee787'],
  [/^\d+\. |^Ready/, '#ffffff'],
  [/^ {2}closed /, '#ffa657'],
  [/^ {2}(event|arrived|frame|connect|mail) /, '#79c0ff'],
];

function colourOf(line: string): string {
  return colours.find(([pattern]) => pattern.test(line))?.[1] ?? '#c9d1d9';
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function toText(line: string, index: number): string {
  const shown = line.length > COLUMNS ? `${line.slice(0, COLUMNS - 1)}…` : line;
  const y = MARGIN + (index + 1) * LINE_HEIGHT;
  return `<text x="${MARGIN}" y="${y}" fill="${colourOf(line)}" xml:space="preserve">${escapeXml(shown)}</text>`;
}

function toPicture(lines: readonly string[]): string {
  const width = Math.ceil(COLUMNS * CHARACTER_WIDTH) + 2 * MARGIN;
  const height = lines.length * LINE_HEIGHT + 3 * MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`,
    ' font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="12">',
    `<title>${TITLE}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    ...lines.map(toText),
    '</svg>',
    '',
  ].join('\n');
}

const lines = readFileSync(TEXT, 'utf8').trimEnd().split('\n');
generateFile('docs/images/running.svg', toPicture(lines), 'picture');
