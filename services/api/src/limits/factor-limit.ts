import type { LimitKeys, RedisClient } from '@auth-account/redis';
import { dayMs, deviceTag, knownMs, type LoginIdentity } from './login-limits.ts';
import { placesScript } from './login-script.ts';
import { createMemoryCounts } from './memory-counts.ts';

/** A try of a second factor, taken before the factor is compared. */
export type TakenTry =
  | {
      /** Tries that are left if this one is wrong. */
      readonly triesLeft: number;
      /**
       * True if the try is a stranger's, and strangers have no further try now, or have had many in a day. The owner should
       * know then, if this one is wrong.
       */
      readonly isAlarming: boolean;
      /** Called when the factor was right. The try counts no longer. Never rejects. */
      readonly giveBack: () => Promise<void>;
    }
  | { readonly waitMs: number };

/** Counts tries of second factors. None of its functions rejects. */
export interface FactorLimit {
  /** Takes one try of a login, unless the limit is reached. */
  take(identity: LoginIdentity): Promise<TakenTry>;
  /** Takes one try of a session's user, unless the limit is reached. A session has tries of its own. */
  takeOf(sessionId: string): Promise<TakenTry>;
  /** Called when a login with two factors has succeeded. The account then knows its device and network. */
  know(identity: LoginIdentity): Promise<void>;
  /** Makes the account know no place, because a known one may be a thief's. */
  forget(emailKey: string): Promise<void>;
}

export interface FactorLimitDeps {
  /** A connection that fails fast. */
  readonly redis: RedisClient;
  readonly keys: LimitKeys;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const mostTries = 5;
const windowMs = 15 * 60_000;
/** Limit of NIST SP 800-63B-4, section 3.2.2, for each place in a day. */
const mostPerDay = 100;
/** Tries of strangers in a day from which on a wrong one is alarming. A patient guesser leaves the last try of a window. */
const alarmingPerDay = 10;
/** Limit for the devices and networks that an account knows. */
const mostKnown = 20;

/**
 * KEYS: 1 the devices and networks that the account knows, then lists of the times of tries, newest first: 2 the
 * device's, 3 the network's, 4 that of all strangers, or of a session.
 *
 * ARGV: 1 now, 2 tag of the device, 3 tag of the network, 4 for how long a success is remembered, 5 limit for the tries,
 * 6 length of the window, 7 limit for the tries of a day, 8 length of a day, 9 number of tries in a day that are many.
 *
 * Returns the place of the list in KEYS, the number of its tries in the window, the milliseconds to wait, and 1 if there
 * were many in the day. A refused try changes nothing.
 */
const script = `${placesScript}
local now, most, window, day = tonumber(ARGV[1]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[8])
local function is_known(tag)
  return seen_at(KEYS[1], tag) + tonumber(ARGV[4]) > now
end
local place = is_known(ARGV[2]) and 2 or is_known(ARGV[3]) and 3 or 4
local list = KEYS[place]
local count, oldest = 1, now
for _, at in ipairs(redis.call('LRANGE', list, 0, most - 1)) do
  if tonumber(at) + window > now then count, oldest = count + 1, tonumber(at) end
end
if count > most then return {place, count, oldest + window - now, 0} end
local last = redis.call('LINDEX', list, ARGV[7] - 1)
if last and tonumber(last) + day > now then return {place, count, tonumber(last) + day - now, 0} end
redis.call('LPUSH', list, ARGV[1])
redis.call('LTRIM', list, 0, ARGV[7] - 1)
redis.call('PEXPIRE', list, day)
local early = redis.call('LINDEX', list, ARGV[9] - 1)
return {place, count, 0, early and tonumber(early) + day > now and 1 or 0}`;

/** Place of the strangers' list in the script's KEYS. */
const strangersPlace = 4;

type FactorScript = (
  keyCount: number,
  ...args: (string | number)[]
) => Promise<[place: number, count: number, waitMs: number, isMany: number]>;

/**
 * Creates the limit of wrong second factors (docs/specification/sign-in.md, "Second factor"): in 15 minutes five from
 * all strangers together, and five from each device and network on which the account has logged in with two factors, so
 * that no stranger keeps the owner out. Neither the password nor the mailbox makes a place known. A session has five of
 * its own, so that a thief of the session does not use up those of its device. The number of challenges does not matter.
 * No place has more than 100 in a day.
 *
 * A try is taken first and given back if it was right. So of simultaneous tries no more are compared than the limit
 * allows. While Redis is away, each process counts for itself and treats everybody as a stranger.
 */
export function createFactorLimit({ redis, keys, now }: FactorLimitDeps): FactorLimit {
  const insurance = createMemoryCounts(windowMs / 1_000);
  redis.defineCommand('takeFactorTry', { lua: script });
  const takeFactorTry = (redis as unknown as { takeFactorTry: FactorScript }).takeFactorTry.bind(redis);

  function takeHere(account: string): TakenTry {
    const { count, endsInMs } = insurance.add(account);
    if (count > mostTries) return { waitMs: endsInMs };
    return {
      triesLeft: mostTries - count,
      isAlarming: count === mostTries,
      async giveBack() {
        insurance.add(account, -1);
      },
    };
  }

  async function takeFrom(known: string, lists: readonly string[], tags: readonly string[]): Promise<TakenTry> {
    const at = now();
    const strangers = lists.at(-1) ?? '';
    try {
      const args = [at, ...tags, knownMs, mostTries, windowMs, mostPerDay, dayMs, alarmingPerDay];
      const [place, count, waitMs, isMany] = await takeFactorTry(4, known, ...lists, ...args);
      if (waitMs > 0) return { waitMs };
      return {
        triesLeft: mostTries - count,
        isAlarming: place === strangersPlace && (count === mostTries || isMany === 1),
        async giveBack() {
          // If Redis is away now, the try stays counted until its window ends.
          await redis.lrem(lists[place - 2] ?? '', 1, at).catch(() => undefined);
        },
      };
    } catch {
      return takeHere(strangers);
    }
  }

  const tagsOf = ({ emailKey, deviceId, prefix }: LoginIdentity) => [
    deviceTag(keys, emailKey, deviceId),
    keys.tagOf('account-address', emailKey, prefix),
  ];

  return {
    take(identity) {
      const account = keys.tagOf('account', identity.emailKey);
      const tags = tagsOf(identity);
      return takeFrom(keys.factorKnownOf(account), [...tags, account].map(keys.factorTriesOf), tags);
    },
    async takeOf(sessionId) {
      const list = keys.factorTriesOf(keys.tagOf('session', sessionId));
      const taken = await takeFrom(list, [list, list, list], ['', '']);
      return 'waitMs' in taken ? taken : { ...taken, isAlarming: false };
    },
    async know(identity) {
      const known = keys.factorKnownOf(keys.tagOf('account', identity.emailKey));
      const seen = tagsOf(identity)
        .filter((tag) => tag !== '')
        .flatMap((tag) => [now(), tag]);
      const write = redis
        .multi()
        .zadd(known, ...seen)
        .zremrangebyrank(known, 0, -1 - mostKnown)
        .pexpire(known, knownMs);
      // Without Redis the place stays unknown until its next login.
      await write.exec().catch(() => undefined);
    },
    async forget(emailKey) {
      // Without Redis the places stay known until the next recovery, or until they lapse.
      await redis.unlink(keys.factorKnownOf(keys.tagOf('account', emailKey))).catch(() => undefined);
    },
  };
}
