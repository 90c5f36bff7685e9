import { Redis } from 'ioredis';
import type { FaultKind } from './fault.ts';

const killRedis: FaultKind = {
  name: 'kill -9 of Redis, restart with its file',
  isKill: true,
  holdMs: [500, 6_000],
  async inject({ redis }) {
    await redis.kill();
    return { detail: '', mend: () => redis.start() };
  },
};

const emptyRedis: FaultKind = {
  name: 'Redis emptied',
  isKill: false,
  holdMs: [0, 500],
  async inject({ redis }) {
    const client = new Redis(redis.port, '127.0.0.1', { lazyConnect: true, maxRetriesPerRequest: 1 });
    await client.connect();
    await client.flushall();
    client.disconnect();
    return { detail: '', mend: async () => undefined };
  },
};

const fullDisk: FaultKind = {
  name: 'full disk of Redis',
  isKill: false,
  holdMs: [2_000, 6_000],
  findObstacle: ({ redisDisk }) => (redisDisk === undefined ? 'needs root and mount' : undefined),
  async inject({ redisDisk }) {
    await redisDisk?.fill();
    return { detail: '', mend: async () => redisDisk?.empty() };
  },
};

export const redisFaults: readonly FaultKind[] = [killRedis, emptyRedis, fullDisk];
