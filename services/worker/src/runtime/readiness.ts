import type { Check, CheckResult } from '@auth-account/lifecycle';
import { primariesOf, type RedisClient } from '@auth-account/redis';
import type { Redis } from 'ioredis';
import type { Db } from 'mongodb';

/** The worker is ready while MongoDB and Redis answer. */
export function createReadiness(db: Pick<Db, 'command'>, redis: RedisClient): Check[] {
  return [
    {
      name: 'mongodb',
      async run() {
        await db.command({ ping: 1 });
        return { ok: true };
      },
    },
    { name: 'redis', run: () => checkRedis(redis) },
  ];
}

/**
 * A server that evicts keys or writes no append-only file causes only a warning, because the worker later restores lost
 * data from MongoDB.
 */
async function checkRedis(redis: RedisClient): Promise<CheckResult> {
  if (redis.status !== 'ready') return { ok: false, reason: `connection is ${redis.status}` };
  const warnings = new Set((await Promise.all(primariesOf(redis).map(warningsOf))).flat());
  return warnings.size === 0 ? { ok: true } : { ok: true, reason: `warning: ${[...warnings].join('; ')}` };
}

async function warningsOf(redis: Redis): Promise<string[]> {
  const [memory, persistence] = await Promise.all([redis.info('memory'), redis.info('persistence')]);
  return [
    warning('maxmemory-policy', field(memory, 'maxmemory_policy'), 'noeviction'),
    warning('append-only file', field(persistence, 'aof_enabled'), '1'),
  ].flat();
}

function field(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
}

function warning(what: string, value: string | undefined, wanted: string): string[] {
  if (value === wanted) return [];
  return [value === undefined ? `${what} is unknown` : `${what} is ${value}, should be ${wanted}`];
}
