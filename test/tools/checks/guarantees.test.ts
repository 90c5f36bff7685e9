import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

/** A test as the page names it: its file, and its title in the source. */
interface Proof {
  readonly file: string;
  readonly title: string;
}

const proofForm = /`([\w./-]+\.test\.ts)` › ([^|<\n]+?)(?= \||<br>|\)[.,;]|\. )/g;

function proofsIn(page: string): Proof[] {
  return [...page.matchAll(proofForm)].map(([, file = '', title = '']) => ({ file, title }));
}

/**
 * Returns true if it is a whole string in that source. For `test.each` it is the title before its values are inserted.
 */
function hasTitle({ file, title }: Proof): boolean {
  const url = new URL(file, root);
  return existsSync(url) && ["'", '"', '`'].some((quote) => readFileSync(url, 'utf8').includes(quote + title + quote));
}

const page = read('docs/guarantees.md');
const proofs = proofsIn(page);

describe('docs/guarantees.md', () => {
  test('names only tests that there are, by their titles', () => {
    expect(proofs.length).toBeGreaterThan(80);
    expect(proofs.filter((proof) => !hasTitle(proof))).toEqual([]);
  });

  test('has each mention of a title in the form that is looked at', () => {
    expect(page.match(/›/g)).toHaveLength(proofs.length);
  });

  test('shows each of its guarantees by a test', () => {
    const rows = page.split('\n').filter((line) => /^\| (?!Guaranteed|---)/.test(line));
    expect(rows.filter((row) => proofsIn(row).length === 0)).toEqual([]);
  });

  test('would be caught with a title that is not there, and with a file that is not', () => {
    const file = 'test/tools/checks/guarantees.test.ts';
    expect(hasTitle({ file, title: ['names only tests that', 'nobody wrote'].join(' ') })).toBe(false);
    expect(hasTitle({ file: 'test/tools/checks/gone.test.ts', title: 'is gone' })).toBe(false);
  });
});

test('the client’s README shows what it says of each pain by tests that there are', () => {
  const client = read('libs/client/README.md');
  const pains = client.split('\n').filter((line) => /^\| \d+\./.test(line));
  expect(pains).toHaveLength(10);
  expect(pains.filter((row) => proofsIn(row).length === 0)).toEqual([]);
  expect(client.match(/›/g)).toHaveLength(proofsIn(client).length);
  expect(proofsIn(client).filter((proof) => !hasTitle(proof))).toEqual([]);
});

test('docs/operations.md names only test files and runbooks that there are', () => {
  const operations = read('docs/operations.md');
  const tests = [...operations.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, file = '']) => file);
  const runbooks = [...operations.matchAll(/\]\((runbooks\/\w+\.md)\)/g)].map(([, file = '']) => `docs/${file}`);
  expect(tests.length).toBeGreaterThan(2);
  expect(runbooks.length).toBeGreaterThan(20);
  expect([...tests, ...runbooks].filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
});
