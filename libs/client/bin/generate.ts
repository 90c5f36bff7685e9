import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { closeReactionsModule } from './close-reactions-module.ts';
import { operationTypesModule } from './operation-types-module.ts';
import { operationsModule } from './operations-module.ts';
import { reactionsModule, siblingReactionsModule } from './reactions-module.ts';

/**
 * Writes src/generated from the route table, the error catalogue and the close codes; with `--check` it writes nothing and exits with 1
 * if a file is out of date.
 */
const modules = {
  'close-reactions.ts': closeReactionsModule(),
  'operations.ts': operationsModule(),
  'operation-types.ts': operationTypesModule(),
  'reactions.ts': reactionsModule(),
  'sibling-reactions.ts': siblingReactionsModule(),
};
const isCheck = process.argv.includes('--check');

for (const [name, text] of Object.entries(modules)) {
  const file = new URL(`../src/generated/${name}`, import.meta.url);
  if (!isCheck) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(`libs/client/src/generated/${name} is out of date. Run: npm run generate`);
    process.exitCode = 1;
  }
}
