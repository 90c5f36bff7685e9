import { factorTryLimits, type LimitKeys, ownTotal, type RedisClient, sharedTotal } from '@auth-account/redis';
import { dayMs, knownMs } from './login-limits.ts';
import { holderTag, type LoginIdentity } from './login-names.ts';
import { knownScript, totalScript } from './login-script.ts';
import { createMemoryCounts } from './memory-counts.ts';

/** A try of a second factor, taken before the factor is compared. */
export type TakenTry =
  | {
      /** Tries that are left for this device or network if this one is wrong. */
      readonly triesLeft: number;
      /**
       * True if the device or network has no further try now or has had many in a day, or if the account has no further
       * try at all. The owner should know then, if this one is wrong.
       */
      readonly isAlarming: boolean;
      /** Called when the try was no guess, such as after an outage. It counts no longer. Never rejects. */
      readonly giveBack: () => Promise<void>;
      /**
       * Called when the factor was right. The try counts no longer, and from a device that holds something no earlier
       * one does. Never rejects.
       */
      readonly succeed: () => Promise<void>;
    }
  | { readonly waitMs: number };

/** The account, device and network of a try. A session's device is always known. */
export interface FactorIdentity extends Omit<LoginIdentity, 'session'> {
  /** True if the device is known by its session, which has needed a second factor or a device's trust. */
  readonly hasSession: boolean;
  /** True if a known device has wrong verdicts of its own. Otherwise they are those of everybody. */
  readonly hasOwnTotal: boolean;
  /** False for a factor that can't be guessed. It does not count towards the account's total. */
  readonly isGuess: boolean;
  /** Time of the account's latest recovery. The total begins anew then. */
  readonly recoveredAt: Date | undefined;
  /**
   * Time of the account's latest new password. Devices and networks that were known before may be a thief's, and are so
   * no more.
   */
  readonly passwordChangedAt: Date | undefined;
}

/** Counts tries of second factors. None of its functions rejects. */
export interface FactorLimit {
  /** Takes one try, unless the counts of device and network, or the account's total, are used up. */
  take(identity: FactorIdentity): Promise<TakenTry>;
  /** Called when a login with two factors has succeeded. The account then knows its device and network. */
  know(identity: LoginIdentity): Promise<void>;
}

export interface FactorLimitDeps {
  /** A connection that fails fast. */
  readonly redis: RedisClient;
  readonly keys: LimitKeys;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called if Redis did not answer and the process counted the try on its own. */
  readonly onInsured: () => void;
}

const { perWindow: maxTries, windowMs, perDay: maxPerDay } = factorTryLimits;
/**
 * Tries of a device or network in a day from which on a wrong one is alarming. A patient guesser leaves the last try of
 * a window.
 */
const alarmingPerDay = 10;
/** Limit for the devices and networks that an account knows. */
const maxKnown = 20;

/**
 * KEYS: 1 the devices and networks that the account knows, 2 its wrong verdicts from everywhere, then lists of the
 * times of tries, newest first: 3 the device's, 4 the network's, 5 that of all unknown devices and networks.
 *
 * ARGV: 1 now, 2 tag of the device, 3 tag of the network, 4 for how long a success is remembered, 5 limit for the
 * tries, 6 length of the window, 7 limit for the tries of a day, 8 length of a day, 9 number of tries in a day that are
 * many, 10 and 11 limits for the wrong verdicts of everybody and of one known device or network, then flags (1 or 0):
 * 12 the device is known by its session, 13 the factor can be guessed, 14 a known device has wrong verdicts of its own,
 * then times: 15 of the latest recovery, from which the wrong verdicts count, 16 after which a device or network must
 * have been known.
 *
 * Returns the index of the list in KEYS, the number of its tries in the window, the milliseconds to wait, 1 if the try
 * is alarming, the field of the total that counts it (or ''), and what a right factor makes forget (see
 * {@link giveBackScript}). A refused try counts nothing.
 */
const takeScript = `${knownScript}${totalScript}
local now, most, window, day = tonumber(ARGV[1]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[8])
local function is_known(tag)
  local at = seen_at(KEYS[1], tag)
  return at + tonumber(ARGV[4]) > now and at > tonumber(ARGV[16])
end
begin_total(KEYS[2], ARGV[15], ARGV[4])
local holds = ARGV[12] == '1' or is_known(ARGV[2])
local known = {}
if holds and ARGV[14] == '1' then known[1] = ARGV[2] end
if is_known(ARGV[3]) then known[#known + 1] = ARGV[3] end
local function share_now()
  if ARGV[13] == '0' then return '' end
  return share_of(KEYS[2], known, tonumber(ARGV[10]), tonumber(ARGV[11]))
end
local share = share_now()
if not share then return {5, most, day, 0, '', ''} end

local lists = {}
if holds then lists[1] = 3 end
if ARGV[12] == '0' then
  if known[#known] == ARGV[3] then lists[#lists + 1] = 4 end
  lists[#lists + 1] = 5
end
local index, count, wait
for _, each in ipairs(lists) do
  local tries, oldest, ms = 1, now, 0
  for _, at in ipairs(redis.call('LRANGE', KEYS[each], 0, most - 1)) do
    if tonumber(at) + window > now then tries, oldest = tries + 1, tonumber(at) end
  end
  if tries > most then ms = oldest + window - now end
  local last = redis.call('LINDEX', KEYS[each], ARGV[7] - 1)
  if last then ms = math.max(ms, tonumber(last) + day - now) end
  if not index or ms < wait then index, count, wait = each, tries, ms end
  if ms <= 0 then break end
end
if wait > 0 then return {index, count, wait, 0, '', ''} end

local list = KEYS[index]
redis.call('LPUSH', list, ARGV[1])
redis.call('LTRIM', list, 0, ARGV[7] - 1)
redis.call('PEXPIRE', list, day)
if share ~= '' then add_wrong(KEYS[2], share, ARGV[4]) end
local early = redis.call('LINDEX', list, ARGV[9] - 1)
local is_many = early and tonumber(early) + day > now
local is_alarming = count == most or is_many or not share_now()
return {index, count, 0, is_alarming and 1 or 0, share, holds and 'every' or known[1] or ''}`;

