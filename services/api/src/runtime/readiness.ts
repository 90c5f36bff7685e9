import type { Check } from '@auth-account/lifecycle';
import type { ApiConfig } from '../config.ts';
import type { Connections } from './shutdown-steps.ts';

/** Returns the checks of readiness. Only MongoDB must answer before the api takes requests. */
export function readinessChecks({ mongo, redis, limitRedis, queueRedis }: Connections, config: ApiConfig): Check[] {
  return [
    {
      name: 'mongodb',
      async run() {
        await mongo.db(config.MONGODB_DATABASE).command({ ping: 1 });
        return { ok: true };
      },
    },
    {
      // No answer of the api needs Redis, because the worker repeats whatever Redis has missed.
      name: 'redis',
      run() {
        const away = [redis, limitRedis, queueRedis].find(({ status }) => status !== 'ready');
        return { ok: true, ...(away && { reason: `connection is ${away.status}` }) };
      },
    },
  ];
}
