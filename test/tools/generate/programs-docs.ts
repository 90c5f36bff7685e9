import { readFile } from 'node:fs/promises';
import { generateSections, toTable } from './page-sections.ts';

/** Writes docs/testing.md's tables of the long tests and benchmarks. With --check it only compares. */

interface Program {
  readonly about: string;
  readonly takes?: string;
}

async function tableOf(script: string, file: string): Promise<string> {
  const programs: Record<string, Program> = JSON.parse(await readFile(new URL(file, import.meta.url), 'utf8'));
  const rows = Object.entries(programs).map(([name, { about, takes = '' }]) => [
    `\`npm run ${script} ${name}`.trimEnd().concat('`'),
    about,
    takes,
  ]);
  return toTable(['Command', 'What it tests or measures', 'Takes'], rows);
}

const sections = {
  'long-tests': await tableOf('test:long', '../long-tests.json'),
  benchmarks: await tableOf('bench', '../bench/programs.json'),
};
generateSections({ page: 'docs/testing.md', generator: 'programs', sections });
