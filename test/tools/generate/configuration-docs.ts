import { readFileSync, writeFileSync } from 'node:fs';
import { configurationSections } from './configuration-page.ts';

/**
 * Writes docs/configuration.md's tables from the configuration schemas, between its two markers. With --check it writes
 * nothing and exits with 1 if they are out of date.
 */

const PAGE = new URL('../../../docs/configuration.md', import.meta.url);
const [START, END] = ['<!-- configuration:start -->', '<!-- configuration:end -->'];

function withSections(page: string, sections: string): string {
  const [start, end] = [page.indexOf(START), page.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`docs/configuration.md has no ${START} followed by ${END}`);
  return `${page.slice(0, start)}${START}\n\n${sections}\n${page.slice(end)}`;
}

const before = readFileSync(PAGE, 'utf8');
const after = withSections(before, configurationSections());

if (!process.argv.includes('--check')) {
  writeFileSync(PAGE, after);
} else if (after !== before) {
  console.error('docs/configuration.md: the tables are out of date. Run: npm run generate');
  process.exitCode = 1;
}
