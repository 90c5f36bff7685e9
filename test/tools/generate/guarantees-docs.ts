import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { shownIn, testsPage } from './guarantees.ts';
import { generateFile } from './page-sections.ts';

/** Writes docs/guarantees-tests.md from the tags above the tests. With --check it only compares. */

const head = `# The tests of each guarantee

Each test here has the key of its [guarantee](guarantees.md) in a comment above it (\`// guarantees: …\`). \`%s\` and the like stand for values. This page is generated: \`npm run generate guarantees\`.

`;
const read = (path: string) => readFileSync(path, 'utf8');
const git = ['ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts'];
const files = execFileSync('git', git, { encoding: 'utf8' }).trim().split('\n');
const tests = files.flatMap((file) => shownIn(file, read(file)));
generateFile('docs/guarantees-tests.md', head + testsPage(read('docs/guarantees.md'), tests), 'guarantees');
