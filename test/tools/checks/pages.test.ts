import { expect, test } from '@jest/globals';
import { findCopies, findLongPages } from './pages.ts';

test('a page is too long for its reader by the limit of its kind', () => {
  const words = (count: number) => 'word '.repeat(count);
  const pages = [
    ['docs/runbooks/AuthRedisAway.md', words(250)],
    ['docs/runbooks/AuthMailsFailing.md', words(251)],
    ['docs/operations.md', words(2_501)],
    ['libs/client/README.md', words(2_501)],
  ] as const;
  const [long = '', other = '', ...more] = findLongPages(pages);
  expect([long, more]).toEqual([
    'docs/runbooks/AuthMailsFailing.md has 251 words; 250 are enough, as it is read while an alert fires',
    [],
  ]);
  expect(other).toMatch(/^libs\/client\/README\.md has 2501/);
});

test('a sentence that stands on two pages is found, and one of a runbook, of code or of seven words is not', () => {
  const copy = 'The worker sends every event at least once.';
  const [head, short] = ['Something else comes first. ', 'Seven words are no copy at all.'];
  const text = (sentence: string) =>
    `${head}${sentence}\nIt goes on.\n\n- ${short}\n\n\`\`\`\n${sentence} In code.\n\`\`\`\n`;
  const pages = [
    ['README.md', text(copy)],
    ['docs/events.md', text(copy)],
    ['docs/runbooks/AuthRedisAway.md', text(copy)],
  ] as const;
  expect(findCopies(pages)).toEqual([`README.md, docs/events.md: ${copy}`]);
});
