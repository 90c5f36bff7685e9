import type { CodePurpose } from '@auth-account/contracts/events';
import type { LimitKeys, RedisClient } from '@auth-account/redis';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { waitOf } from './address-limit.ts';
import { dayMs, knownMs, type LoginIdentity } from './login-limits.ts';

/** The account, device and network of a request for a code, and what the code is for. */
export interface CodeIdentity extends LoginIdentity {
  readonly purpose: CodePurpose;
  /** All sources share one count: the account's owner is not known yet, and a stranger has none to use up. */
  readonly isShared?: boolean | undefined;
  /** Account whose codes are counted; if undefined, those of the address are, whether or not an account has it. */
  readonly userId: string | undefined;
}

/** Counts the codes that are asked for an account. */
export interface CodeLimit {
  /** Counts one request. Returns the milliseconds to wait if it exceeds the limit, else 0. Never fails. */
  count(identity: CodeIdentity): Promise<number>;
}

export interface CodeLimitDeps {
  /** A connection that fails fast. */
  readonly redis: RedisClient;
  readonly keys: LimitKeys;
  /** Codes of one purpose within 24 hours, for each known source, and for all others together. */
  readonly perDay: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * KEYS: 1 what the account knows (sorted set: tag of a device or network → time of its last success; logins write it),
 * then lists of the times of requests, newest first: 2 the device's, 3 that of all known devices at this network, 4 the
 * network's, 5 that of all strangers.
 *
 * ARGV: 1 now, 2 tag of the device, 3 tag of the network, 4 for how long a success is remembered, 5 requests a day, 6 a
 * day.
 *
 * Returns the milliseconds to wait. A request that is refused changes nothing.
 */
const script = `
local now, allowance, day = tonumber(ARGV[1]), tonumber(ARGV[5]), tonumber(ARGV[6])
local function is_known(tag)
  local at = redis.call('ZSCORE', KEYS[1], tag)
  return at and at + tonumber(ARGV[4]) > now
end
local lists = {KEYS[5]}
if is_known(ARGV[2]) then lists = {KEYS[2], KEYS[3]} elseif is_known(ARGV[3]) then lists = {KEYS[4]} end
local wait = 0
for _, list in ipairs(lists) do
  local at = redis.call('LINDEX', list, allowance - 1)
  if at then wait = math.max(wait, at + day - now) end
end
if wait > 0 then return wait end
for _, list in ipairs(lists) do
  redis.call('LPUSH', list, ARGV[1])
  redis.call('LTRIM', list, 0, allowance - 1)
  redis.call('PEXPIRE', list, day)
end
return 0`;

/** A tag that no account knows. */
const unknown = '';

type CodeScript = (keyCount: number, ...args: (string | number)[]) => Promise<number>;

/**
 * Creates the limit of codes for an account and purpose (docs/decisions.md, "Codes by e-mail"). A device or network
 * that the account knows by a login has a count of its own, which no stranger can use up; all others share one. Known
 * devices at one network have no more together than one has, or each new session would open a new count. An address
 * without an account knows nobody, so that its limit is the one that a stranger meets at any account.
 *
 * While Redis is away each process counts for itself, and knows nobody.
 */
export function createCodeLimit({ redis, keys, perDay, now }: CodeLimitDeps): CodeLimit {
  const insurance = new RateLimiterMemory({ points: perDay, duration: dayMs / 1_000 });
  redis.defineCommand('countCode', { lua: script });
  const countCode = (redis as unknown as { countCode: CodeScript }).countCode.bind(redis);

  return {
    async count({ emailKey, deviceId, prefix, purpose, isShared, userId: counted = emailKey }) {
      const account = keys.tagOf('account', emailKey);
      const device = keys.tagOf('account-device', emailKey, deviceId);
      const network = keys.tagOf('account-address', emailKey, prefix);
      const place = keys.tagOf('account-address', counted, prefix);
      const names = [
        keys.knownOf(account),
        keys.nameOf(`code-${purpose}:${keys.tagOf('account-device', counted, deviceId)}`),
        keys.nameOf(`code-devices-${purpose}:${place}`),
        keys.nameOf(`code-${purpose}:${place}`),
        keys.nameOf(`code-${purpose}:${keys.tagOf('account', counted)}`),
      ];
      const source = isShared ? [unknown, unknown] : [device, network];
      try {
        return await countCode(names.length, ...names, now(), ...source, knownMs, perDay, dayMs);
      } catch {
        return (await waitOf(insurance.consume(JSON.stringify([purpose, counted])))) ?? 0;
      }
    },
  };
}
