import { answersIn, readTests, rowsOf } from './answers.ts';
import { generateSections, toTable } from './page-sections.ts';

/** Writes docs/answers.md from the tags above the tests. With --check it only compares. */

const tested = readTests().filter(([file]) => !file.startsWith('test/tools/'));
const rows = rowsOf(tested.flatMap((test) => answersIn(...test)));
const answers = toTable(['Their report', 'What happened there', 'Our test'], rows);
generateSections({ page: 'docs/answers.md', generator: 'answers', sections: { answers } });
