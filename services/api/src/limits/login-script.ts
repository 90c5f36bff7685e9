import { crowdScript } from './crowd.ts';

/**
 * Part of the scripts that look up whether an account knows a device or network. In the account's sorted set, pinned
 * devices and networks have the highest scores, so that others are pushed out first.
 */
export const placesScript = `
local pinned = 1e15
local function seen_at(known, tag)
  local score = tag ~= '' and tonumber(redis.call('ZSCORE', known, tag) or '-inf') or -math.huge
  return score >= pinned and score - pinned or score
end`;

/**
 * Judges and counts a login attempt in one step. This needs a script, because the rules depend on whether the account
 * knows the device or network, while rate-limiter-flexible decides by one key at a time.
 *
 * KEYS:
 * - 1: the number of the network's logins, as rate-limiter-flexible keeps it
 * - 2: the devices and networks that the account knows (sorted set: tag of a device or network → time of its last
 *   success, plus `pinned` if it is pinned)
 * - 3 and 4: the device's delay (hash: `n` failures, `until` the time of the next allowed attempt) and its list of
 *   failures (times, newest first)
 * - 5 and 6: the same for the network
 * - 7 and 8: the same for the account
 * - 9: the accounts with failures by strangers
 * - 10: the devices and networks that the account knows for its second factor
 *
 * ARGV, with times in milliseconds since the epoch by the clock of the api:
 * - 1: the step. Before the hash: `check` for a login, `checkGuess` for another guess. After it: `fail`, `succeed` or
 *   `confirm`. Without a hash: `register` for a new account, `prove` for a proof of the mailbox with a new password,
 *   `verify` for a proof of the mailbox alone.
 * - 2: the time now
 * - 3 and 4: the tags of the device (empty if there is none) and of the network
 * - 5 and 6: how long, and how many, devices and networks are remembered after a success
 * - 7: limit for a network's logins within a window
 * - 8: length of a day
 * - 9 and 10: limits for a day's failures of a known device or network, and of all unknown ones together
 * - 11 and 12: a source's failures before it is delayed, and its longest delay
 * - 13 and 14: the same for the account
 * - 15: time without a failure after which a delay is forgotten
 * - 16: length of the network's window
 * - 17: number of pinned devices and networks
 * - 18: tag of the account
 * - 19: number of accounts whose failures by strangers are kept
 *
 * Returns the rule that refuses (or '') and the milliseconds to wait. A refused step changes nothing except the number
 * of the network's logins, which `check` counts.
 */
export const loginScript = `${placesScript}${crowdScript}
local step, now, device, network = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local known_ms, day = tonumber(ARGV[5]), tonumber(ARGV[8])
local known_allowance, account_allowance = tonumber(ARGV[9]), tonumber(ARGV[10])

local is_check = step == 'check' or step == 'checkGuess'
if is_check then
  local logins = redis.call(step == 'check' and 'INCR' or 'GET', KEYS[1])
  local left = redis.call('PTTL', KEYS[1])
  if step == 'check' and left < 0 then
    left = tonumber(ARGV[16])
    redis.call('PEXPIRE', KEYS[1], left)
  end
  if tonumber(logins or '0') > tonumber(ARGV[7]) then return {'login_address', math.max(0, left)} end
end

local function know(tag)
  if tag == '' then return end
  local score = redis.call('ZSCORE', KEYS[2], tag)
  if not score and step == 'confirm' then return end
  local stays = step == 'register' or step == 'prove' or step == 'verify' or score and tonumber(score) >= pinned
  redis.call('ZADD', KEYS[2], stays and now + pinned or now, tag)
end
local function know_both()
  know(device)
  know(network)
  local stay = redis.call('ZCOUNT', KEYS[2], pinned, '+inf')
  if stay > tonumber(ARGV[17]) then redis.call('ZREMRANGEBYRANK', KEYS[2], -stay, -1 - tonumber(ARGV[17])) end
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - tonumber(ARGV[6]))
  redis.call('PEXPIRE', KEYS[2], known_ms)
end
if step == 'register' or step == 'prove' or step == 'verify' then
  if step == 'register' then redis.call('DEL', KEYS[2]) end
  if step ~= 'verify' then redis.call('DEL', KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[10]) end
  know_both()
  return {'', 0}
end

local function spent(key, allowance)
  local at = redis.call('LINDEX', key, allowance - 1)
  return at and math.max(0, at + day - now) or 0
end
local function wait(key)
  return math.max(0, tonumber(redis.call('HGET', key, 'until') or '0') - now)
end
local function is_known(tag, failures)
  return seen_at(KEYS[2], tag) + known_ms > now and spent(failures, known_allowance) == 0
end

local source, stranger = 5, false
if is_known(device, KEYS[4]) then source = 3 else stranger = not is_known(network, KEYS[6]) end

local rule, longest = '', 0
local function hold(name, ms)
  if ms > longest then rule, longest = name, ms end
end
hold('login_source', wait(KEYS[source]))
if stranger then
  hold('login_account', wait(KEYS[7]))
  hold('login_account_day', spent(KEYS[8], account_allowance))
end
if rule ~= '' or is_check then return {rule, longest} end

if step ~= 'fail' then
  redis.call('DEL', KEYS[3], KEYS[4], KEYS[5], KEYS[6])
  know_both()
  return {'', 0}
end

local function delay(key, free, longest_delay)
  local n = redis.call('HINCRBY', key, 'n', 1)
  if n >= free then
    redis.call('HSET', key, 'until', now + math.min(longest_delay, 1000 * 2 ^ math.min(n - free, 30)))
  end
  redis.call('PEXPIRE', key, math.max(tonumber(ARGV[15]), longest_delay))
end
local function note(key, allowance)
  redis.call('LPUSH', key, ARGV[2])
  redis.call('LTRIM', key, 0, allowance - 1)
  redis.call('PEXPIRE', key, day)
end
delay(KEYS[source], tonumber(ARGV[11]), tonumber(ARGV[12]))
if stranger then
  delay(KEYS[7], tonumber(ARGV[13]), tonumber(ARGV[14]))
  note(KEYS[8], account_allowance)
  join_crowd(KEYS[9], ARGV[18], now, day, tonumber(ARGV[19]), function(tag)
    redis.call('DEL', key_of(KEYS[7], tag), key_of(KEYS[8], tag))
  end)
else
  note(KEYS[source + 1], known_allowance)
end
return {'', 0}`;
