import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { cp, glob, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { findFolderLoops } from './folder-loops.ts';

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));
const CONFIGURATION = [
  '.dependency-cruiser.cjs',
  'biome.json',
  'package.json',
  'test/tools/checks/connections-in-compose.grit',
  'test/tools/checks/titles-alone.grit',
];

/** Beginnings of titles. Those with a comment at the end of the line are reported, and no others. */
const titles = `import { describe, test } from '@jest/globals';
const work = async () => undefined;
describe('of a session', work as never); // a preposition, and no subject
test('it ends', work); // a pronoun
test.concurrent('that has ended is not refreshed', work); // a relative clause
test.each([1, 2])('takes %i', work); // a verb without its subject
test.concurrent.each([1, 2])('answers %i', work); // the same, of a word that may be a noun
test('one of two waits', work); // a part of what another text names
test('in a flood of logins, refreshes still work', work);
test('answers without a body are refused', work);
test('one source may wait', work);
test.each([1, 2])('%i sessions are enough', work);
`;

const mongodb = "import { MongoClient } from 'mongodb';";
const redis = "import { Redis } from 'ioredis';";
const routes = "export { routes } from '../../contracts/src/http/routes.ts';";
const loginRoutes = "export { loginRoutes } from '../http/login.routes.ts';";

