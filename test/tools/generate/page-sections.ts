import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * The generated parts of a page, each of which stands between the markers `<!-- name:start -->` and `<!-- name:end
 * -->`.
 */
export interface PageSections {
  /** The path of the page in the project. */
  readonly page: string;
  /** The name of the generator, for the message. */
  readonly generator: string;
  /** The text of each part by its name. */
  readonly sections: Readonly<Record<string, string>>;
}

const root = new URL('../../../', import.meta.url);

/** Writes the parts into the page, or compares them, as {@link generateFile} does. */
export function generateSections({ page, generator, sections }: PageSections): void {
  const before = readFileSync(new URL(page, root), 'utf8');
  const after = Object.entries(sections).reduce((text, [name, part]) => withSection(text, name, part), before);
  generateFile(page, after, generator);
}

/** Writes a file of the project. With --check it writes nothing, and sets exit code 1 if the file is out of date. */
export function generateFile(path: string, text: string, generator: string): void {
  const file = new URL(path, root);
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(`${path} is out of date. Run: npm run generate ${generator}`);
    process.exitCode = 1;
  }
}

/** Returns a code span. */
export const code = (text: string) => `\`${text}\``;

/** Returns a table in Markdown. */
export function toTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`).join('\n');
}

/** Returns the page with the part replaced. Throws if the page lacks the two markers in order. */
function withSection(text: string, name: string, part: string): string {
  const [open, close] = [`<!-- ${name}:start -->`, `<!-- ${name}:end -->`];
  const [start, end] = [text.indexOf(open), text.indexOf(close)];
  if (start < 0 || end < start) throw new Error(`there is no ${open} followed by ${close}`);
  return `${text.slice(0, start)}${open}\n\n${part}\n\n${text.slice(end)}`;
}
