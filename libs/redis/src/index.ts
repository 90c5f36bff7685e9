export { createLimitKeys, type LimitKeys } from './limit-keys.ts';
export { openRedis, type RedisConfig } from './open-redis.ts';
export { parseRedisAddress } from './redis-address.ts';
export { redisChecks } from './redis-checks.ts';
export { isCluster, isReplicated, primariesOf, publish, publishCommandOf, type RedisClient } from './redis-client.ts';
export { type RedisKeys, redisKeys } from './redis-keys.ts';
export { failFastOptions, type RedisSettings, subscriberOptions, workerOptions } from './redis-options.ts';
export { createServerIdentity } from './server-identity.ts';
export { createSubscription, type Subscription } from './subscription.ts';
