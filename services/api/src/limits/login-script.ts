import { accountLruScript } from './account-lru.ts';

/**
 * Part of the scripts that look up whether an account knows a device or network. In the account's sorted set, pinned
 * devices and networks have the highest scores, so that others are pushed out first.
 */
export const knownScript = `
local pinned = 1e15
local function seen_at(known, tag)
  local score = tag ~= '' and tonumber(redis.call('ZSCORE', known, tag) or '-inf') or -math.huge
  return score >= pinned and score - pinned or score
end`;

/**
 * Part of the scripts that count wrong verdicts on a secret of an account, from all devices and networks. `wrong` is a
 * hash: tag of a device or network that was known by the secret → its verdicts, `all` → those of everybody else,
 * `since` → the time of the recovery from which they count. An api that has read the account before the recovery begins
 * nothing anew.
 */
export const totalScript = `
local function share_of(wrong, known, shared_most, own_most)
  for _, tag in ipairs(known) do
    if tonumber(redis.call('HGET', wrong, tag) or '0') < own_most then return tag end
  end
  if tonumber(redis.call('HGET', wrong, 'all') or '0') < shared_most then return 'all' end
end
local function begin_total(wrong, since, life)
  if tonumber(since) <= tonumber(redis.call('HGET', wrong, 'since') or '0') then return end
  redis.call('DEL', wrong)
  redis.call('HSET', wrong, 'since', since)
  redis.call('PEXPIRE', wrong, life)
end
local function add_wrong(wrong, share, life)
  redis.call('HINCRBY', wrong, share, 1)
  redis.call('PEXPIRE', wrong, life)
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
 * - 9: the accounts with failures from unknown devices and networks
 * - 10: the devices and networks whose user has shown the password (sorted set: tag → time)
 * - 11: the wrong verdicts on the password, from everywhere (see {@link totalScript})
 * - 12: the accounts with such verdicts
 * - 13 and 14: of the second factor, the known devices and networks, and the wrong verdicts
 * - 15, 16 and 17, for `move`: as 10, 11 and 14, of the former email address
 *
 * ARGV, with times in milliseconds since the epoch by the clock of the api:
 * - 1: the step. Before the hash: `check` for a login, `checkGuess` for another guess. After it: `fail`, `succeed` or
 *   `confirm`. Without a hash: `know` for a login without password, `complete` for one whose password was right before,
 *   `register` for a new account, `move` for an account's new email address, `prove` for a proof of the mailbox with a
 *   new password, `verify` for a proof of the mailbox alone.
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
 * - 19: number of accounts whose failures from unknown devices, and whose wrong verdicts, are kept
 * - 20 and 21: 1 if the device is a session, and if that session's user has shown the password
 * - 22 and 23: limits for the wrong verdicts of everybody, and of one such device or network
 * - from 24 on, for `move`: fields of 15, 16 and 17 that go on, each followed by its name for the new email address
 *
 * Returns the rule that refuses (or '') and the milliseconds to wait, and after `fail` 1 if this device or network has
 * no further try in the total. A refused step changes nothing except the number of the network's logins, which `check`
 * counts.
 */
export const loginScript = `${knownScript}${totalScript}${accountLruScript}
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

local has_new_address = step == 'register' or step == 'move'
local function know(tag)
  if tag == '' then return end
  local score = redis.call('ZSCORE', KEYS[2], tag)
  if not score and step == 'confirm' then return end
  local stays = has_new_address or step == 'prove' or step == 'verify' or score and tonumber(score) >= pinned
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
local function prove_both()
  for _, tag in ipairs({network, device}) do
    -- Before its second factor, a login proves no new device. Otherwise a thief of the password pushes the owner's out.
    local is_new = not redis.call('ZSCORE', KEYS[10], tag) and not redis.call('ZSCORE', KEYS[2], tag)
    local is_awaiting_factor = step == 'confirm' and ARGV[20] == '0'
    if tag ~= '' and not (is_awaiting_factor and is_new) then redis.call('ZADD', KEYS[10], now, tag) end
  end
  redis.call('PEXPIRE', KEYS[10], known_ms)
  local over = redis.call('ZRANGE', KEYS[10], 0, -1 - tonumber(ARGV[6]))
  if #over == 0 then return end
  redis.call('ZREM', KEYS[10], unpack(over))
  redis.call('HDEL', KEYS[11], unpack(over))
end
local function forget_wrong()
  redis.call('DEL', KEYS[11])
  redis.call('ZREM', KEYS[12], ARGV[18])
