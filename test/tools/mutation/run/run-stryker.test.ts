import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { runStryker } from './run-stryker.ts';

const root = temporaryFolder('stryker');

test('a run of Stryker that says again and again that it has tested as many mutants is ended', async () => {
  const stryker = join(root, 'still.mjs');
  writeFileSync(stryker, "setInterval(() => console.log('50% 1/2 tested (0 survived)'), 10);");
  const options = { root, stryker, env: process.env, guard: { watch: () => undefined }, stillMs: 1_000 };
  await expect(runStryker('config', join(root, 'log'), options)).rejects.toThrow('stood still');
});
