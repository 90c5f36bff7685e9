import type { Check } from '@auth-account/lifecycle';
import type { RedisClient } from '@auth-account/redis';
import type { Db } from 'mongodb';

/** The console is ready while MongoDB and Redis answer. Without its provider nobody signs in, but that is no reason to restart. */
export function readinessChecks(db: Pick<Db, 'command'>, redis: Pick<RedisClient, 'status'>): Check[] {
  return [
    {
      name: 'mongodb',
      async run() {
        await db.command({ ping: 1 });
        return { ok: true };
      },
    },
    {
      name: 'redis',
      run: () => (redis.status === 'ready' ? { ok: true } : { ok: false, reason: `connection is ${redis.status}` }),
    },
  ];
}
