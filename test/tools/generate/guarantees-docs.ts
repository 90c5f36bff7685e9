import { readFileSync } from 'node:fs';
import { readTests } from './answers.ts';
import { shownIn, testsPage } from './guarantees.ts';
import { generateFile } from './page-sections.ts';

/** Writes docs/guarantees-tests.md from the tags above the tests. With --check it only compares. */

const head = `# The tests of each guarantee

Each test here has the key of its [guarantee](guarantees.md) in a comment above it (\`// guarantees: …\`). \`%s\` and the like stand for values. This page is generated: \`npm run generate guarantees\`.

`;
const page = testsPage(
  readFileSync('docs/guarantees.md', 'utf8'),
  readTests().flatMap((test) => shownIn(...test)),
);
generateFile('docs/guarantees-tests.md', head + page, 'guarantees');
