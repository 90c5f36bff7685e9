import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { assertDataVersion, DataVersionError, noteDataVersion } from './data-version.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'auth-account-version-'));
});
afterEach(() => rm(directory, { recursive: true }));

test('data without a note, and data of the same version, are accepted', async () => {
  await assertDataVersion(directory, [6, 0], 'mongod');
  await noteDataVersion(directory, [6, 0]);
  await assertDataVersion(directory, [6, 0], 'mongod');
});

test.each([
  ['older', [6, 0]],
  ['newer', [8, 2]],
] as const)('a mongod that is %s is refused with both versions and what to do', async (_, version) => {
  await noteDataVersion(directory, [8, 0]);
  const refused = assertDataVersion(directory, version, '/usr/bin/mongod');
  await expect(refused).rejects.toThrow(DataVersionError);
  await expect(refused).rejects.toThrow(
    `written by MongoDB 8.0, but the mongod that was found is ${version.join('.')} (/usr/bin/mongod). ` +
      'Put MongoDB 8.0 first on the PATH, or start without the data: npm run up -- --fresh',
  );
});
