import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalMongo } from '@auth-account/local-stack';
import { stopReplication } from '../../../support/stores/stop-replication.ts';
import { diskMember } from '../stack/replica-set.ts';
import type { FaultStack } from '../stack/start-fault-stack.ts';
import type { FaultKind } from './fault.ts';

/** Keeps all members but the primary from applying its writes, until the returned function is called. */
export async function stopOthers({ ports }: Pick<LocalMongo, 'ports'>, primary: number): Promise<() => Promise<void>> {
  const goOn = await Promise.all(ports.filter((_, member) => member !== primary).map(stopReplication));
  return async () => {
    await Promise.all(goOn.map((go) => go()));
  };
}

/** The shortest and longest milliseconds of lag before a kill. In this time a request and its retry both get 503. */
const lagMs = [15_000, 30_000] as const;

export const mongoFaults: readonly FaultKind[] = [
  {
    name: 'kill -9 of the MongoDB primary',
    holdMs: [3_000, 9_000],
    async inject(stack) {
      const { mongo } = stack.replicaSet;
      const member = await stack.replicaSet.findPrimary();
      await mongo.kill('SIGKILL', member);
      return { detail: `member ${member}`, fix: () => mongo.start(member) };
    },
  },
  {
    name: 'SIGSTOP of the MongoDB primary',
    holdMs: [6_000, 15_000],
    async inject(stack) {
      const member = await stack.replicaSet.findPrimary();
      const pid = stack.replicaSet.mongo.pid(member);
      if (pid === undefined) throw new Error('the primary does not run');
      process.kill(pid, 'SIGSTOP');
      return { detail: `member ${member}`, fix: () => process.kill(pid, 'SIGCONT') };
    },
  },
  {
    name: 'full disk of a MongoDB member',
    holdMs: [4_000, 8_000],
    findObstacle: ({ replicaSet }) => (replicaSet.disk === undefined ? 'needs root and mount' : undefined),
    async inject({ replicaSet }) {
      await replicaSet.disk?.fill();
      return {
        detail: `member ${diskMember}`,
        async fix() {
          await replicaSet.disk?.empty();
          await replicaSet.restart(diskMember);
        },
      };
    },
  },
  {
    // No write is acknowledged, but all take effect on the primary. Reads with majority concern show the state before.
    name: 'a lagging majority',
    holdMs: [20_000, 90_000],
    async inject(stack) {
      const primary = await stack.replicaSet.findPrimary();
      return { detail: `behind member ${primary}`, fix: await stopOthers(stack.replicaSet.mongo, primary) };
    },
  },
  {
    // What only the primary had is lost for good, even if it was read before.
    name: 'kill -9 of the MongoDB primary with writes that no other has',
    holdMs: [3_000, 9_000],
    async inject(stack, random) {
      const { mongo } = stack.replicaSet;
      const member = await stack.replicaSet.findPrimary();
      const goOn = await stopOthers(mongo, member);
      await sleep(lagMs[0] + random() * (lagMs[1] - lagMs[0]));
      await mongo.kill('SIGKILL', member);
      await goOn();
      return { detail: `member ${member}`, fix: () => mongo.start(member) };
    },
  },
];

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
