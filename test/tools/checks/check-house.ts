import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { findBrokenInFiles } from './citations.ts';
import { findFaultsInPages } from './table-names.ts';

/**
 * `npm run check house`: measures what burdens a reader of the repository, in all files that git tracks or does not
 * ignore. Prints a table, and fails if a measure is above its limit. The limit is the aim or, until the aim is reached,
 * `allowed`, which is only ever lowered. With `--list` the program also prints the items that it counted.
 */
interface Measure {
  readonly name: string;
  readonly how: string;
  readonly aim: number;
  /** The limit that holds until the aim is reached. */
  readonly allowed?: number;
  /** Returns a text for each item that was counted, or only the number. */
  readonly count: () => readonly string[] | number;
}

const git = ['ls-files', '--cached', '--others', '--exclude-standard'];
const files = execFileSync('git', git, { encoding: 'utf8' }).split('\n').filter(existsSync);
const read = (path: string) => readFileSync(path, 'utf8');
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const linesOf = (path: string) => read(path).split('\n').length - 1;

/** Pages that are generated as a whole. */
const generatedPages = ['docs/errors.md', 'docs/benchmarks.md', 'docs/guarantees-tests.md', 'docs/mutation.md'];

function wordsByHand(): number {
  const pages = files.filter((path) => path.endsWith('.md') && !generatedPages.includes(path));
  const byHand = (page: string) => page.replaceAll(/<!-- ([\w-]+):start -->[\s\S]*?<!-- \1:end -->/g, '');
  return sum(pages.map((path) => byHand(read(path)).match(/\S+/g)?.length ?? 0));
}

const isProduction = (path: string) =>
  /^(?:libs|services)\/.+(?<!\.d|\.test|\.fixture)\.tsx?$/.test(path) && !/\/(?:test|fixtures)\//.test(path);
