import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** A test as a page names it: its file, and its title in the source or the title's first words with `…` after them. */
interface Proof {
  readonly file: string;
  readonly title: string;
}

/** Matches a file with the titles of its tests: `a.test.ts`: "is read back…", "answers 201" */
const mentionForm = /`([\w./-]+\.test\.ts)`: "([^"\n]+(?:", "[^"\n]+)*)"(?=$| \||<br>|\))/gm;

function proofsIn(page: string): Proof[] {
  return [...page.matchAll(mentionForm)].flatMap(([, file = '', titles = '']) =>
    titles.split('", "').map((title) => ({ file, title })),
  );
}

/**
 * Returns true if a string of the source is the title or, if the title ends with `…`, exactly one string begins with it.
 * The title of `test.each` is the title before values are inserted.
 */
function hasTitle({ file, title }: Proof): boolean {
  if (!existsSync(new URL(file, root))) return false;
  const source = read(file);
  const quotes = ["'", '"', '`'];
  if (!title.endsWith('…')) return quotes.some((quote) => source.includes(quote + title + quote));
  const beginnings = quotes.map((quote) => source.split(quote + title.slice(0, -1)).length - 1);
  return beginnings.reduce((sum, count) => sum + count) === 1;
}

const page = read('docs/guarantees.md');
const proofs = proofsIn(page);

describe('docs/guarantees.md', () => {
  test('docs/guarantees.md names only existing tests, by their titles', () => {
    expect(proofs.length).toBeGreaterThan(80);
    expect(proofs.filter((proof) => !hasTitle(proof))).toEqual([]);
  });

  test('docs/guarantees.md has each mention of a title in the form that is checked', () => {
    expect(page.match(/\.test\.ts`:/g)).toHaveLength([...page.matchAll(mentionForm)].length);
  });

  test('docs/guarantees.md shows each of its guarantees by a test', () => {
    const lists = page
      .split(/^## /m)
      .slice(1)
      .map((section) => section.split('**Not guaranteed**')[0] ?? '');
    const rows = lists
      .join('\n')
      .split('\n')
      .filter((line) => line.startsWith('- '));
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.filter((row) => proofsIn(row).length === 0)).toEqual([]);
  });

  test('a missing title and a missing file would be found in docs/guarantees.md', () => {
    const file = 'test/tools/checks/guarantees.test.ts';
    expect(hasTitle({ file, title: ['names only tests that', 'nobody wrote'].join(' ') })).toBe(false);
    expect(hasTitle({ file: 'test/tools/checks/gone.test.ts', title: 'is gone' })).toBe(false);
  });

  test('the beginning of several titles would be found in docs/guarantees.md', () => {
    const file = 'test/tools/checks/guarantees.test.ts';
    expect(hasTitle({ file, title: ['docs/guarantees.md', '…'].join('') })).toBe(false);
    expect(hasTitle({ file, title: ['the beginning of', 'several…'].join(' ') })).toBe(true);
  });
});

test('docs/operations.md names only existing test files and runbooks', () => {
  const operations = read('docs/operations.md');
  const tests = [...operations.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, file = '']) => file);
  const runbooks = [...operations.matchAll(/\]\((runbooks\/\w+\.md)\)/g)].map(([, file = '']) => `docs/${file}`);
  expect(tests.length).toBeGreaterThan(2);
  expect(runbooks.length).toBeGreaterThan(20);
  expect([...tests, ...runbooks].filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
});
