import { awaitForceLogout, openForceLogoutQueue, requestForceLogout } from '@auth-account/messaging';
import { failFastOptions, redisKeys } from '@auth-account/redis';
import { Redis } from 'ioredis';
import { testEnvironment } from '../support/test-environment.ts';

/** An operator, who may end the sessions of others. */
export interface Operator {
  /** Settles when the worker has ended the session. */
  forceLogout(sessionId: string): Promise<void>;
  close(): Promise<void>;
}

export function openOperator(keyPrefix: string): Operator {
  const redis = new Redis(testEnvironment().redisUrl, { ...failFastOptions(), enableOfflineQueue: true });
  const queue = openForceLogoutQueue(redis, redisKeys(keyPrefix));
  return {
    async forceLogout(session_id) {
      const id = await requestForceLogout(queue, { session_id, reason: 'ordered by the model' });
      const outcome = await awaitForceLogout(queue, id, 60_000);
      if (outcome?.state !== 'done') throw new Error(`a forced logout: ${JSON.stringify(outcome)}`);
    },
    async close() {
      await queue.close();
      redis.disconnect();
    },
  };
}
