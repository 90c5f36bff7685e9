import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { FaultStack } from '../stack/start-fault-stack.ts';
import type { FaultKind } from './fault.ts';

/**
 * Starts Redis as an operator does. After a full disk its append-only file may have half a command in the middle. Redis
 * then refuses to start, and names the program that cuts off the file at that place.
 */
async function startRepaired({ redis, redisDir }: FaultStack): Promise<void> {
  try {
    await redis.start();
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('redis-check-aof'))) throw error;
    const manifest = join(redisDir, 'appendonlydir', 'appendonly.aof.manifest');
    execFileSync('redis-check-aof', ['--fix', manifest], { input: 'y\n' });
    await redis.start();
  }
}

export const redisFaults: readonly FaultKind[] = [
  {
    name: 'kill -9 of Redis, restart with its file',
    holdMs: [500, 6_000],
    async inject(stack) {
      await stack.redis.kill();
      return { detail: '', fix: () => startRepaired(stack) };
    },
  },
  {
    name: 'Redis emptied',
    holdMs: [0, 500],
    async inject({ redisClient }) {
      await redisClient.flushall();
      return { detail: '' };
    },
  },
  {
    name: 'full disk of Redis',
    holdMs: [2_000, 6_000],
    findObstacle: ({ redisDisk }) => (redisDisk === undefined ? 'needs root and mount' : undefined),
    async inject({ redisDisk }) {
      await redisDisk?.fill();
      return { detail: '', fix: () => redisDisk?.empty() };
    },
  },
];
