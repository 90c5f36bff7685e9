import { createDenyList } from '@auth-account/messaging/deny-list';
import { primariesOf } from '@auth-account/redis';
import type { Redis } from 'ioredis';
import type { RedisStore } from '../context.ts';
import { checkClock, type Finding, failed, isAtLeast, ok, warning } from './finding.ts';

/** Checks Redis, or each primary of a cluster. Rejects if any of these does not answer. */
export async function checkRedis({ redis, keys }: RedisStore): Promise<Finding[]> {
  const primaries = primariesOf(redis);
  const findings = primaries.map((server, index) => checkServer(server, primaries.length > 1 ? ` ${index + 1}` : ''));
  // The lifetime of entries (1) does not matter, because only writes use it.
  const isComplete = await createDenyList(redis, keys, 1).isComplete();
  const denyList = isComplete
    ? ok('redis deny list', 'complete')
    : failed(
        'redis deny list',
        'not complete: api and push-gateway take Redis for away',
        'Start a worker with the same KEY_PREFIX: it rewrites the list from MongoDB within seconds.',
      );
  return [...(await Promise.all(findings)).flat(), denyList];
}

async function checkServer(server: Redis, which: string): Promise<Finding[]> {
  const info = await server.info();
  const field = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1] ?? 'unknown';
  const name = `redis${which}`;
  return [
    checkVersion(name, field('redis_version')),
    checkPolicy(name, field('maxmemory_policy')),
    checkAppendOnlyFile(name, field('aof_enabled')),
    await checkClock(name, async () => {
      const [seconds, microseconds] = await server.time();
      return Number(seconds) * 1_000 + Number(microseconds) / 1_000;
    }),
  ];
}

function checkVersion(name: string, version: string): Finding {
  if (isAtLeast(version, [6, 2])) return ok(`${name} version`, version);
  return failed(`${name} version`, version, 'Upgrade Redis to 7 (without a cluster 6.2 is enough), or use Valkey.');
}

function checkPolicy(name: string, policy: string): Finding {
  const check = `${name} maxmemory-policy`;
  if (policy === 'noeviction') return ok(check, policy);
  const detail = `${policy}: short of memory, Redis would forget revocations and jobs`;
  return failed(check, detail, 'CONFIG SET maxmemory-policy noeviction, and the same in redis.conf.');
}

function checkAppendOnlyFile(name: string, enabled: string): Finding {
  const check = `${name} append-only file`;
  if (enabled === '1') return ok(check, 'on');
  const detail = 'off: a restart loses jobs, which the relay makes good later';
  return warning(check, detail, 'CONFIG SET appendonly yes, and the same in redis.conf.');
}
