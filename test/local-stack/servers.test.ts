import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProcessGuard, type ProcessGuard, startMongo, startRedis } from '@auth-account/local-stack';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';

let dir: string;
let guard: ProcessGuard;
const log = () => undefined;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'auth-account-servers-'));
  guard = createProcessGuard(dir);
});
afterEach(async () => {
  await rm(dir, { recursive: true });
  guard.dismiss();
});

async function withMongo<T>(uri: string, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = new MongoClient(uri);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

describe('startMongo', () => {
  test('a replica set whose port has changed since is configured anew, with its data', async () => {
    const first = await startMongo({ dir, log, onSpawn: guard.watch });
    await withMongo(first.uri, (client) => client.db('test').collection('kept').insertOne({}));
    await first.stop();
    const second = await startMongo({ dir, log, onSpawn: guard.watch });
    expect(second.ports).not.toEqual(first.ports);
    expect(await withMongo(second.uri, (client) => client.db('test').collection('kept').countDocuments())).toBe(1);
    await second.kill();
    expect(second.pids()).toEqual([]);
  });

  test('of three members one may be killed: another becomes primary, and the dead one comes back', async () => {
    const mongo = await startMongo({ dir, log, members: 3, onSpawn: guard.watch });
    await mongo.kill('SIGKILL', 0);
    await mongo.waitForPrimary(15_000);
    expect(mongo.pids()).toHaveLength(2);
    await mongo.start(0);
    expect(mongo.pids()).toHaveLength(3);
    await mongo.kill();
  });

  test('a port that is taken is told at once, with the complaint of mongod', async () => {
    const taken = Number(new URL(process.env.TEST_REDIS_URL ?? '').port);
    await expect(startMongo({ dir, log, port: taken, onSpawn: guard.watch })).rejects.toThrow(
      /ended: .*Address already in use/s,
    );
  });
});

describe('startRedis', () => {
  test('it wants no eviction and an append-only file, and keeps what it took over a kill', async () => {
    const redis = await startRedis({ dir, log, onSpawn: guard.watch });
    const client = new Redis(redis.url);
    expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
    expect(await client.config('GET', 'bind')).toEqual(['bind', '127.0.0.1']);
    await client.config('SET', 'appendfsync', 'always');
    await client.set('kept', '1');
    await redis.kill();
    expect(redis.pid()).toBeUndefined();
    await redis.start();
    expect(await client.get('kept')).toBe('1');
    await client.quit();
    await redis.stop();
  });
});
