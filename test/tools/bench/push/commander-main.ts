import { setTimeout as delay } from 'node:timers/promises';
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
// A lost Redis is part of the benchmark.
redis.on('error', () => undefined);
const keys = redisKeys(KEY_PREFIX);
const publish = createCommandPublisher(redis, keys);
const push = createPushMessagePublisher(redis, keys);

export interface FloodOrder {
  readonly groups: readonly string[];
  readonly perSecond: number;
  readonly seconds: number;
}

const tickMs = 2;

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
  /** Publishes messages to the groups in turn, evenly over the time, and returns how many a second there were. */
  async flood({ groups, perSecond, seconds }: FloodOrder): Promise<number> {
    const begun = monotonicNow();
    const elapsed = () => (monotonicNow() - begun) / 1_000;
    const sent: Promise<void>[] = [];
    while (elapsed() < seconds) {
      for (const due = elapsed() * perSecond; sent.length < due; ) {
        sent.push(
          push.toGroup(groups[sent.length % groups.length] ?? '', { topic: 'bench', payload: { at: monotonicNow() } }),
        );
      }
      await delay(tickMs);
    }
    await Promise.all(sent);
    return sent.length / elapsed();
  },
};

export type CommanderCalls = typeof calls;
answerCalls(calls);
