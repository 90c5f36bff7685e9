import { fork } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { generateKeys, startMongo, startRedis } from '@auth-account/local-stack';
import { publishGraceMs } from '@auth-account/stores';
import type { OutboxDocument } from '@auth-account/stores/documents';
import { startWorkerProcess } from '../../support/processes/service-process.ts';
import { longAgo, newEvent } from '../../support/worker/worker-events.ts';
import { openWorkerFixture, type WorkerFixture } from '../../support/worker/worker-fixture.ts';
import type { ReceivedCount } from './unique-events-receiver.ts';

/**
 * `npm run bench outbox [-- --rows N]`: drains N unpublished outbox rows (100,000) to a webhook in a separate process,
 * with one worker process and then with two. MongoDB is a real replica set of one, and Redis has an append-only file.
 * Prints rows per second and each process's CPU seconds per 1,000 events, and exits with 1 if an event is missing.
 */
const rowsFlag = process.argv.indexOf('--rows');
const rowCount = rowsFlag === -1 ? 100_000 : Number(process.argv[rowsFlag + 1]);
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const insertBatch = 5_000;

/** Returns the CPU seconds that the process has used, in user and kernel mode. */
async function cpuSeconds(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  const ticksPerSecond = 100;
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

async function cpuOf(pids: readonly number[]): Promise<number> {
  const used = await Promise.all(pids.map(cpuSeconds));
  return used.reduce((sum, seconds) => sum + seconds, 0);
}

function rowOf(): OutboxDocument {
  const [event, at] = [newEvent(), longAgo()];
  const locked_until = new Date(at.getTime() + publishGraceMs);
  const state = { state: 'pending', created_at: at, locked_until, attempts: 0, deliveries: {} } as const;
  return { _id: event.id, topic: event.type, event, ...state };
}

async function fill({ collections }: WorkerFixture): Promise<void> {
  for (let done = 0; done < rowCount; done += insertBatch) {
    const length = Math.min(insertBatch, rowCount - done);
    await collections.outbox.insertMany(Array.from({ length }, rowOf), { ordered: false });
  }
}

function startReceiver() {
  const child = fork(new URL('unique-events-receiver.ts', import.meta.url));
  let last: ReceivedCount | undefined;
  const first = Promise.withResolvers<ReceivedCount>();
  child.on('message', (count: ReceivedCount) => {
    last = count;
    first.resolve(count);
  });
  return { first: first.promise, count: () => last, end: () => child.disconnect() };
}

interface Servers {
  readonly mongoPids: readonly number[];
  readonly redisPid: number;
  readonly redisUrl: string;
}

async function drain(workerCount: number, { mongoPids, redisPid, redisUrl }: Servers): Promise<void> {
  const receiver = startReceiver();
  const { port } = await receiver.first;
  const subscriber = { name: 'counting', kind: 'webhook', url: `http://127.0.0.1:${port}/events`, secret };
  const fixture = await openWorkerFixture([subscriber], redisUrl);
  await fill(fixture);
  const before = [await cpuOf(mongoPids), await cpuOf([redisPid])] as const;
  const env = { ...fixture.env, RELAY_INTERVAL_MS: '1000', DENY_LIST_INTERVAL_MS: '1000' };
  const begun = performance.now();
  const workers = await Promise.all(
    Array.from({ length: workerCount }, () => startWorkerProcess({ ...env, ...settings })),
  );
  const pids = workers.map(({ pid }) => pid);
  const left = () => fixture.collections.outbox.countDocuments({ state: 'pending' }, { limit: 1 });
  let isEnded = false;
  for (const { exited } of workers) void exited.then(() => (isEnded = true));
  while ((receiver.count()?.ids ?? 0) < rowCount || (await left()) > 0) {
    if (isEnded) {
      for (const worker of workers) await worker.end('SIGKILL');
      throw new Error('A worker ended before everything was delivered; TEST_LOG_LEVEL=info shows its log');
    }
    await delay(100);
  }
  const seconds = (performance.now() - begun) / 1_000;
  const after = [await cpuOf(mongoPids), await cpuOf([redisPid])] as const;
  const perThousand = (used: number) => ((used * 1_000) / rowCount).toFixed(3);
  const { deliveries, ids } = receiver.count() ?? { deliveries: 0, ids: 0 };
  console.log(
    `${workerCount} worker(s): ${rowCount} rows in ${seconds.toFixed(1)} s, ${Math.round(rowCount / seconds)} rows/s; ` +
      `${deliveries} deliveries of ${ids} ids; CPU s per 1,000: workers ${perThousand(await cpuOf(pids))}, ` +
      `mongod ${perThousand(after[0] - before[0])}, redis ${perThousand(after[1] - before[1])}; ` +
      `load ${loadavg()
        .map((load) => load.toFixed(1))
        .join(' ')}`,
  );
  for (const worker of workers) await worker.end('SIGTERM');
  receiver.end();
  await fixture.close();
  if (ids !== rowCount) process.exitCode = 1;
}

/** Further settings of the workers, from `NAME=value` arguments. */
const settings = Object.fromEntries(
  process.argv.slice(2).flatMap((argument) => {
    const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(argument) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  }),
);

const dir = await mkdtemp(join(tmpdir(), 'auth-account-outbox-'));
const log = () => undefined;
await generateKeys(dir);
const mongo = await startMongo({ dir: join(dir, 'mongo'), log });
const redis = await startRedis({ dir: join(dir, 'redis'), log });
process.env.TEST_MONGODB_URI = mongo.uri;
process.env.TEST_REDIS_URL = redis.url;
process.env.TEST_KEYS_DIR = dir;
try {
  const servers = { mongoPids: mongo.pids(), redisPid: redis.pid() ?? 0, redisUrl: redis.url };
  for (const workers of [1, 2]) await drain(workers, servers);
} finally {
  await redis.stop();
  await mongo.stop();
  await rm(dir, { recursive: true, force: true });
}
