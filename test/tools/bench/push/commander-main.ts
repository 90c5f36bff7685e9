import { createPushMessagePublisher } from '@auth-account/messaging';
import { createCommandPublisher } from '@auth-account/messaging/commands';
import { failFastOptions, redisKeys } from '@auth-account/redis';
import { Redis } from 'ioredis';
import { answerCalls } from '../../process-calls/answer-calls.ts';
import { monotonicNow } from '../report/figures.ts';

/**
 * A process in the place of the api and the resource servers, which closes sessions and writes to groups over Redis.
 * Each call returns the time at which its execution began.
 */
const { REDIS_URL = '', KEY_PREFIX = '' } = process.env;
const redis = new Redis(REDIS_URL, { ...failFastOptions(), enableOfflineQueue: true });
const keys = redisKeys(KEY_PREFIX);
const publish = createCommandPublisher(redis, keys);
const push = createPushMessagePublisher(redis, keys);

const calls = {
  async close(session_id: string): Promise<number> {
    const at = monotonicNow();
    const order = { session_id, reason: 'LOGOUT_CONFIRMED', request_id: 'bench', decided_at: Date.now() } as const;
    await publish({ type: 'close', ...order });
    return at;
  },
  async broadcast(groupId: string, payload: object): Promise<number> {
    const at = monotonicNow();
    await push.toGroup(groupId, { topic: 'bench', payload });
    return at;
  },
};

export type CommanderCalls = typeof calls;
answerCalls(calls);