/** The files of a small project, each with the rules that it breaks in a comment at its end. */
const files: Readonly<Record<string, string>> = {
  'libs/client/src/imports-contracts.ts': `${routes} // client-alone`,
  'libs/config/src/imports-env.ts':
    "import { env } from 'node:process'; export const home = env.HOME; // lint/style/noProcessEnv",
  'libs/config/src/index.ts': "export { loadConfig } from './load-config.ts';",
  'libs/config/src/load-config.ts': 'export const loadConfig = () => process.env.HOME;',
  'libs/config/src/reads-env.ts': 'export const home = process.env.HOME; // lint/style/noProcessEnv',
  'libs/contracts/src/http/imports-errors.ts':
    "export type { AppError } from '@auth-account/errors'; // contracts-and-errors-alone",
  'libs/contracts/src/http/routes.ts': "export const routes = ['/api/v1/keys'];",
  'libs/errors/src/imports-config.ts':
    "export { loadConfig } from '../../config/src/index.ts'; // contracts-and-errors-alone",
  'libs/errors/src/imports-contracts.ts': `${routes} // contracts-and-errors-alone`,
  'libs/local-stack/src/start-mongodb.ts': `${mongodb} export const start = () => new MongoClient(process.env.URI ?? '');`,
  'libs/redis/src/index.ts': 'export const one = 1;',
  'libs/stores/src/imports-contracts-http.ts': `${routes} // stores-without-http`,
  'libs/stores/src/opens-mongodb.ts': `${mongodb} export const open = (uri: string) => new MongoClient(uri); // plugin`,
  'libs/stores/src/opens-mongodb-renamed.ts':
    "import { MongoClient as Client } from 'mongodb'; export const open = (uri: string) => new Client(uri); // plugin",
  'libs/stores/src/takes-mongodb.ts':
    "import type { MongoClient } from 'mongodb'; export const of = (client: MongoClient) => client.db('auth');",
  'libs/telemetry/src/cycle-one.ts':
    "import { two } from './cycle-two.ts'; export const one = (): unknown => two; // no-cycles",
  'libs/telemetry/src/cycle-two.ts': "import { one } from './cycle-one.ts'; export const two = (): unknown => one;",
  'libs/telemetry/src/imports-fixture.ts': "export { some } from './some.fixture.ts'; // no-tests-in-production",
  'libs/telemetry/src/imports-nothing.ts': "export { nothing } from './nothing.ts'; // resolvable",
  'libs/telemetry/src/imports-service.ts':
    "export { upgrade } from '../../../services/push-gateway/src/upgrade.ts'; // libs-below-services",
  'libs/telemetry/src/some.fixture.ts': "export const some = 'fixture';",
  'libs/verifier/src/imports-config.ts':
    "export { loadConfig } from '../../config/src/index.ts'; // verifier-for-internal-services",
  'libs/verifier/src/imports-redis.ts': "export * from '../../redis/src/index.ts';",
  'services/api/src/announcements/commit.ts':
    "import type { RunTransaction } from '@auth-account/stores'; export type One = RunTransaction;",
  'services/api/src/compose.ts': `${redis} ${mongodb} export const compose = (uri: string) => [new MongoClient(uri), new Redis(uri)];`,
  'services/api/src/http/login.routes.ts':
    "import express from 'express'; import { login } from '../usecases/login.ts'; export const loginRoutes = () => express.Router().post('/', login);",
  'services/api/src/imports-local-stack.ts':
    "export { start } from '../../../libs/local-stack/src/start-mongodb.ts'; // no-tests-in-production",
  'services/api/src/imports-push-gateway.ts':
    "export { upgrade } from '../../push-gateway/src/upgrade.ts'; // services-apart",
  'services/api/src/stores/imports-express.ts':
    "import type { Request } from 'express'; export const ip = (request: Request) => request.ip; // stores-without-http",
  'services/api/src/stores/imports-routes.ts': `${loginRoutes} // stores-without-http`,
  'services/api/src/usecases/commits-by-hand.ts':
    "import type { OutboxStore } from '@auth-account/stores'; export type One = OutboxStore; // lint/style/noRestrictedImports",
  'services/api/src/usecases/groups/group.ts': "export const group = 'group';",
  'services/api/src/usecases/groups/imports-invites.ts':
    "import { invite } from '../invites/imports-groups.ts'; export const member = invite;",
  'services/api/src/usecases/imports-express.ts':
    "import type { Request } from 'express'; export const ip = (request: Request) => request.ip; // usecases-without-http",
  'services/api/src/usecases/imports-node-http.ts':
    "import { STATUS_CODES } from 'node:http'; export const ok = STATUS_CODES[200]; // usecases-without-http",
  'services/api/src/usecases/imports-routes.ts': `${loginRoutes} // usecases-without-http`,
  'services/api/src/usecases/invites/imports-groups.ts':
    "import { group } from '../groups/group.ts'; export const invite = group;",
  'services/api/src/usecases/login.ts': "export const login = () => 'in';",
  'services/push-gateway/src/upgrade.ts': "export const upgrade = 'upgrade';",
  'services/worker/src/delivery/deliver.ts': "export const deliver = () => 'delivered';",
  'services/worker/src/delivery/imports-relay.ts': "export { relay } from '../relay/relay.ts';",
  'services/worker/src/opens-redis-by-url.ts':
    "import { openRedis } from '@auth-account/redis'; export const open = (url: string) => openRedis({ REDIS_URL: url }, {}); // plugin",
  'services/worker/src/opens-redis.ts': `${redis} export const open = (url: string) => new Redis(url); // plugin`,
  'services/worker/src/relay/imports-runtime.ts': "export { poll } from '../runtime/poll.ts';",
  'services/worker/src/relay/relay.ts': "export const relay = () => 'relayed';",
  'services/worker/src/runtime/imports-delivery.ts': "export { deliver } from '../delivery/deliver.ts';",
  'services/worker/src/runtime/poll.ts': "export const poll = () => 'polled';",
  'test/opens-connections.ts':
    "import { createServer, request } from 'node:http'; export const found = [createServer, request, () => fetch('')]; // lint/style/noRestrictedGlobals, lint/style/noRestrictedImports",
  'test/support/imports-jest.ts':
    "import { expect } from '@jest/globals'; export const see = (value: unknown) => expect(value).toBe(1); // lint/style/noRestrictedImports",
  'test/titles.test.ts': titles,
};

const rulesOf = (source: string) => (source === titles ? ['plugin'] : (source.split(' // ')[1]?.split(', ') ?? []));
const reported = (isWanted: (rule: string) => boolean) =>
  Object.entries(files)
    .flatMap(([path, source]) =>
      rulesOf(source)
        .filter(isWanted)
        .map((rule) => `${rule}: ${path}`),
    )
    .sort();
const isOfBiome = (rule: string) => rule === 'plugin' || rule.startsWith('lint/');

const tree = realpathSync(temporaryFolder('boundaries'));
beforeAll(async () => {
  for (const [path, source] of Object.entries(files)) await write(path, source);
  for (const file of CONFIGURATION) await cp(join(PROJECT, file), join(tree, file));
  await symlink(join(PROJECT, 'node_modules'), join(tree, 'node_modules'));
});

