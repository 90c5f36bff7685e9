import { join } from 'node:path';
import { type OnSpawn, startMongo, waitUntil } from '@auth-account/local-stack';
import { type Db, MongoClient, type MongoClientOptions } from 'mongodb';
import { type HoldingProxy, startHoldingProxy } from '../../../support/stores/holding-proxy.ts';
import { mountSmallDisk } from './small-disk.ts';

/** Size of the disk, enough for half an hour's data, the oplog and the journal. Only written parts use memory. */
const diskMib = 4_096;

export const diskMember = 2;

const restartMs = 120_000;

export interface ReplicaSetOptions {
  readonly dir: string;
  readonly logDir: string;
  readonly onSpawn: OnSpawn;
  /** Seconds after which MongoDB ends a transaction, and so the time for which a killed process leaves its locks. */
  readonly lockSeconds: number;
}

const impatient = { serverSelectionTimeoutMS: 2_000, socketTimeoutMS: 2_000, minHeartbeatFrequencyMS: 50 };

/**
 * Runs the work on a direct connection to the member on this port, which bypasses the proxies. The client is new, because
 * one whose first connection failed can't be used again.
 */
export async function onMember<T>(
  port: number | undefined,
  work: (admin: Db) => Promise<T>,
  options: MongoClientOptions = {},
): Promise<T> {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, options);
  return work(client.db('admin')).finally(() => client.close());
}

/** Three members of MongoDB, each behind a proxy. */
export type ReplicaSet = Awaited<ReturnType<typeof startReplicaSet>>;

/** Starts three members, each behind a proxy through which the services and the other members reach it. */
export async function startReplicaSet({ dir, logDir, onSpawn, lockSeconds }: ReplicaSetOptions) {
  const disk = await mountSmallDisk(join(dir, `member-${diskMember}`), diskMib);
  const proxies: HoldingProxy[] = [];
  const mongo = await startMongo({
    dir,
    logDir,
    members: 3,
    setParameters: { enableTestCommands: '1', transactionLifetimeLimitSeconds: String(lockSeconds) },
    log: () => undefined,
    onSpawn,
    async announce(ports) {
      for (const port of ports) proxies.push(await startHoldingProxy(port));
      return proxies.map(({ port }) => port);
    },
  });

  const stateOf = (port: number): Promise<string> =>
    onMember(port, (admin) => admin.command({ replSetGetStatus: 1 }), impatient).then(
      ({ members }) => members.find(({ self }: { readonly self?: boolean }) => self).stateStr,
      () => 'away', // down, frozen or not yet up: the caller asks again
    );
  const states = () => Promise.all(mongo.ports.map(stateOf));

  return {
    mongo,
    /** The proxies, by member. */
    proxies,
    /** The disk of the last member's data, if it can be filled. */
    disk,
    /** Returns the primary, when there is one. */
    async findPrimary(): Promise<number> {
      let primary = -1;
      const isThere = async () => {
        primary = (await states()).indexOf('PRIMARY');
        return primary >= 0;
      };
      await waitUntil(isThere, { what: 'A primary', timeoutMs: 60_000 });
      return primary;
    },
    /**
     * Starts the member whenever it does not run, until it takes part. mongod ends itself if it can't write, and may be
     * about to do so.
     */
    restart: (member: number) =>
      waitUntil(
        async () => {
          await mongo.start(member);
          return ['PRIMARY', 'SECONDARY'].includes((await states())[member] ?? '');
        },
        { what: `MongoDB's member ${member} as a part of its set`, timeoutMs: restartMs, intervalMs: 500 },
      ),
    /** Returns undefined if one member is primary and the others follow it, and otherwise the fault. */
    async findComplaint(): Promise<string | undefined> {
      const now = await states();
      const isWhole = [...now].sort().join() === 'PRIMARY,SECONDARY,SECONDARY';
      return isWhole ? undefined : `MongoDB: ${now.join(', ')}`;
    },
    async close() {
      await mongo.kill();
      for (const proxy of proxies) await proxy.close();
      await disk?.unmount();
    },
  };
}
