import type { KeyObject } from 'node:crypto';
import { createLimitKeys, type RedisClient } from '@auth-account/redis';

export interface ForgetPlacesDeps {
  /** Fails at once while Redis is away. */
  readonly redis: Pick<RedisClient, 'zrange' | 'zrem' | 'unlink'>;
  readonly keyPrefix: string;
  /** The server's secrets: limits that were counted before a rotation have names under an older one. */
  readonly secrets: () => readonly KeyObject[];
}

/** Forgets where the accounts with these addresses were logged in to. Rejects with Redis's error. */
export type ForgetPlaces = (emailKeys: readonly string[]) => Promise<void>;

/**
 * Creates the function that removes from Redis what limits know of an account: its devices and networks, and their
 * failures. The names are HMACs of the address, and so would be found by whoever has the server's keys.
 *
 * Not removed: counts for a device or network that the account does not know, and those of other limits. They end by
 * themselves within a day.
 */
export function createForgetPlaces({ redis, keyPrefix, secrets }: ForgetPlacesDeps): ForgetPlaces {
  return async (emailKeys) => {
    for (const secret of secrets()) {
      const keys = createLimitKeys(keyPrefix, () => secret);
      for (const emailKey of emailKeys) {
        const account = keys.tagOf('account', emailKey);
        const known = keys.knownOf(account);
        const tags = [account, ...(await redis.zrange(known, '0', '-1'))];
        await redis.zrem(keys.crowdOf('login'), account);
        await redis.unlink(known, ...tags.flatMap((tag) => [keys.delayOf(tag), keys.failuresOf(tag)]));
      }
    }
  };
}
