import type { RedisClient, RedisKeys } from '@auth-account/redis';

/**
 * KEYS: the number. ARGV: how many are taken. Microseconds of Redis's clock, or one more than the last number where that is
 * higher: a bare counter would begin again with 1 in a Redis that lost its data, and every new connection would then give
 * way to an old one.
 */
const nextScript = `
local time = redis.call('TIME')
local number = math.max(time[1] * 1000000 + time[2], tonumber(redis.call('GET', KEYS[1]) or '0') + 1)
redis.call('SET', KEYS[1], string.format('%.0f', number + ARGV[1] - 1))
return number`;

type NextCommand = (key: string, count: number) => Promise<number>;

/**
 * Makes the function that numbers the streams of all gateways: of two of one session, the higher stays. It takes as many
 * numbers in a row, and gives the first of them.
 */
export function createStreamNumbers(redis: RedisClient, keys: RedisKeys): (count?: number) => Promise<number> {
  redis.defineCommand('nextStreamNumber', { numberOfKeys: 1, lua: nextScript });
  const next = (redis as unknown as { nextStreamNumber: NextCommand }).nextStreamNumber.bind(redis);
  return (count = 1) => next(keys.streamNumber, count);
}
