import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

const read = (path: string) => readFileSync(path, 'utf8');

const page = read('docs/adding-a-route.md');
const rows = [...page.matchAll(/^\| `([\w./-]+)` \| .+ \| `([^`]+)` \|$/gm)].map(([, file = '', example = '']) => ({
  file,
  example,
}));

/** The route that the page follows through the project, and the route's answer. */
const names = ['revokeSession', 'SessionRevokedResponse'];

/** Returns the hand-written files that contain the name as a word, and not only to send its requests. */
function filesThatName(name: string): string[] {
  const places = ['libs', 'services', 'test', ':!libs/client/src/generated'];
  const word = `(?<!\\.|requestTo\\(')\\b${name}\\b`;
  const found = execFileSync('git', ['grep', '--untracked', '-lP', word, '--', ...places]);
  return found.toString().trim().split('\n');
}

describe('docs/adding-a-route.md', () => {
  test.each(rows)('$file has $example', ({ file, example }) => {
    expect(read(file)).toContain(example);
  });

  test('docs/adding-a-route.md names every file that knows the route of its example', () => {
    const listed = new Set(rows.map(({ file }) => file));
    const unlisted = names.flatMap(filesThatName).filter((file) => !listed.has(file));
    expect(unlisted.filter((file) => !file.endsWith('checks/adding-a-route.test.ts'))).toEqual([]);
  });
});
