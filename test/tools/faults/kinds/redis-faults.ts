import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { FaultStack } from '../stack/start-fault-stack.ts';
import type { FaultKind } from './fault.ts';

/**
 * Starts Redis as an operator does. After a full disk its append-only file may have half a command in the middle. Redis
 * then refuses to start, and names the program that cuts off the file at that place.
 */
async function startRepaired({ redis, redisDir }: Pick<FaultStack, 'redis' | 'redisDir'>): Promise<void> {
  try {
    await redis.start();
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('redis-check-aof'))) throw error;
    const manifest = join(redisDir, 'appendonlydir', 'appendonly.aof.manifest');
    execFileSync('redis-check-aof', ['--fix', manifest], { input: 'y\n' });
    await redis.start();
  }
}

const killRedis: FaultKind = {
  name: 'kill -9 of Redis, restart with its file',
  isKill: true,
  holdMs: [500, 6_000],
  async inject({ redis, redisDir }) {
    await redis.kill();
    return { detail: '', fix: () => startRepaired({ redis, redisDir }) };
  },
};

const emptyRedis: FaultKind = {
  name: 'Redis emptied',
  isKill: false,
  holdMs: [0, 500],
  async inject({ redisClient }) {
    await redisClient.flushall();
    return { detail: '', fix: async () => undefined };
  },
};

const fullDisk: FaultKind = {
  name: 'full disk of Redis',
  isKill: false,
  holdMs: [2_000, 6_000],
  findObstacle: ({ redisDisk }) => (redisDisk === undefined ? 'needs root and mount' : undefined),
  async inject({ redisDisk }) {
    await redisDisk?.fill();
    return { detail: '', fix: async () => redisDisk?.empty() };
  },
};

export const redisFaults: readonly FaultKind[] = [killRedis, emptyRedis, fullDisk];
