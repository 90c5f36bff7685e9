import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { answersIn, rowsOf } from './answers.ts';
import { generateSections, toTable } from './page-sections.ts';

/** Writes docs/answers.md from the tags above the tests. With --check it only compares. */

const git = ['ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts'];
const files = execFileSync('git', git, { encoding: 'utf8' }).trim().split('\n');
const tested = files.filter((file) => !file.startsWith('test/tools/'));
const rows = rowsOf(tested.flatMap((file) => answersIn(file, readFileSync(file, 'utf8'))));
const answers = toTable(['Their report', 'What happened there', 'Our test'], rows);
generateSections({ page: 'docs/answers.md', generator: 'answers', sections: { answers } });
