import type { KeyObject } from 'node:crypto';
import { createLimitKeys, type RedisClient } from '@auth-account/redis';

export interface ForgetPlacesDeps {
  /** Connection that fails at once while Redis is away. */
  readonly redis: Pick<RedisClient, 'zrange' | 'zrem' | 'unlink'>;
  readonly keyPrefix: string;
  /**
   * The server's secrets, including old secrets, because limits that were counted before a rotation are named with an
   * older secret.
   */
  readonly secrets: () => readonly KeyObject[];
}

/**
 * Forgets the places (devices and networks) from which the accounts with these addresses were used. Rejects with
 * Redis's error.
 */
export type ForgetPlaces = (emailKeys: readonly string[]) => Promise<void>;

/**
 * Creates the function that removes the limits' data about an account from Redis: its devices and networks, their
 * failures, and the account's totals. The names of these data are HMACs of the address, so anybody who has the server's keys could find them.
 *
 * Counts for a device or network that the account does not know, and the counts of other limits, are not removed. They
 * expire within a day.
 */
export function createForgetPlaces({ redis, keyPrefix, secrets }: ForgetPlacesDeps): ForgetPlaces {
  return async (emailKeys) => {
    for (const secret of secrets()) {
      const keys = createLimitKeys(keyPrefix, () => secret);
      for (const emailKey of emailKeys) {
        const account = keys.tagOf('account', emailKey);
        const known = [keys.knownOf(account), keys.factorKnownOf(account), keys.provenOf(account)];
        const places = await Promise.all(known.map((places) => redis.zrange(places, '0', '-1')));
        const tags = [...new Set([account, ...places.flat()])];
        await redis.zrem(keys.crowdOf('login'), account);
        await redis.zrem(keys.crowdOf('password'), account);
        const totals = [keys.wrongOf('password', account), keys.wrongOf('factor', account)];
        const counts = (tag: string) => [keys.delayOf(tag), keys.failuresOf(tag), keys.factorTriesOf(tag)];
        await redis.unlink(...known, ...totals, ...tags.flatMap(counts));
      }
    }
  };
}
