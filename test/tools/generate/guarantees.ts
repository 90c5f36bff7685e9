import { titleBelow } from './answers.ts';

/** A test that shows guarantees, by its title in the source. */
interface Shown {
  readonly keys: readonly string[];
  readonly file: string;
  readonly title: string;
}

/** Returns the tests of a source that have a tag `// guarantees: key, other-key`. Throws if a tag has no test below. */
export function shownIn(file: string, source: string): Shown[] {
  return [...source.matchAll(/^ *\/\/ *guarantees\b(.*)\n/gim)].map(([tag, keys = ''], at, all) => {
    const title = titleBelow(source.slice((all[at]?.index ?? 0) + tag.length));
    if (title === undefined) throw new Error(`${file}: there is no test directly below "${tag.trim()}"`);
    return { keys: keys.replace(/^: /, '').split(', '), file, title };
  });
}

/** Matches a line of the page with the key of its tests. */
const linkForm = /^- (.+)\[†]\(guarantees-tests\.md#([a-z0-9-]+)\)(.*)$/;

/**
 * Returns the page of the tests: under the sections of docs/guarantees.md each guarantee with a key, its text, and the
 * tests that have its key. Throws if a guarantee has no test, or a test a key of none.
 */
export function testsPage(guarantees: string, tests: readonly Shown[]): string {
  const keys = new Set<string>();
  let isPromise = true;
  const parts = guarantees.split('\n').flatMap((line) => {
    isPromise = line.startsWith('## ') || (isPromise && line !== '**Not guaranteed**');
    if (line.startsWith('## ')) return [line];
    const [, text, key = '', rest] = linkForm.exec(line) ?? [];
    if (text === undefined && isPromise && line.startsWith('- ')) throw new Error(`no link to tests: ${line}`);
    if (text === undefined) return [];
    if (keys.has(key)) throw new Error(`docs/guarantees.md has ${key} twice`);
    keys.add(key);
    const shown = tests.filter((test) => test.keys.includes(key));
    if (shown.length === 0) throw new Error(`no test has the comment "guarantees: ${key}"`);
    const files = Map.groupBy(shown, ({ file }) => file);
    const rows = Array.from(files, ([file, of]) => `- \`${file}\`: ${of.map(({ title }) => `"${title}"`).join(', ')}`);
    return [`### ${key}`, `${text}${rest}`, rows.join('\n')];
  });
  const stray = tests.find((test) => test.keys.some((key) => !keys.has(key)));
  if (stray) throw new Error(`${stray.file}: docs/guarantees.md has no ${stray.keys.join(', ')}`);
  return `${parts.join('\n\n')}\n`;
}
