import { readFile, writeFile } from 'node:fs/promises';
import { apiDocument } from '../src/http/docs/api-document.ts';

/** Writes docs/openapi.json; with `--check` it writes nothing and exits with 1 if the file is out of date. */
const target = new URL('../../../docs/openapi.json', import.meta.url);
const text = apiDocument();

if (!process.argv.includes('--check')) {
  await writeFile(target, text);
} else if ((await findText(target)) !== text) {
  console.error('docs/openapi.json is out of date. Run: npm run generate');
  process.exitCode = 1;
}

async function findText(url: URL): Promise<string | undefined> {
  try {
    return await readFile(url, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
