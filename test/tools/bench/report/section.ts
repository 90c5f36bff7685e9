/** A section of the page, with its drawings by file name. */
export interface Section {
  readonly heading: string;
  readonly text: string;
  readonly plots: Readonly<Record<string, string>>;
}

/** Directory of the drawings, relative to the page. */
export const plotsDirectory = 'benchmarks';

/** Shows a drawing; `alt` describes it. */
export function plotImage(file: string, alt: string): string {
  return `![${alt}](${plotsDirectory}/${file})`;
}

export function paragraphs(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Formats rows under a head, as Markdown. */
export function markdownTable(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
