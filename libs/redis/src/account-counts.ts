import type { KeyObject } from 'node:crypto';
import { factorTryLimits } from './account-limits.ts';
import { createLimitKeys, type LimitKeys, sinceRecovery } from './limit-keys.ts';
import type { RedisClient } from './redis-client.ts';

/** Wrong verdicts on a secret, from everywhere, which count until a right one or a recovery. */
export interface WrongVerdicts {
  /** From devices and networks that the account does not know. */
  readonly unknown: number;
  /** From devices and networks that had given the secret, and from their sessions. */
  readonly known: number;
  /** Time of the recovery from which they count, in milliseconds since the epoch; 0 if there was none. */
  readonly since: number;
}

/** Counts of the limits for an account. Times are milliseconds since the epoch. */
export interface AccountCounts {
  /** The account's name in the audit log's `limit.exceeded`. */
  readonly tag: string;
  readonly wrongPasswords: WrongVerdicts;
  readonly wrongFactors: WrongVerdicts;
  /** Times of the newest wrong passwords from unknown devices and networks that count towards a day, newest first. */
  readonly failures: readonly number[];
  /** Time before which no unknown device or network may try a password; 0 if there is none. */
  readonly loginFrom: number;
  /** Times of the newest tries of the second factor from unknown devices and networks, newest first. */
  readonly factorTries: readonly number[];
  /** Times of the newest codes that were requested from unknown devices and networks, newest first. */
  readonly codes: readonly number[];
  /** Devices and networks that the account knows. */
  readonly places: number;
  /** Those of them with failures of their own. */
  readonly knownWithFailures: number;
}

/** Reads and removes what the limits count for accounts. Rejects with Redis's error. */
export interface AccountCountStore {
  read(emailKey: string): Promise<AccountCounts>;
  /**
   * Removes the counts of passwords, second factors and codes. The account keeps the devices and networks that it
   * knows.
   */
  clear(emailKey: string, recoveredAt: Date | undefined): Promise<void>;
  /**
   * Removes the account's devices and networks too. Counts for a device or network that the account does not know, and
   * the counts of other limits, are not removed: they expire within a day.
   */
  forget(emailKeys: readonly string[]): Promise<void>;
}

export interface AccountCountDeps {
  readonly redis: Pick<RedisClient, 'zrange' | 'zrem' | 'unlink' | 'hgetall' | 'lrange' | 'exists'>;
  readonly keyPrefix: string;
  /** The server's secrets, newest first. What was counted before a rotation has names by an older one. */
  readonly secrets: () => readonly KeyObject[];
}

/** Reads and removes the counts of accounts. */
export function createAccountCounts({ redis, keyPrefix, secrets }: AccountCountDeps): AccountCountStore {
  const namesOf = (secret: KeyObject) => createLimitKeys(keyPrefix, () => secret);
  const timesOf = async (list: string) => (await redis.lrange(list, 0, factorTryLimits.perDay - 1)).map(Number);

  async function knownOf(keys: LimitKeys, account: string) {
    const sets = [keys.knownOf(account), keys.factorKnownOf(account), keys.provenOf(account)];
    const tags = await Promise.all(sets.map((places) => redis.zrange(places, '0', '-1')));
    return { sets, tags: [...new Set(tags.flat())] };
  }

  /** Removes the counts, and returns the names of the sets of devices and networks. */
  async function remove(keys: LimitKeys, emailKey: string): Promise<string[]> {
    const account = keys.tagOf('account', emailKey);
    const { sets, tags } = await knownOf(keys, account);
    await redis.zrem(keys.accountLruOf('login'), account);
    await redis.zrem(keys.accountLruOf('password'), account);
    const counts = (tag: string) => [
      ...[keys.delayOf(tag), keys.failuresOf(tag), keys.factorTriesOf(tag)],
      ...(['strange', 'known', 'device', 'network'] as const).map((kind) => keys.codesOf(kind, tag)),
    ];
    const totals = [keys.wrongOf('password', account), keys.wrongOf('factor', account)];
    await redis.unlink(...totals, ...[account, ...tags].flatMap(counts));
    return sets;
  }

  return {
    async read(emailKey) {
      const [secret] = secrets();
      if (secret === undefined) throw new Error('there is no server key');
      const keys = namesOf(secret);
      const tag = keys.tagOf('account', emailKey);
      const { tags } = await knownOf(keys, tag);
      const [passwords, factors, delay, failures, factorTries, codes, failed] = await Promise.all([
        redis.hgetall(keys.wrongOf('password', tag)),
        redis.hgetall(keys.wrongOf('factor', tag)),
        redis.hgetall(keys.delayOf(tag)),
        redis.lrange(keys.failuresOf(tag), 0, -1),
        timesOf(keys.factorTriesOf(tag)),
        timesOf(keys.codesOf('strange', tag)),
        Promise.all(tags.map((each) => redis.exists(keys.delayOf(each)))),
      ]);
      return {
        tag,
        wrongPasswords: verdictsOf(passwords),
        wrongFactors: verdictsOf(factors),
        failures: failures.map(Number),
        loginFrom: Number(delay.until ?? 0),
        factorTries,
        codes,
        places: tags.length,
        knownWithFailures: failed.filter((count) => count > 0).length,
      };
    },
    async clear(emailKey, recoveredAt) {
      for (const keys of secrets().map(namesOf)) {
        await remove(keys, emailKey);
        await redis.unlink(keys.codesOf('known', keys.tagOf('account', sinceRecovery(emailKey, recoveredAt))));
      }
    },
    async forget(emailKeys) {
      for (const keys of secrets().map(namesOf)) {
        for (const emailKey of emailKeys) await redis.unlink(...(await remove(keys, emailKey)));
      }
    },
  };
}

function verdictsOf({ all = '0', since = '0', ...places }: Readonly<Record<string, string>>): WrongVerdicts {
  const known = Object.values(places).reduce((sum, count) => sum + Number(count), 0);
  return { unknown: Number(all), known, since: Number(since) };
}
