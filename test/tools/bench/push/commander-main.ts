import { createPushMessagePublisher } from '@auth-account/messaging';
import { createCommandPublisher } from '@auth-account/messaging/commands';
import { failFastOptions, redisKeys } from '@auth-account/redis';
import { Redis } from 'ioredis';
import type { CommanderOrder } from './commander.ts';
import { monotonicNow } from './monotonic-now.ts';

/** A process in the place of the api and the resource servers, which closes sessions and writes to groups. */
const { REDIS_URL = '', KEY_PREFIX = '' } = process.env;
const redis = new Redis(REDIS_URL, { ...failFastOptions(), enableOfflineQueue: true });
const keys = redisKeys(KEY_PREFIX);
const publish = createCommandPublisher(redis, keys);
const push = createPushMessagePublisher(redis, keys);

process.on('message', ({ id, close, broadcast, payload }: CommanderOrder) => {
  const at = monotonicNow();
  const published = close === undefined ? push.toGroup(broadcast ?? '', { topic: 'bench', payload }) : closing(close);
  published.then(
    () => process.send?.({ id, at }),
    (error: Error) => process.send?.({ id, error: error.message }),
  );
});
process.on('disconnect', () => process.exit());
process.send?.({ ready: true });

function closing(session_id: string): Promise<void> {
  return publish({
    type: 'close',
    session_id,
    reason: 'LOGOUT_CONFIRMED',
    request_id: 'bench',
    decided_at: Date.now(),
  });
}
