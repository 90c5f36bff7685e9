import { type ForceLogoutQueue, openForceLogoutQueue } from '@auth-account/messaging';
import type { RedisStore } from '../context.ts';

/** Lets the work use the queue of forced logouts. */
export async function withQueue<T>(
  { redis, keys }: Pick<RedisStore, 'redis' | 'keys'>,
  work: (queue: ForceLogoutQueue) => Promise<T>,
): Promise<T> {
  const queue = openForceLogoutQueue(redis, keys);
  // Errors are ignored here, because the calls themselves report them.
  queue.on('error', () => undefined);
  return await work(queue).finally(() => queue.close());
}
