import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A test with the public report that it answers. */
interface Answer {
  readonly report: string;
  readonly address: string;
  /** The text below the tag: what happened there. */
  readonly what: string;
  readonly file: string;
  readonly title: string;
}

/** Matches a tag: `// answers: report, address`, and below it what happened there. */
const tagForm = /^ *\/\/ answers: (\S.*), (https:\/\/\S+)\n((?: *\/\/ (?!answers:|guarantees:)\S.*\n)+)/;
/** Matches the test below its tags, up to its title. */
const testForm = /^(?: *\/\/.*\n)* *test(?:\.concurrent)?(?:\.each(?:<[^\n]*?>)?\([\s\S]*?\))?\(\s*(['"`])(.+?)\1,/;

/** Returns the path and text of each test file. */
export function readTests() {
  const git = ['ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts'];
  const files = execFileSync('git', git, { encoding: 'utf8' }).trim().split('\n');
  return files.map((file) => [file, readFileSync(file, 'utf8')] as const);
}

/** Returns the title of the test that is directly below a tag. */
export const titleBelow = (source: string): string | undefined => testForm.exec(source)?.[2];

/**
 * Returns the reports that the tests of a source answer by their tags. Throws if a tag has another form, or no test
 * directly below it.
 */
export function answersIn(file: string, source: string): Answer[] {
  return [...source.matchAll(/^ *\/\/ *answers\b/gim)].map(({ index }) => {
    const where = `${file}:${source.slice(0, index).split('\n').length}`;
    const [tag = '', report = '', address = '', below = ''] = tagForm.exec(source.slice(index)) ?? [];
    if (tag === '') throw new Error(`${where}: the tag is not "answers: report, address" with what happened below`);
    const title = titleBelow(source.slice(index + tag.length));
    if (title === undefined) throw new Error(`${where}: there is no test directly below the tag`);
    return {
      report,
      address,
      what: below
        .replaceAll(/^ *\/\/ /gm, '')
        .trim()
        .replaceAll('\n', ' '),
      file,
      title,
    };
  });
}

/** Returns the rows of the page, in the order of their reports. Throws if a report is answered twice. */
export function rowsOf(answers: readonly Answer[]): string[][] {
  const sorted = answers.toSorted((a, b) => a.report.localeCompare(b.report, 'en', { numeric: true }));
  const twice = sorted.find(({ report }, at) => report === sorted[at - 1]?.report);
  if (twice) throw new Error(`${twice.file}: another test answers ${twice.report} too`);
  return sorted.map(({ report, address, what, file, title }) => [
    `[${report}](${address})`,
    what,
    `\`${file}\`: "${title}"`,
  ]);
}
