import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort, type LocalRedis, type OnSpawn, startRedis } from '@auth-account/local-stack';
import { Redis } from 'ioredis';
import { eventually } from '../../../support/worker/worker-fixture.ts';

/** A primary, its replica, and one sentinel that decides alone, on loopback. */
export interface SentinelGroup {
  /** `redis+sentinel://…` */
  readonly url: string;
  readonly primary: LocalRedis;
  readonly replica: LocalRedis;
  /** Returns the port of the server to which the sentinel sends clients. */
  currentPort(): Promise<number>;
  /** Makes the sentinel promote the replica at once. */
  failOver(): Promise<void>;
  /** Makes the replica a second primary, while the old primary and the sentinel hear nothing of it. */
  splitBrain(): Promise<void>;
  close(): Promise<void>;
}

const groupName = 'accounts';

/** Starts the group and waits until the sentinel knows both servers. */
export async function startSentinelGroup(dir: string, onSpawn: OnSpawn, binary: string): Promise<SentinelGroup> {
  const common = { binary, log: () => undefined, onSpawn };
  const primary = await startRedis({ ...common, dir: join(dir, 'primary') });
  const replication = ['--replicaof', '127.0.0.1', String(primary.port), '--repl-diskless-sync-delay', '0'];
  const replica = await startRedis({ ...common, dir: join(dir, 'replica'), extraArgs: replication });
  // The sentinel asks the primary for its replicas when it starts, and then every ten seconds.
  const onPrimary = new Redis(primary.url);
  await eventually('the primary has its replica', async () =>
    /slave0:.*state=online/.test(await onPrimary.info('replication')),
  );
  onPrimary.disconnect();
  const port = await findFreePort();
  const settings = join(dir, 'sentinel.conf');
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${dir}`,
    `sentinel monitor ${groupName} 127.0.0.1 ${primary.port} 1`,
    // The time is long, so that only `failOver` causes a failover, and not a machine that stalls for seconds.
    `sentinel down-after-milliseconds ${groupName} 60000`,
    `sentinel failover-timeout ${groupName} 60000`,
  ];
  await writeFile(settings, lines.join('\n'));
  const sentinel = spawn(binary, [settings, '--sentinel'], { stdio: 'ignore' });
  const ended = once(sentinel, 'exit');
  if (sentinel.pid !== undefined) onSpawn(sentinel.pid);
  const client = new Redis(port, '127.0.0.1', { retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on('error', () => undefined);
  await eventually('the sentinel knows the replica', async () => {
    const replicas = (await client.call('SENTINEL', 'replicas', groupName)) as unknown[];
    return JSON.stringify(replicas).includes(String(replica.port)) && JSON.stringify(replicas).includes('"ok"');
  });
  return {
    url: `redis+sentinel://127.0.0.1:${port}/${groupName}`,
    primary,
    replica,
    async currentPort() {
      const [, current] = (await client.call('SENTINEL', 'get-master-addr-by-name', groupName)) as [string, string];
      return Number(current);
    },
    async failOver() {
      // The sentinel refuses while it takes the replica for dead, because the machine has stalled.
      await eventually('the sentinel fails over', () => orderFailover(client), 150_000);
    },
    async splitBrain() {
      sentinel.kill('SIGSTOP');
      const [onPrimary, onReplica] = [new Redis(primary.url), new Redis(replica.url)];
      // The replica can no longer log in, so the link stays broken.
      await onReplica.config('SET', 'masterauth', 'wrong');
      await onPrimary.call('CLIENT', 'KILL', 'TYPE', 'replica');
      await onReplica.replicaof('NO', 'ONE');
      for (const one of [onPrimary, onReplica]) one.disconnect();
    },
    async close() {
      client.disconnect();
      sentinel.kill('SIGKILL');
      await Promise.all([ended, primary.kill(), replica.kill()]);
    },
  };
}

/** Orders a failover. Returns false if the sentinel refuses it, because it takes the replica for dead. */
async function orderFailover(client: Redis): Promise<boolean> {
  try {
    await client.call('SENTINEL', 'FAILOVER', groupName);
    return true;
  } catch (error) {
    const { message } = error as Error;
    if (message.startsWith('NOGOODSLAVE')) return false;
    if (message.startsWith('INPROG')) return true;
    throw error;
  }
}
