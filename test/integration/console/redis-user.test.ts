import { randomUUID } from 'node:crypto';
import { openForceLogoutQueue, requestForceLogout } from '@auth-account/messaging';
import { createDenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { failFastOptions, openRedis, redisKeys } from '@auth-account/redis';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Redis } from 'ioredis';
import { startDocumentedRedis } from '../../support/verifier/documented-acl.ts';

const keys = redisKeys('auth');

let console: Redis;
let close: () => Promise<void>;

beforeAll(async () => {
  const redis = await startDocumentedRedis('console.md');
  console = openRedis({ REDIS_URL: redis.url }, { ...failFastOptions(), enableOfflineQueue: true }) as Redis;
  close = async () => {
    console.disconnect();
    await redis.close();
  };
});

afterAll(() => close());

describe('the Redis user of docs/console.md', () => {
  test("the console's Redis user keeps sessions, counts, and what waits for consent", async () => {
    const key = '{auth}:console:session:a';
    await expect(console.multi().set(key, 1, 'EX', 60).incr(key).ttl(key).exec()).resolves.toHaveLength(3);
    await console.set(key, 2, 'KEEPTTL', 'XX');
    await console.zadd('{auth}:console:consents', 1, 'a');
    await console.zremrangebyscore('{auth}:console:consents', '-inf', 0);
    await console.sadd('{auth}:console:subject:a', 'b');
    expect(await console.unlink(key, '{auth}:console:subject:a')).toBe(2);
    expect(await console.time()).toHaveLength(2);
  });

  test("the console's Redis user orders logouts, and denies sessions", async () => {
    const sessionId = randomUUID();
    const queue = openForceLogoutQueue(console, keys);
    await requestForceLogout(queue, { session_id: sessionId, reason: 'Lost phone' });
    expect(await queue.getJobCounts('waiting')).toEqual({ waiting: 1 });
    const denial = { kind: 'revoked', reason: 'SESSION_REVOKED' } as const;
    const denyList = createDenyList(console, keys, denialLifetimeMs(600));
    await denyList.denyAndClose([{ sessionId, denial, requestId: 'r', decidedAt: Date.now() }]);
    expect(await denyList.peek([sessionId])).toEqual([denial]);
  });

  test.each([
    ['FLUSHALL', []],
    ['KEYS', ['*']],
    ['CONFIG', ['SET', 'maxmemory', '1']],
    ['ACL', ['LIST']],
    ['SHUTDOWN', []],
    ['SET', ['other', '1']],
    ['PUBLISH', ['other', '1']],
  ])("the console's Redis user may not %s %j", async (command, words) => {
    await expect(console.call(command, ...words)).rejects.toThrow('NOPERM');
  });
});
