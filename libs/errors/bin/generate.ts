import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { catalogueDocument } from './catalogue-document.ts';
import { errorsMarkdown } from './errors-markdown.ts';

/**
 * Writes catalogue.json and docs/errors.md. With `--check`, writes nothing and exits with 1 if a file is out of date.
 */
const targets = [
  { url: new URL('../catalogue.json', import.meta.url), text: catalogueDocument() },
  { url: new URL('../../../docs/errors.md', import.meta.url), text: errorsMarkdown() },
];

if (process.argv.includes('--check')) await check();
else await Promise.all(targets.map(({ url, text }) => writeFile(url, text)));

async function check(): Promise<void> {
  for (const { url, text } of targets) {
    if ((await textOf(url)) === text) continue;
    console.error(`${fileURLToPath(url)} is out of date: run node libs/errors/bin/generate.ts`);
    process.exitCode = 1;
  }
}

async function textOf(url: URL): Promise<string | undefined> {
  try {
    return await readFile(url, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
