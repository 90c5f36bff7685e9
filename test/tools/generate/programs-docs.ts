import { readFileSync } from 'node:fs';
import { generateSections, toTable } from './page-sections.ts';

/** Writes docs/testing.md's tables of the long tests and benchmarks. With --check it only compares. */

function tableOf(script: string, file: string): string {
  const programs: Record<string, { readonly about: string; readonly takes?: string }> = JSON.parse(
    readFileSync(file, 'utf8'),
  );
  const rows = Object.entries(programs).map(([name, { about, takes = '' }]) => [
    `\`npm run ${script} ${name}`.trimEnd().concat('`'),
    about,
    takes,
  ]);
  return toTable(['Command', 'What it tests or measures', 'Takes'], rows);
}

const sections = {
  'long-tests': tableOf('test:long', 'test/tools/long-tests.json'),
  benchmarks: tableOf('bench', 'test/tools/bench/programs.json'),
};
generateSections({ page: 'docs/testing.md', generator: 'programs', sections });
