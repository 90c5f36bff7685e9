/**
 * Judges and counts a try in one step, as a script: which rules apply depends on what the account knows.
 * rate-limiter-flexible decides by one key at a time.
 *
 * KEYS: 1 the number of the network's logins, as rate-limiter-flexible keeps it, 2 what the account knows (sorted
 * set: tag of a device or network → time of its last success), then pairs of a delay (hash: `n` failures, `until` when
 * the next try may be) and a list of failures (times, newest first): 3, 4 the device's, 5, 6 the network's, 7, 8 the
 * account's. Times are milliseconds since the epoch, by the clock of the api.
 *
 * ARGV: 1 the step (before the hash `check` of a login or `checkGuess` of another try, `fail` or `succeed` after it,
 * `register` of a new account, `prove` of its mailbox), 2 now, 3 tag of the device, 4 tag of the network, 5 for how long
 * a success is remembered, 6 number of successes remembered, 7 logins of a network within a window, 8 a day, 9 failures a
 * day of a known device or network, 10 of all unknown ones, 11 failures of a source before it is delayed, 12 its longest
 * delay, 13 and 14 the same for the account, 15 time without a failure after which a delay is forgotten, 16 length of the
 * network's window.
 *
 * Returns the rule that refuses (or '') and the milliseconds to wait. A step that is refused changes nothing but the
 * number of the network's logins, which `check` counts.
 */
export const loginScript = `
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

local function know()
  redis.call('ZADD', KEYS[2], now, device, now, network)
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - tonumber(ARGV[6]))
  redis.call('PEXPIRE', KEYS[2], known_ms)
end
if step == 'register' or step == 'prove' then
  if step == 'register' then redis.call('DEL', KEYS[2]) end
  redis.call('DEL', KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8])
  know()
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
  local at = redis.call('ZSCORE', KEYS[2], tag)
  return at and at + known_ms > now and spent(failures, known_allowance) == 0
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

if step == 'succeed' then
  redis.call('DEL', KEYS[3], KEYS[4], KEYS[5], KEYS[6])
  know()
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
else
  note(KEYS[source + 1], known_allowance)
end
return {'', 0}`;
