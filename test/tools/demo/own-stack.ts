import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { redisKeys, workerOptions } from '@auth-account/redis';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { startReceiver } from '../../support/worker/worker-receiver.ts';
import { apiUrl as api, type DemoStack, poll, pollArrivals } from './demo-stack.ts';
import { startExampleConsumer } from './example-consumer.ts';

const { LOCAL_MONGO_PORT = '27117', LOCAL_REDIS_PORT = '6479', KEY_PREFIX = 'auth' } = process.env;
const { MONGODB_URI = `mongodb://127.0.0.1:${LOCAL_MONGO_PORT}/?replicaSet=rs0` } = process.env;
const { REDIS_URL = `redis://127.0.0.1:${LOCAL_REDIS_PORT}` } = process.env;

/** Opens the example consumer on the stack's servers, with a separate database. */
async function startOwnServices(subscriber: string) {
  const mongo = new MongoClient(MONGODB_URI);
  const redis = new Redis(REDIS_URL, workerOptions());
  redis.on('error', (error) => console.error(`the example consumer has no Redis: ${error.message}`));
  const lines: string[] = [];
  const consumer = await startExampleConsumer({
    mongo,
    db: mongo.db('kitchen'),
    redis,
    keys: redisKeys(KEY_PREFIX),
    subscriber,
    say: (line) => lines.push(line),
  });
  return {
    /** Resolves with the consumer's message about the group. Rejects if there is none within 60 s. */
    waitForLine: (groupId: string) =>
      poll("the consumer's message", () => lines.find((said) => said.endsWith(groupId))),
    async close() {
      await consumer.close();
      redis.disconnect();
      await mongo.close();
    },
  };
}

/**
 * Starts a stack that ends with the story. It has separate data, and the demo's subscribers, which are a webhook and a
 * queue consumer.
 */
export async function startOwn(): Promise<DemoStack> {
  console.log('No stack runs: one is started for the story (npm run up keeps one running).');
  const receiver = await startReceiver('demo');
  const dataDir = await mkdtemp(join(tmpdir(), 'auth-account-demo-'));
  const consuming = { name: 'kitchen', kind: 'queue' };
  const up = spawn(process.execPath, [join(import.meta.dirname, '../../../libs/local-stack/bin/up.ts')], {
    env: {
      ...process.env,
      LOCAL_DATA_DIR: dataDir,
      EVENT_SUBSCRIBERS: JSON.stringify([receiver.subscriber, consuming]),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C must reach only the story, which then shuts the stack down.
    detached: true,
  });
  const exited = once(up, 'exit');
  let ownServices: Awaited<ReturnType<typeof startOwnServices>> | undefined;
  const close = async () => {
    await ownServices?.close();
    if (up.exitCode === null) up.kill('SIGTERM');
    await exited;
    await receiver.close();
    await rm(dataDir, { recursive: true, force: true });
  };
  let isEnding = false;
  const end = () => {
    if (!isEnding) void close().finally(() => process.exit(130));
    isEnding = true;
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // The handler stays, because npm forwards a signal that its child has already received.
    process.on(signal, end);
  }
  try {
    await untilReady(up.stdout, up.stderr, exited);
    ownServices = await startOwnServices(consuming.name);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    api,
    async waitForEvent(userId) {
      const found = await pollArrivals(receiver.received, userId);
      return { ...found, where: `the demo's subscriber (${receiver.subscriber.url})` };
    },
    waitForConsumer: ownServices.waitForLine,
    close,
  };
}

/** Waits until the stack is ready, and prints its lines until then. */
async function untilReady(stdout: NodeJS.ReadableStream, stderr: NodeJS.ReadableStream, exited: Promise<unknown>) {
  const ready = Promise.withResolvers<void>();
  for (const stream of [stdout, stderr]) {
    let isReady = false;
    createInterface({ input: stream }).on('line', (line) => {
      isReady ||= line.startsWith('Ready after');
      if (isReady) ready.resolve();
      else if (/^[A-Z]\w+: |\berror\b/i.test(line) && !line.includes('{"')) console.log(`  ${line}`);
    });
  }
  const ended = exited.then(() => Promise.reject(new Error('the stack ended before it was ready')));
  await Promise.race([ready.promise, ended]);
}
