import { redisKeys } from '@auth-account/redis';
import { keyPrefix, type VerifierFixture } from '../../support/verifier/verifier-fixture.ts';

const keys = redisKeys(keyPrefix);

/** One denial: a session's id, what the services store for it, and its time in Redis. */
export interface ManyDenial {
  readonly id: string;
  readonly value: string;
  readonly at: number;
}

const script = `
for i = 1, #ARGV, 4 do
  redis.call('SET', ARGV[i], ARGV[i + 1], 'PX', 600000)
  redis.call('ZADD', KEYS[1], ARGV[i + 2], ARGV[i + 3])
end`;

/** Writes thousands of denials into the list in one command. */
export async function denyMany({ admin }: VerifierFixture, denials: readonly ManyDenial[]): Promise<void> {
  const fields = denials.flatMap(({ id, value, at }) => [keys.denied(id), value, at, id]);
  await admin.eval(script, 1, keys.revocations, ...fields);
}

export async function forgetMany({ admin }: VerifierFixture, ids: readonly string[]): Promise<void> {
  await admin.del(ids.map(keys.denied));
  await admin.zrem(keys.revocations, ...ids);
}
