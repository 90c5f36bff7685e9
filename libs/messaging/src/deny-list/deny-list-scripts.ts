import { identityFunction as identity } from '@auth-account/redis/deny-list-reader';

/**
 * KEYS: revocations, then one denied key per entry. ARGV: pub/sub's command, channel, lifetime (ms), then session,
 * value and close command of each entry, then further close commands. "none…" is never replaced, and a version only
 * rises. On a cluster the channel is on the keys' node, because it has their hash tag.
 */
export const denyAndCloseScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ttl = tonumber(ARGV[3])
for i = 2, #KEYS do
  local at = 4 + (i - 2) * 3
  local value = ARGV[at + 1]
  local old = redis.call('GET', KEYS[i])
  if old and (string.sub(old, 1, 4) == 'none' or (string.sub(value, 1, 4) ~= 'none' and tonumber(old) > tonumber(value))) then
    value = old
  end
  redis.call('SET', KEYS[i], value, 'PX', ttl)
  redis.call('ZADD', KEYS[1], now, ARGV[at])
  redis.call(ARGV[1], ARGV[2], ARGV[at + 2])
end
for i = 4 + (#KEYS - 1) * 3, #ARGV do
  redis.call(ARGV[1], ARGV[2], ARGV[i])
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ttl)
redis.call('PEXPIRE', KEYS[1], ttl)
return #KEYS - 1`;

/** KEYS: the rebuild's mark. ARGV: its lifetime (ms). */
export const beginScript = `${identity}
redis.call('SET', KEYS[1], identity(), 'PX', ARGV[1])
return 1`;

/** KEYS: the rebuild's mark, the sentinel. Returns 1 if the server and its data are those of the mark. */
export const completeScript = `${identity}
local begun = redis.call('GET', KEYS[1])
redis.call('DEL', KEYS[1])
if begun ~= identity() then return 0 end
redis.call('SET', KEYS[2], begun)
return 1`;
