import type { LimitKeys, RedisClient } from '@auth-account/redis';
import { deviceTag, knownMs, type LoginIdentity } from './login-limits.ts';
import { placesScript } from './login-script.ts';
import { createMemoryCounts } from './memory-counts.ts';

/** A try of a second factor, taken before the factor is compared. */
export type TakenTry =
  | {
      /** Tries that are left if this one is wrong. */
      readonly triesLeft: number;
      /** Called when the factor was right. The try counts no longer. Never rejects. */
      readonly giveBack: () => Promise<void>;
    }
  | { readonly waitMs: number };

/** Counts tries of second factors. */
export interface FactorLimit {
  /** Takes one try, unless the limit is reached. Never rejects. */
  take(identity: LoginIdentity): Promise<TakenTry>;
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

/**
 * KEYS: 1 the devices and networks that the account knows (as logins write them), then lists of the times of tries,
 * newest first: 2 the device's, 3 the network's, 4 that of all strangers.
 *
 * ARGV: 1 now, 2 tag of the device, 3 tag of the network, 4 for how long a success is remembered, 5 limit for the tries,
 * 6 length of the window.
 *
 * Returns the place of the list in KEYS, the number of its tries in the window, and the milliseconds to wait. A refused
 * try changes nothing.
 */
const script = `${placesScript}
local now, most, window = tonumber(ARGV[1]), tonumber(ARGV[5]), tonumber(ARGV[6])
local function is_known(tag)
  return seen_at(KEYS[1], tag) + tonumber(ARGV[4]) > now
end
local place = is_known(ARGV[2]) and 2 or is_known(ARGV[3]) and 3 or 4
local list = KEYS[place]
local count, oldest = 1, now
for _, at in ipairs(redis.call('LRANGE', list, 0, most - 1)) do
  if tonumber(at) + window > now then count, oldest = count + 1, tonumber(at) end
end
if count > most then return {place, count, oldest + window - now} end
redis.call('LPUSH', list, ARGV[1])
redis.call('LTRIM', list, 0, most - 1)
redis.call('PEXPIRE', list, window)
return {place, count, 0}`;

type FactorScript = (
  keyCount: number,
  ...args: (string | number)[]
) => Promise<[place: number, count: number, waitMs: number]>;

/**
 * Creates the limit of wrong second factors (docs/specification/sign-in.md, "Second factor"): in 15 minutes five from
 * all strangers together, and five from each device and network that the account knows, so that no stranger keeps the
 * owner out. The number of challenges does not matter.
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
      async giveBack() {
        insurance.add(account, -1);
      },
    };
  }

  return {
    async take({ emailKey, deviceId, prefix }) {
      const account = keys.tagOf('account', emailKey);
      const [device, network] = [deviceTag(keys, emailKey, deviceId), keys.tagOf('account-address', emailKey, prefix)];
      const lists = [device, network, account].map(keys.factorTriesOf);
      const at = now();
      try {
        const args = [at, device, network, knownMs, mostTries, windowMs];
        const [place, count, waitMs] = await takeFactorTry(4, keys.knownOf(account), ...lists, ...args);
        if (waitMs > 0) return { waitMs };
        return {
          triesLeft: mostTries - count,
          async giveBack() {
            // If Redis is away now, the try stays counted until its window ends.
            await redis.lrem(lists[place - 2] ?? '', 1, at).catch(() => undefined);
          },
        };
      } catch {
        return takeHere(account);
      }
    },
  };
}
