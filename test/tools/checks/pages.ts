import { readFileSync } from 'node:fs';

/** Pages that are generated as a whole. */
const generatedPages = ['docs/errors.md', 'docs/benchmarks.md', 'docs/guarantees-tests.md', 'docs/mutation.md'];

/** The most words of a page, by its path. The first form that matches counts. */
const limits: readonly (readonly [page: RegExp, words: number, why: string])[] = [
  [/^docs\/runbooks\//, 250, 'it is read while an alert fires'],
  [/^docs\/adr\//, 300, 'it has one decision'],
  [/^README\.md$/, 900, 'it decides if anybody reads on'],
  [/^docs\/(?:operations|guarantees)\.md$/, 6_000, 'a heading is looked up in it'],
  [/./, 2_500, 'it is read from beginning to end'],
];

type Page = readonly [path: string, text: string];

/** Returns the pages among the files, without what is generated. */
export function readPages(files: readonly string[]): Page[] {
  const pages = files.filter((path) => path.endsWith('.md') && !generatedPages.includes(path));
  const byHand = (text: string) => text.replaceAll(/<!-- ([\w-]+):start -->[\s\S]*?<!-- \1:end -->/g, '');
  return pages.map((page) => [page, byHand(readFileSync(page, 'utf8'))]);
}

/** Returns the pages with more words than their readers have time for. */
export function findLongPages(pages: readonly Page[]): string[] {
  return pages.flatMap(([page, text]) => {
    const words = text.match(/\S+/g)?.length ?? 0;
    const [, limit = 0, why] = limits.find(([form]) => form.test(page)) ?? [];
    return words > limit ? [`${page} has ${words} words; ${limit} are enough, as ${why}`] : [];
  });
}

/** Returns the sentences of at least eight words, outside of code. */
function sentencesOf(text: string): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```|`[^`\n]*`/gm, '').replaceAll(/\n(?![\n#|-])/g, ' ');
  const sentences = prose.split(/(?<=[.:;|]) |\n/).map((sentence) => sentence.replace(/^[\s#|-]+/, '').trim());
  return sentences.filter((sentence) => /(?:\S+\s+){7}\S/.test(sentence));
}

/** Returns the sentences that stand on several pages. A runbook may have them from others: it is read alone. */
export function findCopies(pages: readonly Page[]): string[] {
  const others = pages.filter(([page]) => !page.startsWith('docs/runbooks/'));
  const said = others.flatMap(([page, text]) =>
    [...new Set(sentencesOf(text))].map((sentence) => ({ page, sentence })),
  );
  return [...Map.groupBy(said, ({ sentence }) => sentence)].flatMap(([sentence, places]) =>
    places.length > 1 ? [`${places.map(({ page }) => page).join(', ')}: ${sentence}`] : [],
  );
}
