import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { addEvent, openEventQueue } from '@auth-account/messaging';
import { createDenyList } from '@auth-account/messaging/deny-list';
import { openRedis, type RedisClient, redisKeys, workerOptions } from '@auth-account/redis';
import { Worker } from 'bullmq';
import { startTestServers } from '../../support/start-test-servers.ts';
import { newEvent } from '../../support/worker-events.ts';
import { medianOf } from './cost/median-of.ts';
import { countCpu } from './push/process-usage.ts';

/**
 * `npm run bench redis [-- --count N] [-- --denials N]`: measures the CPU of one Redis server for the work of the
 * services, which is the look-up of an authenticated request and of a handshake, a logout, and an event from its
 * publication to its end in one queue. Also prints how many of each one server can do in a second of its CPU.
 */
const { values } = parseArgs({
  options: { count: { type: 'string', default: '20000' }, denials: { type: 'string', default: '100000' } },
});
const [count, denials] = [Number(values.count), Number(values.denials)];
const rounds = 3;
/** Number of connections, each with one command at a time, as if from as many services. */
const connections = 16;
const channel = 'service.auth.events.registered';
const lifetimeMs = 695_000;

const servers = await startTestServers();
const open = () => openRedis({ REDIS_URL: servers.redis.url }, workerOptions());
const clients: RedisClient[] = Array.from({ length: connections }, open);
const keys = redisKeys('bench');
const lists = clients.map((redis) => createDenyList(redis, keys, lifetimeMs));
const queues = clients.map((redis) => openEventQueue(channel, redis, keys));
const countRedis = () => countCpu([servers.redis.pid() ?? 0]);

function denyEntry() {
  const denial = { kind: 'revoked', reason: 'LOGOUT_CONFIRMED' } as const;
  return { sessionId: randomUUID(), denial, requestId: 'bench', decidedAt: Date.now() };
}

async function fill(): Promise<void> {
  const [list] = lists;
  await (await list?.beginRebuild())?.complete();
  for (let done = 0; done < denials; done += 500) {
    await list?.denyAndClose(Array.from({ length: Math.min(500, denials - done) }, denyEntry));
  }
}

/** Does `times` runs, spread over the connections, and returns Redis's CPU for a run, and the runs per second. */
async function measure(times: number, run: (connection: number) => Promise<unknown>) {
  const [redisMs, begun] = [countRedis(), performance.now()];
  let left = times;
  const one = async (_: unknown, connection: number) => {
    while (left-- > 0) await run(connection);
  };
  await Promise.all(clients.map(one));
  return { ms: redisMs() / times, perSecond: (times / (performance.now() - begun)) * 1_000 };
}

async function drain(): Promise<void> {
  const connection = openRedis({ REDIS_URL: servers.redis.url }, workerOptions());
  const worker = new Worker(channel, async () => undefined, { connection, prefix: keys.queuePrefix, concurrency: 50 });
  worker.on('error', () => undefined);
  const [queue] = queues;
  while ((await queue?.getJobCountByTypes('waiting', 'active', 'prioritized')) ?? 0) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await worker.close();
  connection.disconnect();
}

/** Publishes events, then lets a worker finish them. Returns the CPU per event of each part. */
async function measureEvents() {
  const times = Math.ceil(count / 4);
  const added = await measure(times, (connection) => addEvent(queues[connection] ?? never(), newEvent()));
  const [redisMs, begun] = [countRedis(), performance.now()];
  await drain();
  const ended = { ms: redisMs() / times, perSecond: (times / (performance.now() - begun)) * 1_000 };
  return { added, ended };
}

function never(): never {
  throw new Error('there is no such connection');
}

const found = new Map<string, { readonly ms: number; readonly perSecond: number }[]>();
const note = (what: string, cost: { readonly ms: number; readonly perSecond: number }) =>
  found.set(what, [...(found.get(what) ?? []), cost]);
try {
  await fill();
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    if (round === 1) found.clear();
    note('question to the deny list', await measure(count, (at) => (lists[at] ?? never()).find([randomUUID()])));
    note(
      'handshake alone: the question, a number, a message',
      await measure(count, (at) =>
        Promise.all([
          (lists[at] ?? never()).find([randomUUID()]),
          clients[at]?.incr('{bench}:numbers'),
          clients[at]?.publish('{bench}:nobody', randomUUID()),
        ]),
      ),
    );
    note(
      'denial with its close command',
      await measure(count, (at) => (lists[at] ?? never()).denyAndClose([denyEntry()])),
    );
    const { added, ended } = await measureEvents();
    note('event published', added);
    note('event taken and ended in one queue', ended);
  }
  for (const [what, costs] of found) {
    const [ms, rate] = [medianOf(costs.map((each) => each.ms)), medianOf(costs.map(({ perSecond }) => perSecond))];
    console.log(
      `${what}: ${(ms * 1_000).toFixed(0)} µs of Redis, ${rate.toFixed(0)}/s here, ${(1_000 / ms).toFixed(0)} per CPU second`,
    );
  }
} finally {
  for (const queue of queues) await queue.close();
  for (const redis of clients) redis.disconnect();
  await servers.stop();
}