/**
 * KEYS: 1 the account's wrong verdicts, 2 the list of the try. ARGV: 1 the field that has counted the try, or '', 2 its
 * time, 3 the field to forget: `every` for all of them, or ''.
 */
const giveBackScript = `
redis.call('LREM', KEYS[2], 1, ARGV[2])
if tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0') > 0 then redis.call('HINCRBY', KEYS[1], ARGV[1], -1) end
if ARGV[3] == 'every' then redis.call('DEL', KEYS[1]) else redis.call('HDEL', KEYS[1], ARGV[3]) end`;

type ListIndex = 3 | 4 | 5;
type Script<T> = (...args: (string | number)[]) => Promise<T>;
interface FactorScripts {
  readonly takeFactorTry: Script<
    [index: ListIndex, count: number, waitMs: number, isAlarming: number, share: string, forgotten: string]
  >;
  readonly giveBackFactorTry: Script<null>;
}

/**
 * Limits wrong second factors (docs/specification/sign-in.md, "Second factor"): in 15 minutes five from all unknown
 * devices and networks together, and five from each device that holds something and from each network, if the account
 * has logged in there with two factors. So nobody else keeps the owner out. Neither the password nor the mailbox makes
 * a device or network known. A count that is used up falls back to the next: device, network, unknown ones. A session's
 * device has five of its own and no other count, so that a thief of the session does not use up those of a login. No
 * count has more than 100 in a day, and the account no more than {@link sharedTotal} says, however many challenges,
 * sessions, devices and networks there are.
 *
 * A try is taken first and given back if it was right. So of simultaneous tries no more are compared than the limit
 * allows. While Redis is away, each process counts for itself and treats all devices and networks as unknown.
 */
export function createFactorLimit({ redis, keys, now, onInsured }: FactorLimitDeps): FactorLimit {
  const insurance = createMemoryCounts(windowMs / 1_000);
  redis.defineCommand('takeFactorTry', { lua: takeScript, numberOfKeys: 5 });
  redis.defineCommand('giveBackFactorTry', { lua: giveBackScript, numberOfKeys: 2 });
  const scripts = redis as unknown as FactorScripts;

  function takeHere(account: string): TakenTry {
    const { count, endsInMs } = insurance.add(account);
    if (count > maxTries) return { waitMs: endsInMs };
    const giveBack = async () => {
      insurance.add(account, -1);
    };
    return { triesLeft: maxTries - count, isAlarming: count === maxTries, giveBack, succeed: giveBack };
  }

  const tagsOf = ({ emailKey, holder, prefix }: Pick<LoginIdentity, 'emailKey' | 'holder' | 'prefix'>) => [
    holderTag(keys, emailKey, holder),
    keys.tagOf('account-address', emailKey, prefix),
  ];

  return {
    async take(identity) {
      const at = now();
      const account = keys.tagOf('account', identity.emailKey);
      const wrong = keys.wrongOf('factor', account);
      const tags = tagsOf(identity);
      const lists = [...tags, account].map(keys.factorTriesOf);
      const limits = [knownMs, maxTries, windowMs, maxPerDay, dayMs, alarmingPerDay, sharedTotal, ownTotal];
      const flags = [identity.hasSession, identity.isGuess, identity.hasOwnTotal].map(Number);
      const times = [identity.recoveredAt, identity.passwordChangedAt].map((time) => time?.getTime() ?? 0);
      try {
        const [index, count, waitMs, isAlarming, share, ifRight] = await scripts.takeFactorTry(
          ...[keys.factorKnownOf(account), wrong, ...lists],
          ...[at, ...tags, ...limits, ...flags, ...times],
        );
        if (waitMs > 0) return { waitMs };
        // If Redis is away now, the try stays counted until its window ends.
        const giveBack = async (forgotten: string) => {
          const list = lists[index - 3] ?? '';
          await scripts.giveBackFactorTry(wrong, list, share, at, forgotten).catch(() => undefined);
        };
        return {
          triesLeft: maxTries - count,
          isAlarming: isAlarming === 1,
          giveBack: () => giveBack(''),
          succeed: () => giveBack(ifRight),
        };
      } catch {
        onInsured();
        return takeHere(account);
      }
    },
    async know(identity) {
      const known = keys.factorKnownOf(keys.tagOf('account', identity.emailKey));
      const seen = tagsOf(identity)
        .filter((tag) => tag !== '')
        .flatMap((tag) => [now(), tag]);
      const write = redis
        .multi()
        .zadd(known, ...seen)
        .zremrangebyrank(known, 0, -1 - maxKnown)
        .pexpire(known, knownMs);
      // Without Redis the device and network stay unknown until their next login.
      await write.exec().catch(() => undefined);
    },
  };
}
