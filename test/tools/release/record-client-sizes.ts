import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientBudget, clientFolder, measureClient } from '../../support/client/client-bundle.ts';

/** `npm run sizes -w libs/client`: writes sizes.json for a release, if a tenth of the core's budget is free. */

const { version } = JSON.parse(readFileSync(join(clientFolder, 'package.json'), 'utf8'));
const sizes = await measureClient();
const free = clientBudget.core - sizes.core;
console.table({ core: sizes.core, ...sizes.groups });
if (free < clientBudget.freeAtRelease) {
  console.error(`The core has ${free} bytes free; a release needs ${clientBudget.freeAtRelease}.`);
  process.exitCode = 1;
} else writeFileSync(join(clientFolder, 'sizes.json'), `${JSON.stringify({ version, ...sizes }, null, 2)}\n`);
