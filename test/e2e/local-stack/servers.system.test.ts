import { findFreePort, type OnSpawn, startMongo, startRedis } from '@auth-account/local-stack';
import { describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { type Closing, closingAll } from '../../support/closing.ts';
import { openGuardedFolder } from '../../support/processes/guarded-folder.ts';

/** A directory for a test's servers, and a hook through which those that the test leaves running are ended. */
interface Place {
  readonly dir: string;
  readonly onSpawn: OnSpawn;
  readonly log: () => undefined;
}

async function openPlace(closing: Closing): Promise<Place> {
  const folder = await openGuardedFolder('servers');
  closing({
    async close() {
      await folder.close();
    },
  });
  return { dir: folder.dir, onSpawn: folder.watch, log: () => undefined };
}

async function withMongo<T>(uri: string, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = new MongoClient(uri);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

describe('startMongo', () => {
  test.concurrent(
    'a replica set whose port has changed since is configured anew, with its data',
    closingAll(async (closing) => {
      const place = await openPlace(closing);
      const first = await startMongo(place);
      await withMongo(first.uri, (client) => client.db('test').collection('kept').insertOne({}));
      await first.stop();
      let port = await findFreePort();
      while (first.ports.includes(port)) port = await findFreePort();
      const second = await startMongo({ ...place, port });
      expect(await withMongo(second.uri, (client) => client.db('test').collection('kept').countDocuments())).toBe(1);
      await second.kill();
      expect(second.pids()).toEqual([]);
    }),
  );

  test.concurrent(
    'a killed member of three is replaced as the primary, and comes back',
    closingAll(async (closing) => {
      const place = await openPlace(closing);
      const mongo = await startMongo({ ...place, members: 3 });
      await mongo.kill('SIGKILL', 0);
      await mongo.waitForPrimary(60_000);
      expect(mongo.pids()).toHaveLength(2);
      await mongo.start(0);
      expect(mongo.pids()).toHaveLength(3);
      await mongo.kill();
    }),
  );

  test.concurrent(
    'a port that is taken is reported at once, with the complaint of mongod',
    closingAll(async (closing) => {
      const place = await openPlace(closing);
      const taken = Number(new URL(process.env.TEST_REDIS_URL ?? '').port);
      await expect(startMongo({ ...place, port: taken })).rejects.toThrow(/ended: .*Address already in use/s);
    }),
  );
});

describe('startRedis', () => {
  test.concurrent(
    'startRedis wants no eviction and an append-only file, and keeps over a kill what it took',
    closingAll(async (closing) => {
      const place = await openPlace(closing);
      const redis = await startRedis(place);
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
    }),
  );
});
