import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { generators, onRequest } from './generators.ts';

/**
 * `npm run generate [name] [-- --check]`: runs all generators or one. With `--check` a generator writes nothing, but
 * names the files that are out of date and exits with 1. `npm run generate queries` records the queries of a run of the
 * services.
 */

const root = new URL('../../../', import.meta.url);

const { positionals } = parseArgs({ options: { check: { type: 'boolean' } }, allowPositionals: true });
const byName = { ...generators, ...onRequest };
const unknown = positionals.filter((name) => byName[name] === undefined);
if (unknown.length > 0) {
  console.error(`There is no generator "${unknown[0]}"; there are ${Object.keys(byName).join(', ')}.`);
  process.exit(1);
}
const chosen = positionals.length > 0 ? positionals : Object.keys(generators);
process.chdir(fileURLToPath(root));
for (const name of chosen) await import(new URL(byName[name] ?? '', root).href);