async function write(path: string, source: string): Promise<void> {
  await mkdir(join(tree, dirname(path)), { recursive: true });
  await writeFile(join(tree, path), `${source}\n`);
}

/** Returns a tool's report. The tool exits with an error if it finds violations. */
function run(cwd: string, tool: string, ...args: readonly string[]) {
  const { promise, resolve } = Promise.withResolvers<string>();
  execFile(join(PROJECT, 'node_modules/.bin', tool), args, { cwd, maxBuffer: 2 ** 27 }, (_error, stdout) =>
    resolve(stdout),
  );
  return promise.then((output) => JSON.parse(output));
}

const cruise = (cwd: string) =>
  run(cwd, 'depcruise', '--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'libs', 'services');
const lint = (...paths: string[]) =>
  run(tree, 'biome', 'lint', '--vcs-enabled=false', '--reporter=json', '--max-diagnostics=none', ...paths);

async function filesIn(root: string, pattern: string, isBad: (path: string, text: string) => boolean) {
  const found: string[] = [];
  for await (const path of glob(pattern, { cwd: root })) {
    if (isBad(path, await readFile(join(root, path), 'utf8'))) found.push(path);
  }
  return found.sort();
}

describe('the boundaries', () => {
  test('boundaries between modules are reported where they are crossed, and loops between folders', async () => {
    const { summary, modules } = await cruise(tree);
    const found = summary.violations.map(
      ({ rule, from }: { rule: { name: string }; from: string }) => `${rule.name}: ${from}`,
    );
    expect(found.sort()).toEqual(reported((rule) => !isOfBiome(rule)));
    expect(findFolderLoops(modules)).toEqual([
      'services/api/src/http → services/api/src/usecases',
      'services/api/src/usecases → services/api/src/http',
      'services/api/src/usecases/groups → services/api/src/usecases/invites',
      'services/api/src/usecases/invites → services/api/src/usecases/groups',
      'services/worker/src/delivery → services/worker/src/relay',
      'services/worker/src/relay → services/worker/src/runtime',
      'services/worker/src/runtime → services/worker/src/delivery',
    ]);
  });

  test('no folders of one package import each other in a loop', async () => {
    expect(findFolderLoops((await cruise(PROJECT)).modules)).toEqual([]);
  });

  test('boundaries around connections, transactions, the environment and Jest are reported where crossed', async () => {
    const { diagnostics } = await lint('libs', 'services', 'test');
    const found = diagnostics.map(
      ({ category, location }: { category: string; location: { path: string } }) => `${category}: ${location.path}`,
    );
    expect([...new Set(found)].sort()).toEqual(reported(isOfBiome));
  });

  test('titles that do not stand alone are reported, and only those', async () => {
    const { diagnostics } = await lint('test/titles.test.ts');
    const found = diagnostics.map(({ location }: { location: { start: { line: number } } }) => location.start.line);
    expect(found).toEqual(titles.split('\n').flatMap((text, index) => (/; \/\/ /.test(text) ? [index + 1] : [])));
  });

  test('the root of a service’s sources has main, compose, app and config only', async () => {
    const isLoose = (path: string) => !/\/(?:main|compose|app|config)(?:\.test)?\.ts$/.test(path);
    expect(await filesIn(PROJECT, 'services/*/src/*.ts', isLoose)).toEqual([]);
    expect(await filesIn(tree, 'services/api/src/*.ts', isLoose)).toEqual([
      'services/api/src/imports-local-stack.ts',
      'services/api/src/imports-push-gateway.ts',
    ]);
  });

  test('no test beside the code imports test/support or reads the address of a test server', async () => {
    const tests = '{libs,services}/*/src/**/*.test.ts';
    const needsServers = (_path: string, text: string) => /test\/support\/|\bTEST_[A-Z]/.test(text);
    expect(await filesIn(PROJECT, tests, needsServers)).toEqual([]);
    await write('libs/redis/src/imports.test.ts', "import '../../../test/support/api/accounts.ts';");
    await write('libs/redis/src/reads.test.ts', "export const uri = process.env.TEST_MONGODB_URI ?? '';");
    await write('libs/redis/src/good.test.ts', 'export const one = 1;');
    expect(await filesIn(tree, tests, needsServers)).toEqual([
      'libs/redis/src/imports.test.ts',
      'libs/redis/src/reads.test.ts',
    ]);
  });
});
