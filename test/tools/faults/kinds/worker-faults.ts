import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { anyOf } from '../load/app.ts';
import type { FaultStack } from '../stack/start-fault-stack.ts';
import { type FaultKind, primaryOf } from './fault.ts';

/** Only erasures delete from these collections. */
const erasedFrom = ['sessions', 'challenges', 'idempotency'] as const;

/** Milliseconds for which a step of an erasure is held back, and for which such a step is awaited. */
const stepMs = 4_000;
const patienceMs = 15_000;
const lookMs = 150;

const workersOf = ({ services }: FaultStack) => services.filter(({ service }) => service === 'worker');

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
  isKill: true,
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
      for (const { process } of workersOf(stack)) process.kill('SIGKILL');
      await client.db('admin').command({ ...failPoint, mode: 'off' });
      return { detail: isErasing ? `at ${namespace}` : 'none was under way', fix: async () => undefined };
    } finally {
      await client.close();
    }
  },
};

/** Stops a worker, which may last longer than the lease of an account, so that another worker erases the account. */
const freezeWorker: FaultKind = {
  name: 'SIGSTOP of a worker',
  isKill: false,
  holdMs: [5_000, 75_000],
  async inject(stack, random) {
    const { name, process } = anyOf(random, workersOf(stack));
    process.kill('SIGSTOP');
    return { detail: name, fix: async () => process.kill('SIGCONT') };
  },
};

export const workerFaults: readonly FaultKind[] = [killErasing, freezeWorker];
