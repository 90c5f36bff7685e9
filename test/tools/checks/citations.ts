import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

const read = (path: string) => readFileSync(path, 'utf8');

/** Returns the headings of a page, without the syntax of code and links. */
function headingsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading.replaceAll(/\]\([^)]*\)/g, '').replaceAll(/[`[]/g, ''),
  );
}

/** Returns the anchors of a page, which are GitHub's for headings, and explicit ones. */
export function anchorsOf(page: string): Set<string> {
  const headings = headingsOf(page).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  const written = [...page.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
  return new Set([...headings, ...written]);
}

/** Joins the lines of a comment or a paragraph, because a citation may be broken over two. */
function joinLines(text: string, isPage: boolean): string {
  return isPage ? text.replaceAll(/\n(?=\S)/g, ' ') : text.replaceAll(/\n[ \t]*(?:\/\/|\*(?!\/)|#)[ \t]?/g, ' ');
}

/**
 * Matches a page, an anchor of it, or its headings in quotes: `docs/push.md, "Frames"`, `docs/push.md ("Frames", "Close
 * codes")`.
 */
const pageForm =
  /(?<![\w./}@$-])((?:\.{1,2}\/)*(?:[\w.-]+\/)*[\w-]+\.md)\b(?!\/)(?:#([\w-]+))?((?:[`)]{0,2},? \(?"[^"\n]{1,80}"(?:, "[^"\n]{1,80}")*)?)/g;

/** Matches a lower-case name that is no file, before a heading in quotes, or alone. Standards have a capital letter. */
const nameForm =
  /(?:[(;] ?|\b(?:in|of|[Ss]ee) )[a-z][a-z -]{2,30}, "[A-Z][^"\n]*"|\((?:specification|decisions)\b[,;)]/g;

/** Matches a path below docs/ that is no page. */
const pathForm = /(?<![\w./}@$*-])docs\/[\w./-]*\w(?![\w/*<{$[(|…-]|\.\w)/g;

const adrForm = /\bADR (\d{4})\b/g;

/**
 * Returns true for a file name that a program uses, and for a link in a text that a program compares. Neither is a
 * citation.
 */
function isOfProgram(text: string, { index, 1: page = '' }: RegExpExecArray, isPage: boolean): boolean {
  const before = text.slice(Math.max(0, index - 2), index);
  return !isPage && ((/['"]$/.test(before) && !page.includes('/')) || (before === '](' && page.startsWith('.')));
}

/** Returns the paths that the page may have, relative to the root, in docs/, or beside the text that names it. */
function placesOf(page: string, from: string): string[] {
  const beside = posix.normalize(posix.join(posix.dirname(from), page));
  return page.startsWith('.') ? [beside] : [page, `docs/${page}`, beside];
}

function findFault(match: RegExpExecArray, from: string): string | undefined {
  const [whole, page = '', anchor, quoted = ''] = match;
  const places = placesOf(page, from).filter((place) => existsSync(place));
  if (places.length === 0) return `${whole}: there is no such page`;
  const texts = places.map(read);
  if (anchor !== undefined && !texts.some((text) => anchorsOf(text).has(anchor))) return `${whole}: no such anchor`;
  const headings = [...quoted.matchAll(/"([^"]+)"/g)].map(([, heading = '']) => heading.replace(/[.,]$/, ''));
  const isMissing = (heading: string) => !texts.some((text) => headingsOf(text).includes(heading));
  return headings.some(isMissing) ? `${whole}: no such heading` : undefined;
}

/**
 * Returns the faults in a text's citations, each with the citation first. A fault is a page or an ADR that does not
 * exist in the working directory, a heading that the page lacks, or a heading of a text that is no file.
 *
 * Web addresses and standards (RFC 6455, section 4.4) are not checked.
 */
export function findBrokenCitations(source: string, from: string): string[] {
  const isPage = from.endsWith('.md');
  const text = joinLines(source, isPage);
  const cited = [...text.matchAll(pageForm)].filter((match) => !isOfProgram(text, match, isPage));
  // In Go and Python, such quotes contain a program's texts.
  const names = /\.(?:go|py)$/.test(from) ? [] : [...text.matchAll(nameForm)];
  const paths = [...text.matchAll(pathForm)].filter(([path]) => !path.endsWith('.md') && !existsSync(path));
  const decided = readdirSync('docs/adr');
  const adrs = [...text.matchAll(adrForm)].filter(
    ([, number]) => !decided.some((name) => name.startsWith(`${number}-`)),
  );
  return [
    ...cited.flatMap((match) => findFault(match, from) ?? []),
    ...names.map(([whole]) => `${whole}: names no file`),
    ...paths.map(([path]) => `${path}: there is no such file`),
    ...adrs.map(([whole]) => `${whole}: there is no such ADR`),
  ];
}

/** Matches files that contain prose. */
const textForm = /(?:\.(?:md|tsx?|[mc]?js|json|ya?ml|sh|tpl|py|go|html|txt)|Dockerfile|\.ci\/run)$/;
/** Matches files whose citations are broken on purpose, and the lock file, which is long and has none. */
const aside = /^(?:test\/tools\/checks\/docs-paths\.test\.ts|package-lock\.json)$/;

/** Returns the broken citations in these files of the working directory, each after the name of its file. */
export function findBrokenInFiles(paths: readonly string[]): string[] {
  const texts = paths.filter((path) => textForm.test(path) && !aside.test(path));
  return texts.flatMap((path) => findBrokenCitations(read(path), path).map((fault) => `${path}: ${fault}`));
}
