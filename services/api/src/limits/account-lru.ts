/**
 * Limit for the accounts whose attempts from unknown devices and networks are kept, for a day. Each account takes some
 * 430 bytes, or 1,400 after a hundred failures. Above the limit, the account whose last attempt is the oldest is
 * forgotten. To cause that, somebody must try this many other accounts.
 */
export const accountLruLimit = 250_000;

/**
 * Part of the scripts that keep a list for each account. `accounts` is a sorted set: tag of an account → time of its
 * newest attempt. `forget` removes an account's list. Each attempt that adds an account removes up to two accounts that
 * are above the limit or older than a day.
 */
export const accountLruScript = `
local function join_lru(accounts, tag, now, day, most, forget)
  redis.call('ZADD', accounts, now, tag)
  redis.call('PEXPIRE', accounts, day)
  for _ = 1, 2 do
    local oldest = redis.call('ZRANGE', accounts, 0, 0, 'WITHSCORES')
    if redis.call('ZCARD', accounts) <= most and tonumber(oldest[2]) + day > now then return end
    redis.call('ZREM', accounts, oldest[1])
    forget(oldest[1])
  end
end
local function key_of(key, tag)
  return string.sub(key, 1, -1 - #tag) .. tag
end`;
