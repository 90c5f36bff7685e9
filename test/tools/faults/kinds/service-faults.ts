import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceName } from '@auth-account/local-stack';
import { MongoClient } from 'mongodb';
import { anyOf } from '../load/app.ts';
import type { FaultStack } from '../stack/start-fault-stack.ts';
import { type FaultKind, primaryOf } from './fault.ts';

const instancesOf = (service: ServiceName, { services }: FaultStack) =>
  services.filter((each) => each.service === service);

/** Kills a process, which its supervisor restarts. */
const killService = (service: ServiceName): FaultKind => ({
  name: `kill -9 of a process of the ${service}`,
  holdMs: [0, 1_000],
  async inject(stack, random) {
    const { name, process } = anyOf(random, instancesOf(service, stack));
    process.kill('SIGKILL');
    return { detail: name };
  },
});

/**
 * Seconds by which the clock jumps. They are fewer than a token's lifetime, because the api could not hide a longer
 * jump from the apps.
 */
const jumps = [-60, -20, -5, 5, 20, 60];

/** Only erasures delete from these collections. */
const erasedFrom = ['sessions', 'challenges', 'idempotency'] as const;

/** Milliseconds for which a step of an erasure is held back, and for which such a step is awaited. */
const stepMs = 4_000;
const patienceMs = 15_000;
const lookMs = 150;

/** Returns true when a worker has held the same account at two looks, so that a step of the erasure is held back. */
async function awaitErasure({ collections: { users } }: FaultStack): Promise<boolean> {
  let lease: string | undefined;
  for (const from = performance.now(); performance.now() - from < patienceMs; await sleep(lookMs)) {
    const held = await users.findOne({ 'erasure.until': { $gt: new Date() } }, { projection: { erasure: 1 } });
    if (held?.erasure !== undefined && held.erasure.lease === lease) return true;
    lease = held?.erasure?.lease;
  }
  return false;
}

const killErasing: FaultKind = {
  name: 'kill -9 of the workers in the midst of an erasure',
  holdMs: [0, 1_000],
  async inject(stack, random) {
    const { namespace } = stack.collections[anyOf(random, erasedFrom)];
    const port = stack.replicaSet.mongo.ports[await primaryOf(stack)];
    const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`);
    const data = { failCommands: ['delete'], namespace, blockConnection: true, blockTimeMS: stepMs };
    const failPoint = { configureFailPoint: 'failCommand' };
    try {
      await client.db('admin').command({ ...failPoint, mode: 'alwaysOn', data });
      const isErasing = await awaitErasure(stack);
      for (const { process } of instancesOf('worker', stack)) process.kill('SIGKILL');
      await client.db('admin').command({ ...failPoint, mode: 'off' });
      return { detail: isErasing ? `at ${namespace}` : 'none was under way' };
    } finally {
      await client.close();
    }
  },
};

export const serviceFaults: readonly FaultKind[] = [
  ...(['api', 'push-gateway', 'worker'] as const).map(killService),
  {
    name: 'kill -9 of every process of the services',
    holdMs: [0, 1_000],
    async inject({ services }) {
      for (const { process } of services) process.kill('SIGKILL');
      return { detail: '' };
    },
  },
  {
    name: 'clock of one process of each service jumps',
    holdMs: [4_000, 10_000],
    findObstacle: ({ clock }) => (clock === undefined ? 'needs libfaketime' : undefined),
    async inject({ clock }, random) {
      const seconds = anyOf(random, jumps);
      await clock?.move(seconds);
      return { detail: `${seconds} s`, fix: () => clock?.move(0) };
    },
  },
  killErasing,
  {
    // It may last longer than the lease of an account, so that another worker erases the account.
    name: 'SIGSTOP of a worker',
    holdMs: [5_000, 75_000],
    async inject(stack, random) {
      const { name, process } = anyOf(random, instancesOf('worker', stack));
      process.kill('SIGSTOP');
      return { detail: name, fix: () => process.kill('SIGCONT') };
    },
  },
];
