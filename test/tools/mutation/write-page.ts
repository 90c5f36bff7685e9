import { readFileSync } from 'node:fs';
import { generateFile } from '../generate/page-sections.ts';
import { areas } from './areas.ts';
import { mutationPage, type Results } from './results.ts';

/**
 * Writes docs/mutation.md from the last results in `results.json` of `npm run test:long mutation`. With --check it only
 * compares.
 */
const results: Results = JSON.parse(readFileSync(new URL('results.json', import.meta.url), 'utf8'));
generateFile('docs/mutation.md', mutationPage(areas, results), 'mutation');
