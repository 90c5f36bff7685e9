import { describe, expect, test } from '@jest/globals';
import { shownIn, testsPage } from '../generate/guarantees.ts';

const guarantee = (key: string) => `## Codes\n\n- A code works once[†](guarantees-tests.md#${key})\n`;
const tag = (key: string) => `\n  // guarantees: ${key}\n  test('a code is used once', async () => {});\n`;

describe('docs/guarantees.md', () => {
  test('a guarantee is followed by the tests that have its key, below any other comments', () => {
    const each =
      "// guarantees: x, once\n// Why.\ntest.each([[1]])(\n  'a code of %s is used once',\n  () => {},\n);\n";
    const page = testsPage(`${guarantee('once')}${guarantee('x')}`, shownIn('a.test.ts', tag('once') + each));
    const [first, second] = page.split(/^### /m).slice(1);
    expect(first).toContain('`a.test.ts`: "a code is used once", "a code of %s is used once"');
    expect(second).toContain('A code works once\n\n- `a.test.ts`: "a code of %s is used once"');
  });

  test.each([
    ['a guarantee without a link', '', '', 'no link to tests: - A code works once'],
    ['a guarantee without a test', 'twice', tag('once'), 'no test has the comment "guarantees: twice"'],
    ['a test of no guarantee', 'once', tag('once') + tag('twice'), 'docs/guarantees.md has no twice'],
    ['a tag without a test', 'once', '// guarantees: once\n', 'there is no test directly below'],
  ])('%s is an error', (_, key, source, message) => {
    expect(() => testsPage(guarantee(key), shownIn('a.test.ts', source))).toThrow(message);
  });
});
