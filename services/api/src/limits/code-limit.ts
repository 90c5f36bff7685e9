import { type LimitKeys, type RedisClient, sinceRecovery } from '@auth-account/redis';
import { accountLruLimit, accountLruScript } from './account-lru.ts';
import { dayMs, knownMs, type Refusal } from './login-limits.ts';
import { holderTag, type LoginIdentity } from './login-names.ts';
import { knownScript } from './login-script.ts';
import { createMemoryCounts } from './memory-counts.ts';

/** The account, device and network of a request for a code. */
export interface CodeIdentity extends LoginIdentity {
  /**
   * Account whose codes are counted; if undefined, the codes of the email address are counted, whether or not it has an
   * account.
   */
  readonly userId: string | undefined;
  /**
   * True if each pinned device and network (known from a registration or a proof of the mailbox) has a count of its
   * own. False while it is not known who owns the mailbox, and during a change of the email address.
   */
  readonly hasOwnCounts: boolean;
  /** True if the request comes with a session or the password, and so not from an unknown device. */
  readonly hasAccess: boolean;
  /** Time of the account's latest recovery. Known devices, networks and sessions have another count from then on. */
  readonly recoveredAt?: Date | undefined;
  /** Key of the email address that the code goes to, if it is not the account's. */
  readonly recipient: string | undefined;
}

/** Counts the codes that are requested for an account. */
export interface CodeLimit {
  /** Counts one request, unless it exceeds a limit. Never fails. */
  count(identity: CodeIdentity): Promise<Refusal | undefined>;
}

export interface CodeLimitDeps {
  /** A connection that fails fast. */
  readonly redis: RedisClient;
  readonly keys: LimitKeys;
  /** Limit of each count: codes within 24 hours. */
  readonly perDay: number;
  /** Limit for the accounts for which requests from unknown devices are counted. */
  readonly accountLru?: number | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * KEYS: 1 the devices and networks that the account knows (as logins write them), then lists of the times of requests,
 * newest first: 2 the device's, 3 the network's, 4 that of all known devices and networks, 5 that of all unknown ones,
 * 6 the recipient's, and 7 the accounts for which unknown ones have requested codes.
 *
 * ARGV: 1 now, 2 tag of the device, 3 tag of the network, 4 for how long a success is remembered, 5 requests a day, 6
 * length of a day, then flags (1 or 0): 7 pinned devices and networks have their own counts, 8 the request has access,
 * 9 there is a recipient. 10 tag of the account, 11 limit for the accounts in KEYS 7.
 *
 * Returns the rule that refuses (or '') and the milliseconds to wait. A refused request changes nothing.
 */
const script = `${knownScript}${accountLruScript}
local now, allowance, day = tonumber(ARGV[1]), tonumber(ARGV[5]), tonumber(ARGV[6])
local function is_known(tag)
  return seen_at(KEYS[1], tag) + tonumber(ARGV[4]) > now
end
local function has_own(tag)
  return ARGV[7] == '1' and is_known(tag) and tonumber(redis.call('ZSCORE', KEYS[1], tag)) >= pinned
end
local function wait_of(list)
  local at = redis.call('LINDEX', list, allowance - 1)
  return at and math.max(0, at + day - now) or 0
end
local function note(list)
  redis.call('LPUSH', list, ARGV[1])
  redis.call('LTRIM', list, 0, allowance - 1)
  redis.call('PEXPIRE', list, day)
end

local lists = {}
if has_own(ARGV[2]) then table.insert(lists, KEYS[2]) end
if has_own(ARGV[3]) then table.insert(lists, KEYS[3]) end
if #lists == 0 then
  local is_unknown = ARGV[8] == '0' and not is_known(ARGV[2]) and not is_known(ARGV[3])
  lists = {is_unknown and KEYS[5] or KEYS[4]}
end
local list, wait
for _, one in ipairs(lists) do
  local ms = wait_of(one)
  if not wait or ms < wait then list, wait = one, ms end
end
if wait > 0 then return {'code_account', wait} end
if ARGV[9] == '1' then
  wait = wait_of(KEYS[6])
  if wait > 0 then return {'code_recipient', wait} end
  note(KEYS[6])
end
note(list)
if list == KEYS[5] then
  join_lru(KEYS[7], ARGV[10], now, day, tonumber(ARGV[11]), function(tag)
    redis.call('DEL', key_of(KEYS[5], tag))
  end)
end
return {'', 0}`;

type CodeScript = (
  keyCount: number,
  ...args: (string | number)[]
) => Promise<[rule: 'code_account' | 'code_recipient' | '', waitMs: number]>;

/**
 * Limits the codes for an account (docs/specification/account.md, "Limits of codes"). All devices and networks that the
 * account knows share one count. All unknown ones share another. If the mailbox is known to be the account's, each
 * pinned device and network has a count of its own, which nobody on other devices and networks can use up, even with
 * the password. For an email address without an account no device or network is known.
 *
 * While Redis is away, each process counts for itself and treats all devices and networks as unknown.
 */
export function createCodeLimit({ redis, keys, perDay, now, accountLru = accountLruLimit }: CodeLimitDeps): CodeLimit {
  const insurance = createMemoryCounts(dayMs / 1_000);
  redis.defineCommand('countCode', { lua: script });
  const countCode = (redis as unknown as { countCode: CodeScript }).countCode.bind(redis);

  function countHere({ emailKey, userId = emailKey, recipient }: CodeIdentity): Refusal | undefined {
    const account = insurance.add(JSON.stringify([userId]));
    if (account.count > perDay) return { rule: 'code_account', waitMs: account.endsInMs };
    const to = recipient === undefined ? undefined : insurance.add(JSON.stringify(['to', recipient]));
    return to !== undefined && to.count > perDay ? { rule: 'code_recipient', waitMs: to.endsInMs } : undefined;
  }

  return {
    async count(identity) {
      const { emailKey, holder, prefix, userId: counted = emailKey, hasOwnCounts, hasAccess, recipient } = identity;
      const account = keys.tagOf('account', counted);
      const names = [
        keys.knownOf(keys.tagOf('account', emailKey)),
        keys.codesOf('device', holderTag(keys, counted, holder)),
        keys.codesOf('network', keys.tagOf('account-address', counted, prefix)),
        keys.codesOf('known', keys.tagOf('account', sinceRecovery(counted, identity.recoveredAt))),
        keys.codesOf('strange', account),
        keys.codesOf('recipient', keys.tagOf('account', recipient ?? counted)),
        keys.accountLruOf('code'),
      ];
      const source = [holderTag(keys, emailKey, holder), keys.tagOf('account-address', emailKey, prefix)];
      const flags = [hasOwnCounts, hasAccess, recipient !== undefined].map(Number);
      const args = [now(), ...source, knownMs, perDay, dayMs, ...flags, account, accountLru];
      try {
        const [rule, waitMs] = await countCode(names.length, ...names, ...args);
        return rule === '' ? undefined : { rule, waitMs };
      } catch {
        return countHere(identity);
      }
    },
  };
}
