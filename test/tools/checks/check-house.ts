import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { findBrokenInFiles } from './citations.ts';
import { findCopies, findLongPages, readPages } from './pages.ts';
import { findFaultsInPages } from './table-names.ts';

/**
 * `npm run check house`: asks of all files that git tracks or does not ignore what a reader of the repository would ask,
 * and fails for each finding. Then it prints figures, which have no limits: what is there, and what the change since
 * `origin/main` adds and removes, by kind of file. `--list` names the small files.
 */

const git = (...args: string[]) => spawnSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 26 }).stdout.trim();
const listed = git('ls-files', '--cached', '--others', '--exclude-standard');
const files = listed.split('\n').filter(existsSync);
const pages = readPages(files);
const code = files.filter((path) => /\.[cm]?[jt]sx?$/.test(path));
const read = (path: string) => readFileSync(path, 'utf8');

/** Kinds of files, of which the first that matches counts. */
const kinds = {
  pages: /\.md$/,
  tools: /^test\/tools\//,
  tests: /^test\/|[./](?:test|fixture|fixtures)[./]/,
  product: /^(?:libs|services)\/.+\.tsx?$/,
  others: /./,
};
type Kind = keyof typeof kinds;
const kindOf = (path: string) => (Object.keys(kinds) as Kind[]).find((kind) => kinds[kind].test(path)) ?? 'others';
const product = files.filter((path) => kindOf(path) === 'product');

/** Returns what a form matches in the files, after the name of each file. */
const findIn = (paths: readonly string[], form: RegExp) =>
  paths.flatMap((path) => Array.from(read(path).matchAll(form), ([found]) => `${path}: ${found}`));

/** Matches the start of docstrings that open with a question word, not with a noun or a verb. */
const questionForm = /\/\*\*(?:\s*\n\s*\*)? (?:How|What|When|Where|Whether|Which|Who|Why)\b.{0,60}/g;

/** Matches words that earlier code used in place of the field's. */
const privateForm =
  /\b(?:strangers?|takers?|rehears\w+|half[- ]logins?|scenes?|(?:most|longest|fewest)[A-Z]\w+|createCreate\w+)\b/g;

/** Files of tests that spell the path of a login, because the path is what they test. */
const loginPaths =
  /^test\/(?:contract\/login(?:-code)?\.test|e2e\/local-stack\/playground\.system\.test|security\/hostile\/body-attacks|tools\/bench\/cost\/bare-prototype)\.ts$/;

const questions: Readonly<Record<string, () => readonly string[]>> = {
  'Does a comment or page cite a page, heading or ADR that is not there?': () => findBrokenInFiles(files),
  'Does a page name a limit or an audit event that is not there, or docs/audit.md lack one?': findFaultsInPages,
  'Is a page longer than its reader has time for?': () => findLongPages(pages),
  'Does a page say what another says?': () => findCopies(pages),
  'Does a docstring open with a question word?': () => findIn(code, questionForm),
  "Does code use a private word in place of the field's (CONTRIBUTING.md)?": () =>
    findIn(
      code.filter((path) => /\.tsx?$/.test(path) && !/\/(?:locales|words)\/|check-house/.test(path)),
      privateForm,
    ),
  'Does a test send a login by its path, and not by test/support/api/api-driver.ts?': () =>
    findIn(
      code.filter((path) => path.startsWith('test/') && !loginPaths.test(path)),
      /.*auth\/login.*/g,
    ),
  'Does anything but the one end of every login open a session?': () =>
    findIn(
      product.filter((path) => path.startsWith('services/') && !path.endsWith('/open-session.ts')),
      /\bsessions\.insert\(|'insert'[^;]*SessionStore/g,
    ),
};

/** Returns the files of at most 40 lines that one other file imports, from the same folder, and no index. */
function smallWithOneUser(): string[] {
  const imports = product.flatMap((from) =>
    Array.from(read(from).matchAll(/(?:from|import) '(\.[^']+)'/g), ([, to = '']) => ({
      from,
      to: posix.join(posix.dirname(from), to),
    })),
  );
  const users = Map.groupBy(imports, ({ to }) => to);
  const alone = [...users.values()].flatMap(([first, ...more]) => (first && more.length === 0 ? [first] : []));
  const beside = alone.filter(({ from, to }) => posix.dirname(from) === posix.dirname(to) && !/index\.ts$/.test(from));
  return beside.map(({ to }) => to).filter((path) => product.includes(path) && read(path).split('\n').length <= 41);
}

function printFigures(): void {
  const lines = Object.groupBy(files, kindOf);
  const count = (kind: Kind) => (lines[kind] ?? []).reduce((sum, path) => sum + read(path).split('\n').length - 1, 0);
  const per = (kind: Kind) => `${(count(kind) / count('product')).toFixed(2)} of ${kind}`;
  console.log(`${count('product')} lines of product; for each of them ${per('tests')}, ${per('tools')}`);
  const small = smallWithOneUser();
  console.log(`${small.length} files of at most 40 lines serve one neighbour only`);
  if (process.argv.includes('--list')) console.log(small.join('\n'));
  const base = git('merge-base', 'HEAD', 'origin/main') || 'HEAD';
  const changes = git('diff', '--numstat', base).split('\n').filter(Boolean);
  const rows = changes.map((line) => line.split('\t'));
  for (const [kind, of] of Map.groupBy(rows, ([, , path = '']) => kindOf(path))) {
    const [added, removed] = [0, 1].map((column) => of.reduce((sum, row) => sum + (Number(row[column]) || 0), 0));
    console.log(`this change: ${kind} +${added} −${removed}`);
  }
}

for (const [question, find] of Object.entries(questions)) {
  const found = find();
  if (found.length > 0) console.error(`${question}\n  ${found.join('\n  ')}`);
  if (found.length > 0) process.exitCode = 1;
}
printFigures();
