import { execFile } from 'node:child_process';
import { cp, glob, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findFolderLoops, findLooseFiles } from './package-layout.ts';

const run = promisify(execFile);
const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));

let fixtures: string;

beforeAll(async () => {
  fixtures = await realpath(await mkdtemp(join(tmpdir(), 'layout-')));
  await cp(join(PROJECT, 'test/tools/checks/fixtures'), fixtures, { recursive: true });
  await cp(join(PROJECT, '.dependency-cruiser.cjs'), join(fixtures, '.dependency-cruiser.cjs'));
});
afterAll(() => rm(fixtures, { recursive: true, force: true }));

async function loopsOf(tree: string): Promise<string[]> {
  const tool = join(PROJECT, 'node_modules/.bin/depcruise');
  const args = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'libs', 'services'];
  // The tool exits with an error if it finds violations, which are the subject of another test.
  const { stdout } = await run(tool, args, { cwd: tree, maxBuffer: 2 ** 27 }).catch((error) => error);
  return findFolderLoops(JSON.parse(stdout).modules);
}

async function looseFilesOf(tree: string): Promise<string[]> {
  const loose: string[] = [];
  for await (const src of glob('services/*/src', { cwd: tree })) {
    loose.push(...(await findLooseFiles(join(tree, src))).map((name) => join(src, name)));
  }
  return loose.sort();
}

/** Returns the tests beside the code that need a server, because `npm run test:unit` starts none. */
async function testsWithServersOf(tree: string): Promise<string[]> {
  const found: string[] = [];
  for await (const file of glob('{libs,services}/*/src/**/*.test.ts', { cwd: tree })) {
    const text = await readFile(join(tree, file), 'utf8');
    if (/test\/support\/|\bTEST_[A-Z]/.test(text)) found.push(file);
  }
  return found.sort();
}

describe('import loops between the folders of a package', () => {
  test('no folders of one package import each other in a loop', async () => {
    expect(await loopsOf(PROJECT)).toEqual([]);
  });

  test('folders that import each other in a loop are reported', async () => {
    expect(await loopsOf(fixtures)).toEqual([
      'services/api/src/http → services/api/src/usecases',
      'services/api/src/usecases/groups → services/api/src/usecases/invites',
      'services/worker/src/delivery → services/worker/src/relay → services/worker/src/runtime',
    ]);
  });
});

describe('files at the root of a service’s sources', () => {
  test('the root of a service’s sources has main, compose, app and config only', async () => {
    expect(await looseFilesOf(PROJECT)).toEqual([]);
  });

  test('another file at the root of a service’s sources is reported', async () => {
    expect(await looseFilesOf(fixtures)).toEqual([
      'services/api/src/imports-local-stack.ts',
      'services/api/src/imports-push-gateway.ts',
      'services/push-gateway/src/upgrade.ts',
      'services/worker/src/opens-redis-by-url.ts',
      'services/worker/src/opens-redis.ts',
    ]);
  });
});

describe('servers in tests beside the code', () => {
  test('no test beside the code imports test/support or reads the address of a test server', async () => {
    expect(await testsWithServersOf(PROJECT)).toEqual([]);
  });

  test('a test beside the code that imports test/support or reads an address is reported', async () => {
    const src = join(fixtures, 'services/api/src/http');
    await writeFile(join(src, 'imports.test.ts'), "import '../../../../test/support/api/accounts.ts';");
    await writeFile(join(src, 'reads.test.ts'), "export const uri = process.env.TEST_MONGODB_URI ?? '';");
    await writeFile(join(src, 'good.test.ts'), 'export const one = 1;');
    expect(await testsWithServersOf(fixtures)).toEqual([
      'services/api/src/http/imports.test.ts',
      'services/api/src/http/reads.test.ts',
    ]);
  });
});
