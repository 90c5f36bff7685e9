import type { Redis } from 'ioredis';

/** The function of each client, because every call would add a listener, and some clients are used for months. */
const identities = new WeakMap<Redis, () => Promise<string>>();

/**
 * Returns the run id of the Redis server. The id is new with every start, so a new id reveals another server or a
 * restart. In both cases, Redis may have older data. The function asks once per connection.
 */
export function createServerIdentity(redis: Redis): () => Promise<string> {
  const identity = identities.get(redis) ?? watchIdentity(redis);
  identities.set(redis, identity);
  return identity;
}

function watchIdentity(redis: Redis): () => Promise<string> {
  let known: Promise<string> | undefined;
  redis.on('close', () => {
    known = undefined;
  });
  return () => {
    known ??= readRunId(redis).catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  };
}

async function readRunId(redis: Redis): Promise<string> {
  const runId = /^run_id:(\w+)/m.exec(await redis.info('server'))?.[1];
  if (runId === undefined) throw new Error('Redis did not return its run id');
  return runId;
}
