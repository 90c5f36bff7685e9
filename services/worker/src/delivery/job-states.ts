import type { EventQueue } from '@auth-account/messaging';
import type { RedisClient } from '@auth-account/redis';

/** A job's state. An `unfinished` one waits, is under way or comes again after a pause. */
export type JobState = 'missing' | 'unfinished' | 'completed' | 'failed';

/** Finds the states of jobs of a queue, in one round trip and in their order. */
export async function findJobStates(
  redis: RedisClient,
  queue: EventQueue,
  jobIds: readonly string[],
): Promise<JobState[]> {
  const pipeline = redis.pipeline();
  // BullMQ's own `getState` is a script per job.
  for (const id of jobIds) pipeline.hmget(queue.toKey(id), 'timestamp', 'finishedOn', 'returnvalue');
  const answers = (await pipeline.exec()) ?? [];
  return answers.map(([error, fields]) => {
    if (error) throw error;
    const [timestamp, finishedOn, returnValue] = fields as (string | null)[];
    if (timestamp === null) return 'missing';
    if (finishedOn === null) return 'unfinished';
    return returnValue === null ? 'failed' : 'completed';
  });
}
