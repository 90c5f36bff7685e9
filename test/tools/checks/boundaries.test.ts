import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, realpath, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));
const CONFIGURATION = [
  '.dependency-cruiser.cjs',
  'biome.json',
  'package.json',
  'test/tools/checks/connections-in-compose.grit',
  'test/tools/checks/titles-alone.grit',
];

let tree: string;

/** Copies the project's own configuration to the fixtures, which stand in for the project's sources. */
beforeAll(async () => {
  tree = await realpath(await mkdtemp(join(tmpdir(), 'boundaries-')));
  await cp(join(PROJECT, 'test/tools/checks/fixtures'), tree, { recursive: true });
  for (const file of CONFIGURATION) await cp(join(PROJECT, file), join(tree, file));
  await symlink(join(PROJECT, 'node_modules'), join(tree, 'node_modules'));
  // In the project, Jest would run it under this name.
  await rename(join(tree, 'test/titles.ts'), join(tree, 'test/titles.test.ts'));
});

afterAll(() => rm(tree, { recursive: true, force: true }));

/** Returns a tool's standard output. The tool is expected to exit with an error. */
function run(tool: string, args: readonly string[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  execFile(join(PROJECT, 'node_modules/.bin', tool), args, { cwd: tree, maxBuffer: 2 ** 26 }, (_error, stdout) =>
    resolve(stdout),
  );
  return promise;
}

describe('the boundaries', () => {
  test('boundaries between modules are reported where they are crossed, and only there', async () => {
    const args = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'libs', 'services'];
    const report = JSON.parse(await run('depcruise', args));
    const found = report.summary.violations.map(
      ({ rule, from }: { rule: { name: string }; from: string }) => `${rule.name}: ${from}`,
    );
    expect(found.sort()).toEqual([
      'client-alone: libs/client/src/imports-contracts.ts',
      'contracts-and-errors-alone: libs/contracts/src/http/imports-errors.ts',
      'contracts-and-errors-alone: libs/errors/src/imports-config.ts',
      'contracts-and-errors-alone: libs/errors/src/imports-contracts.ts',
      'libs-below-services: libs/telemetry/src/imports-service.ts',
      'no-cycles: libs/telemetry/src/cycle-one.ts',
      'no-tests-in-production: libs/telemetry/src/imports-fixture.ts',
      'no-tests-in-production: services/api/src/imports-local-stack.ts',
      'resolvable: libs/telemetry/src/imports-nothing.ts',
      'services-apart: services/api/src/imports-push-gateway.ts',
      'stores-without-http: libs/stores/src/imports-contracts-http.ts',
      'stores-without-http: services/api/src/stores/imports-express.ts',
      'stores-without-http: services/api/src/stores/imports-routes.ts',
      'usecases-without-http: services/api/src/usecases/imports-express.ts',
      'usecases-without-http: services/api/src/usecases/imports-node-http.ts',
      'usecases-without-http: services/api/src/usecases/imports-routes.ts',
      'verifier-for-internal-services: libs/verifier/src/imports-config.ts',
    ]);
  });

  test('boundaries around connections, transactions, the environment and Jest are reported where crossed', async () => {
    const options = ['--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none'];
    const args = ['lint', ...options, 'libs', 'services', 'test'];
    const { diagnostics } = JSON.parse(await run('biome', args));
    const found = diagnostics.map(
      ({ category, location }: { category: string; location: { path: string } }) => `${category}: ${location.path}`,
    );
    expect([...new Set(found)].sort()).toEqual([
      'lint/style/noProcessEnv: libs/config/src/imports-env.ts',
      'lint/style/noProcessEnv: libs/config/src/reads-env.ts',
      'lint/style/noRestrictedGlobals: test/opens-connections.ts',
      'lint/style/noRestrictedImports: services/api/src/usecases/commits-by-hand.ts',
      'lint/style/noRestrictedImports: test/opens-connections.ts',
      'lint/style/noRestrictedImports: test/support/imports-jest.ts',
      'plugin: libs/stores/src/opens-mongodb-renamed.ts',
      'plugin: libs/stores/src/opens-mongodb.ts',
      'plugin: services/worker/src/opens-redis-by-url.ts',
      'plugin: services/worker/src/opens-redis.ts',
      'plugin: test/titles.test.ts',
    ]);
  });

  test('titles that do not stand alone are reported, and only those', async () => {
    const file = 'test/titles.test.ts';
    const { diagnostics } = JSON.parse(await run('biome', ['lint', '--vcs-enabled=false', '--reporter=json', file]));
    const found = diagnostics.map(({ location }: { location: { start: { line: number } } }) => location.start.line);
    const lines = (await readFile(join(tree, file), 'utf8')).split('\n');
    expect(found).toEqual(lines.flatMap((text, index) => (/; \/\/ /.test(text) ? [index + 1] : [])));
  });
});
