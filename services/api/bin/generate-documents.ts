import { readFile, writeFile } from 'node:fs/promises';
import { apiDocument, streamDocument } from '../src/http/docs/documents.ts';

/**
 * Writes docs/openapi.json and docs/asyncapi.json; with `--check` it writes nothing and exits with 1 if either file is
 * out of date.
 */
const documents = { 'openapi.json': apiDocument(), 'asyncapi.json': streamDocument() };

for (const [name, text] of Object.entries(documents)) {
  const target = new URL(`../../../docs/${name}`, import.meta.url);
  if (!process.argv.includes('--check')) {
    await writeFile(target, text);
  } else if ((await findText(target)) !== text) {
    console.error(`docs/${name} is out of date. Run: npm run generate`);
    process.exitCode = 1;
  }
}

async function findText(url: URL): Promise<string | undefined> {
  try {
    return await readFile(url, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