const production = files.filter(isProduction);
const specifierForm = /(?:\bfrom|\bimport|\bimport\(|new URL\()\s*'(\.{1,2}\/[^']+|@auth-account\/[^']+)'/g;

/** Returns the packages' entry files by the name in an import, such as `@auth-account/stores/users`. */
function entriesOfPackages(): ReadonlyMap<string, string> {
  const entries = new Map<string, string>();
  for (const manifest of files.filter((path) => /^(?:libs|services)\/[^/]+\/package\.json$/.test(path))) {
    const { name, exports = {} } = JSON.parse(read(manifest)) as { name: string; exports?: Record<string, string> };
    for (const [key, target] of Object.entries(exports)) {
      const [before = '', after] = posix.join(posix.dirname(manifest), target).split('*');
      const matching = production.filter((path) => path.startsWith(before) && path.endsWith(after ?? ''));
      for (const path of after === undefined ? [before] : matching) {
        const part = after === undefined ? '' : path.slice(before.length, path.length - after.length);
        entries.set(posix.join(name, key.replace('*', part)), path);
      }
    }
  }
  return entries;
}

function smallBesideOnlyImporter(): string[] {
  const entries = entriesOfPackages();
  const published = new Set(entries.values());
  const importers = new Map<string, Set<string>>();
  for (const path of production) {
    for (const [, specifier = ''] of read(path).matchAll(specifierForm)) {
      const isRelative = specifier.startsWith('.');
      const target = isRelative ? posix.join(posix.dirname(path), specifier) : entries.get(specifier);
      if (target !== undefined) importers.set(target, (importers.get(target) ?? new Set()).add(path));
    }
  }
  return production.filter((path) => {
    const [only, ...others] = importers.get(path) ?? [];
    const isAside = /(?:^|\/)(?:index|main)\.tsx?$|\/bin\//.test(path) || published.has(path);
    const isOffered = only?.endsWith('/index.ts');
    const isAlone = only !== undefined && others.length === 0 && posix.dirname(only) === posix.dirname(path);
    return isAlone && !isAside && !isOffered && linesOf(path) <= 40;
  });
}

/** Matches the start of docstrings that open with a question word, not with a noun or a verb. */
const questionForm = /\/\*\*(?:\s*\n\s*\*)? (?:How|What|When|Where|Whether|Which|Who|Why)\b.{0,60}/g;

function questionsInDocstrings(): string[] {
  const code = files.filter((path) => /\.[cm]?[jt]sx?$/.test(path));
  return code.flatMap((path) => (read(path).match(questionForm) ?? []).map((opening) => `${path}: ${opening}`));
}

/** Matches words that earlier code used in place of the field's. */
const privateForm =
  /\b(?:strangers?|takers?|rehears\w+|half[- ]logins?|scenes?|(?:most|longest|fewest)[A-Z]\w+|createCreate\w+)\b/g;

function privateWords(): string[] {
  const code = files.filter((path) => /\.tsx?$/.test(path) && !/\/(?:locales|words)\/|check-house/.test(path));
  return code.flatMap((path) => (read(path).match(privateForm) ?? []).map((word) => `${path}: ${word}`));
}

const measures: readonly Measure[] = [
  {
    name: 'citations of what is not here',
    how: 'of pages, headings and ADRs, in comments and pages (citations.ts)',
    aim: 0,
    count: () => findBrokenInFiles(files),
  },
  {
    name: 'limits and events that pages name wrongly',
    how: 'code spans like the rule of a limit or an audit event; events that docs/audit.md lacks (table-names.ts)',
    aim: 0,
    count: findFaultsInPages,
  },
  {
    name: 'docstrings that open with a question word',
    how: 'in all code, generated code included',
    aim: 0,
    count: questionsInDocstrings,
  },
  {
    name: 'words of Markdown by hand',
    how: 'all *.md without generated pages and parts',
    aim: 47_000,
    count: wordsByHand,
  },
  {
    name: 'lines of test/tools',
    how: 'of all files, those of lock files included',
    aim: 24_670,
    count: () => sum(files.filter((path) => path.startsWith('test/tools/')).map(linesOf)),
  },
  {
    name: 'small files beside their only importer',
    how: 'of at most 40 lines, in libs and services; tests, entries, what an index offers, main and bin aside',
    aim: 8,
    count: smallBesideOnlyImporter,
  },
  {
    name: 'files of tests that spell the path of a login',
    how: 'except where the path is what they test: requests are sent by test/support/api/api-driver.ts',
    aim: 6,
    count: () =>
      files.filter((path) => path.startsWith('test/') && path.endsWith('.ts') && /auth\/login/.test(read(path))),
  },
  {
    name: 'private words in code',
    how: 'such as stranger, taker, scene, rehearsal, mostX, createCreateX; CONTRIBUTING says what to write',
    aim: 0,
    count: privateWords,
  },
  {
    name: 'files that open sessions',
    how: 'files of services that insert a session: every sign-in method ends in the same step',
    aim: 1,
    count: () =>
      production.filter(
        (path) => path.startsWith('services/') && /\bsessions\.insert\(|'insert'[^;]*SessionStore/.test(read(path)),
      ),
  },
];

const isListed = process.argv.includes('--list');
const row = (measured: unknown, aim: unknown, text: string) =>
  console.log(`${String(measured).padStart(8)}  ${String(aim).padStart(6)}  ${text}`);
row('measured', 'aim', '');
for (const { name, how, aim, allowed = aim, count } of measures) {
  const counted = count();
  const [measured, places] = typeof counted === 'number' ? [counted, []] : [counted.length, counted];
  const limit = Math.max(aim, allowed);
  const isTooMuch = measured > limit;
  row(measured, aim, limit > aim ? `${name} (allowed until the aim is reached: ${limit})` : name);
  row('', '', `  ${how}`);
  if (isTooMuch) row('', '', `  TOO MUCH: at most ${limit}`);
  for (const place of isListed || isTooMuch ? places : []) row('', '', `    ${place}`);
  if (isTooMuch) process.exitCode = 1;
}