end
local function join_wrong()
  join_lru(KEYS[12], ARGV[18], now, known_ms, tonumber(ARGV[19]), function(tag)
    redis.call('DEL', key_of(KEYS[11], tag))
  end)
end
if has_new_address or step == 'prove' or step == 'verify' then
  -- This is read first, because the new email address may be the former one in another spelling.
  local kept = {}
  for i = 24, #ARGV, 2 do
    local at = redis.call('ZSCORE', KEYS[15], ARGV[i])
    if at then kept[#kept + 1] = {'ZADD', KEYS[10], at, ARGV[i + 1]} end
    for from, to in pairs({[16] = 11, [17] = 14}) do
      local count = redis.call('HGET', KEYS[from], ARGV[i])
      if count then kept[#kept + 1] = {'HSET', KEYS[to], ARGV[i + 1], count} end
    end
  end
  if has_new_address then redis.call('DEL', KEYS[2], KEYS[13], KEYS[14]) end
  if step ~= 'verify' then
    redis.call('DEL', KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[10])
    forget_wrong()
    if step ~= 'move' then prove_both() end
  end
  for _, command in ipairs(kept) do
    redis.call(unpack(command))
    redis.call('PEXPIRE', command[2], known_ms)
  end
  if redis.call('EXISTS', KEYS[11]) == 1 then join_wrong() end
  know_both()
  return {'', 0}
end

local function used_up_ms(key, allowance)
  local at = redis.call('LINDEX', key, allowance - 1)
  return at and math.max(0, at + day - now) or 0
end
local function wait(key)
  return math.max(0, tonumber(redis.call('HGET', key, 'until') or '0') - now)
end
local function is_known(tag)
  return seen_at(KEYS[2], tag) + known_ms > now
end
local function has_shown(tag)
  return tag == device and ARGV[21] == '1' or seen_at(KEYS[10], tag) + known_ms > now
end

-- A device that holds something comes first, then the network. A count that is used up falls back to the next. A session
-- has no other count, so that its thief does not use up those of a login. Logins without password can push a device out
-- of the known ones, but not out of those that have shown the password.
local sources = {}
if ARGV[20] == '1' or is_known(device) or has_shown(device) then sources[1] = 3 end
if ARGV[20] == '0' then
  if is_known(network) then sources[#sources + 1] = 5 end
  sources[#sources + 1] = 7
end

local source_key, rule, longest
for _, each in ipairs(sources) do
  local name, ms = 'login_source', wait(KEYS[each == 7 and 5 or each])
  local function hold(other, other_ms)
    if other_ms > ms then name, ms = other, other_ms end
  end
  if each == 7 then
    hold('login_account', wait(KEYS[7]))
    hold('login_account_day', used_up_ms(KEYS[8], account_allowance))
  else
    hold('login_account_day', used_up_ms(KEYS[each + 1], known_allowance))
  end
  if not source_key or ms < longest then source_key, rule, longest = each, name, ms end
  if ms == 0 then break end
end

local proven = {}
if has_shown(device) then proven[1] = device end
if has_shown(network) then proven[#proven + 1] = network end
local share = share_of(KEYS[11], proven, tonumber(ARGV[22]), tonumber(ARGV[23]))
local is_passed = step == 'know' or step == 'complete'
if not share and not is_passed then rule, longest = 'login_account_overall', day end
if longest > 0 or is_check then return {longest > 0 and rule or '', longest} end

if step ~= 'fail' then
  redis.call('DEL', KEYS[3], KEYS[4], KEYS[5], KEYS[6])
  if not is_passed then
    redis.call('HDEL', KEYS[11], network)
    if has_shown(device) then forget_wrong() end
  end
  if step ~= 'know' then prove_both() end
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
add_wrong(KEYS[11], share, known_ms)
join_wrong()
delay(KEYS[source_key == 7 and 5 or source_key], tonumber(ARGV[11]), tonumber(ARGV[12]))
if source_key == 7 then
  delay(KEYS[7], tonumber(ARGV[13]), tonumber(ARGV[14]))
  note(KEYS[8], account_allowance)
  join_lru(KEYS[9], ARGV[18], now, day, tonumber(ARGV[19]), function(tag)
    redis.call('DEL', key_of(KEYS[7], tag), key_of(KEYS[8], tag))
  end)
else
  note(KEYS[source_key + 1], known_allowance)
end
return {'', 0, share_of(KEYS[11], proven, tonumber(ARGV[22]), tonumber(ARGV[23])) and 0 or 1}`;
