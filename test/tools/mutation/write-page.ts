import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { areas } from './areas.ts';
import { mutationPage, type Results } from './results.ts';

/**
 * Writes docs/mutation.md from the last results in `results.json` of `npm run test:long mutation`. With --check it
 * writes nothing, and exits with 1 if the page is out of date.
 */
const page = new URL('../../../docs/mutation.md', import.meta.url);
const results: Results = JSON.parse(readFileSync(new URL('results.json', import.meta.url), 'utf8'));
const after = mutationPage(areas, results);

if (!process.argv.includes('--check')) {
  writeFileSync(page, after);
} else if (!existsSync(page) || readFileSync(page, 'utf8') !== after) {
  console.error('docs/mutation.md is out of date. Run: npm run generate');
  process.exitCode = 1;
}
