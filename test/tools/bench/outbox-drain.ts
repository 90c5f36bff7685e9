import { tmpdir } from 'node:os';
import { parseArgs } from 'node:util';
import { waitUntil } from '@auth-account/local-stack';
import { startWorkerProcess } from '../../support/processes/service-process.ts';
import { startTestServers, type TestServers } from '../../support/stores/start-test-servers.ts';
import { dueRow } from '../../support/worker/worker-events.ts';
import { openWorkerFixture, type WorkerFixture } from '../../support/worker/worker-fixture.ts';
import { startReceiver } from '../../support/worker/worker-receiver.ts';
import { countCpu } from './machine/process-usage.ts';

/**
 * `npm run bench outbox [-- --rows N]`: drains N unpublished outbox rows (100,000) to a webhook, with one worker process
 * and then with two. MongoDB is a real replica set of one, and Redis has an append-only file. Prints rows per second and
 * each process's CPU seconds per 1,000 events, and fails if an event is missing.
 */
const { values } = parseArgs({ options: { rows: { type: 'string', default: '100000' } } });
const rowCount = Number(values.rows);
const insertBatch = 5_000;
const limitMs = 3_600_000;

async function fill({ collections }: WorkerFixture): Promise<void> {
  for (let done = 0; done < rowCount; done += insertBatch) {
    const length = Math.min(insertBatch, rowCount - done);
    const rows = Array.from({ length }, () => dueRow());
    await collections.outbox.insertMany(rows, { ordered: false });
  }
}

async function drain(workerCount: number, { mongo, redis }: TestServers): Promise<void> {
  const receiver = await startReceiver('counting');
  const fixture = await openWorkerFixture([receiver.subscriber]);
  await fill(fixture);
  const env = { ...fixture.env, RELAY_INTERVAL_MS: '1000', DENY_LIST_INTERVAL_MS: '1000' };
  const stores = [mongo.pids(), [redis.pid() ?? 0]].map(countCpu);
  const begun = performance.now();
  const workers = await Promise.all(Array.from({ length: workerCount }, () => startWorkerProcess(env)));
  const ofWorkers = countCpu(workers.map(({ pid }) => pid));
  const ended = Promise.race(workers.map(({ exited }) => exited)).then(() => {
    throw new Error('A worker ended before everything was delivered; TEST_LOG_LEVEL=info shows its log');
  });
  const isDrained = async () =>
    receiver.received.length >= rowCount &&
    (await fixture.collections.outbox.countDocuments({ state: 'pending' }, { limit: 1 })) === 0;
  const what = { what: 'the delivery of all events', timeoutMs: limitMs, intervalMs: 100 };
  try {
    await Promise.race([waitUntil(isDrained, what), ended]);
    const seconds = (performance.now() - begun) / 1_000;
    const ids = receiver.ids();
    const different = new Set(ids).size;
    if (different < rowCount) throw new Error(`only ${different} events have arrived`);
    const cpu = [ofWorkers, ...stores].map((usedMs) => (usedMs() / rowCount).toFixed(3));
    console.log(
      `${workerCount} worker(s): ${rowCount} rows in ${seconds.toFixed(1)} s, ${Math.round(rowCount / seconds)} rows/s; ` +
        `${ids.length} deliveries of ${different} ids; CPU s per 1,000: workers ${cpu[0]}, mongod ${cpu[1]}, redis ${cpu[2]}`,
    );
  } finally {
    ended.catch(() => undefined);
    for (const worker of workers) await worker.end('SIGTERM');
    await receiver.close();
    await fixture.close();
  }
}

const servers = await startTestServers(undefined, { parent: tmpdir() });
try {
  for (const workers of [1, 2]) await drain(workers, servers);
} finally {
  await servers.stop();
}
