import { readFileSync, writeFileSync } from 'node:fs';
import { readRuns } from '../stores/recorded-runs.ts';

/**
 * Writes README.md's table of the stores on which tests were run, from test/tools/stores/runs.json, between its two
 * markers. With --check it writes nothing and exits with 1 if the table is out of date.
 */

const page = new URL('../../../README.md', import.meta.url);
const [start, end] = ['<!-- stores:start -->', '<!-- stores:end -->'];

const rows = (await readRuns())
  .toSorted((a, b) => a.store.localeCompare(b.store))
  .map(({ product, version, date, passed, failed, skipped }) => {
    const others = [failed > 0 ? [`${failed} failed`] : [], skipped > 0 ? [`${skipped} left out`] : []].flat();
    return `| ${product} ${version} | ${date} | ${[`${passed} passed`, ...others].join(', ')} |`;
  });
const table = ['| Store | Run on | Tests |', '| --- | --- | --- |', ...rows].join('\n');

const before = readFileSync(page, 'utf8');
const [head, rest] = before.split(start);
const tail = rest?.split(end)[1];
if (head === undefined || tail === undefined) throw new Error(`README.md has no ${start} … ${end}`);
const after = `${head}${start}\n${table}\n${end}${tail}`;
if (!process.argv.includes('--check')) writeFileSync(page, after);
else if (before !== after) {
  console.error('README.md is out of date: npm run generate stores');
  process.exitCode = 1;
}
