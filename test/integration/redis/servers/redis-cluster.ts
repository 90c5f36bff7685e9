import { join } from 'node:path';
import { findFreePort, type LocalRedis, type OnSpawn, startRedis } from '@auth-account/local-stack';
import { Redis } from 'ioredis';
import { eventually } from '../../../support/worker/worker-fixture.ts';

/** A Redis Cluster of three masters and one replica per master on loopback. */
export interface RedisCluster {
  /** `redis+cluster://…` */
  readonly url: string;
  /** The servers, masters first. */
  readonly nodes: readonly LocalRedis[];
  /** Returns the master of the key's slot, as the other servers see it. */
  masterOf(key: string): Promise<LocalRedis>;
  /** Makes this replica the master at once, even if the present master is gone. */
  promote(replica: LocalRedis): Promise<void>;
  /** Moves the key's slot, with everything in it, to another master. */
  moveSlotOf(key: string): Promise<void>;
  close(): Promise<void>;
}

const masters = 3;
const slots = 16_384;

interface Node {
  readonly server: LocalRedis;
  readonly busPort: number;
  readonly client: Redis;
}

/**
 * Starts the cluster and waits until every node reports it as complete. The replica of `nodes[i]` is `nodes[i + 3]`.
 */
export async function startRedisCluster(dir: string, onSpawn: OnSpawn, binary: string): Promise<RedisCluster> {
  const nodes = await Promise.all(
    Array.from({ length: masters * 2 }, (_, index) => startNode(dir, index, onSpawn, binary)),
  );
  const [first] = nodes as [Node, ...Node[]];
  await Promise.all(
    nodes.slice(0, masters).map(async ({ client }, index) => {
      const from = Math.floor((slots * index) / masters);
      await client.cluster('ADDSLOTSRANGE', from, Math.floor((slots * (index + 1)) / masters) - 1);
      await client.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1);
    }),
  );
  for (const { server, busPort } of nodes.slice(1)) {
    await first.client.call('CLUSTER', 'MEET', '127.0.0.1', server.port, busPort);
  }
  await eventually('every node knows the others', async () => {
    const known = await Promise.all(nodes.map(({ client }) => client.cluster('NODES')));
    return known.every(
      (text) => String(text).match(/ connected/g)?.length === nodes.length && !String(text).includes('handshake'),
    );
  });
  await Promise.all(
    nodes.slice(masters).map(async ({ client }, index) => {
      const id = await nodes[index]?.client.cluster('MYID');
      await client.cluster('REPLICATE', String(id));
    }),
  );
  await eventually('the cluster is complete', async () => {
    const states = await Promise.all(nodes.map(({ client }) => client.cluster('INFO')));
    const links = await Promise.all(nodes.slice(masters).map(({ client }) => client.info('replication')));
    return (
      states.every((state) => String(state).includes('cluster_state:ok')) &&
      links.every((text) => text.includes('master_link_status:up'))
    );
  });
  async function masterOf(key: string): Promise<Node> {
    for (const { client, server } of nodes) {
      if (server.pid() === undefined) continue;
      const port = await ownerOf({ client }, key);
      const holder = nodes.find((node) => node.server.port === port);
      if (holder !== undefined) return holder;
    }
    throw new Error(`no node knows the master of ${key}`);
  }

  return {
    url: `redis+cluster://${nodes
      .slice(0, masters)
      .map(({ server }) => `127.0.0.1:${server.port}`)
      .join(',')}`,
    nodes: nodes.map(({ server }) => server),
    masterOf: async (key) => (await masterOf(key)).server,
    async promote(replica) {
      const node = nodes.find(({ server }) => server === replica);
      // An election (`FORCE`) that another master refuses, because it knows an older map, is repeated only after a minute.
      await node?.client.call('CLUSTER', 'FAILOVER', 'TAKEOVER');
    },
    async moveSlotOf(key) {
      const source = await masterOf(key);
      const target = nodes.slice(0, masters).find((node) => node !== source);
      if (target === undefined) throw new Error('there is no other master');
      await moveSlot(Number(await source.client.cluster('KEYSLOT', key)), source, target);
      await eventually('every node knows the new master', async () => {
        const owners = await Promise.all(nodes.map((node) => ownerOf(node, key)));
        return owners.every((port) => port === target.server.port);
      });
    },
    async close() {
      for (const { client } of nodes) client.disconnect();
      await Promise.all(nodes.map(({ server }) => server.kill()));
    },
  };
}

/** Returns the port of the master of the key's slot, as this node sees it. */
async function ownerOf({ client }: Pick<Node, 'client'>, key: string): Promise<number | undefined> {
  const slot = Number(await client.cluster('KEYSLOT', key));
  const ranges = (await client.call('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
  return ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][1];
}

async function moveSlot(slot: number, source: Node, target: Node): Promise<void> {
  const [sourceId, targetId] = await Promise.all([source, target].map(({ client }) => client.cluster('MYID')));
  await target.client.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(sourceId));
  await source.client.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(targetId));
  for (;;) {
    const names = (await source.client.call('CLUSTER', 'GETKEYSINSLOT', slot, 1_000)) as string[];
    if (names.length === 0) break;
    await source.client.call('MIGRATE', '127.0.0.1', target.server.port, '', 0, 5_000, 'KEYS', ...names);
  }
  for (const { client } of [target, source]) await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(targetId));
}

async function startNode(dir: string, index: number, onSpawn: OnSpawn, binary: string): Promise<Node> {
  const busPort = await findFreePort();
  const server = await startRedis({
    dir: join(dir, `node-${index}`),
    binary,
    extraArgs: [
      // The time-out is long, so that only `promote` causes a failover, and not a machine that stalls for seconds.
      ...['--cluster-enabled', 'yes', '--cluster-node-timeout', '15000', '--cluster-port', String(busPort)],
      ...['--cluster-replica-validity-factor', '0', '--repl-diskless-sync-delay', '0'],
    ],
    log: () => undefined,
    onSpawn,
  });
  const client = new Redis(server.url, { maxRetriesPerRequest: 1 });
  client.on('error', () => undefined);
  return { server, busPort, client };
}
