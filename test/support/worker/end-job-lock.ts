import type { RedisClient } from '@auth-account/redis';

/**
 * Lets the next worker take over the job of a killed one when it starts, as if the time of the job's lock had passed.
 * `queueKey`: prefix of the queue's keys in Redis. The keys are BullMQ's.
 */
export async function endJobLock(redis: RedisClient, queueKey: string, jobId: string): Promise<void> {
  await redis.del(`${queueKey}:${jobId}:lock`);
  await redis.sadd(`${queueKey}:stalled`, jobId);
  await redis.del(`${queueKey}:stalled-check`);
}
