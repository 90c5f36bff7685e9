import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { RegisteredEvent } from '@auth-account/contracts';
import { startEventReceiver } from '../../support/event-receiver.ts';
import { send } from '../../support/http-client.ts';
import { type Kitchen, openKitchen } from './kitchen.ts';

/** The stack that the story runs against. */
export interface DemoStack {
  /** Base address of the API. */
  readonly api: string;
  /** Resolves when the event about the user has arrived at a subscriber, with `performance.now()` of its arrival. */
  waitForEvent(
    userId: string,
  ): Promise<{ readonly event: RegisteredEvent; readonly at: number; readonly where: string }>;
  /**
   * Returns the message of a consumer of the kind `queue` about the group's event; undefined if the stack has no such
   * consumer.
   */
  waitForConsumer?(groupId: string): Promise<string>;
  close(): Promise<void>;
}

const { API_PORT = '8080', API_OPS_PORT = '9080', LOCAL_SUBSCRIBER_PORT = '8090' } = process.env;
const api = `http://127.0.0.1:${API_PORT}`;

/** Returns the stack that runs on the usual ports or, if none does, one with separate data that ends with the story. */
export async function openDemoStack(): Promise<DemoStack> {
  return (await isRunning()) ? followRunning() : startOwn();
}

async function isRunning(): Promise<boolean> {
  try {
    return (await send(`http://127.0.0.1:${API_OPS_PORT}`, { method: 'GET', path: '/readyz' })).status === 200;
  } catch {
    return false;
  }
}

/** A running stack already has its subscribers: its own one passes on the events that it gets. */
async function followRunning(): Promise<DemoStack> {
  console.log(`A stack runs on ${api}: the story is told against it.`);
  const abort = new AbortController();
  const arrived: { event: RegisteredEvent; at: number }[] = [];
  const url = `http://127.0.0.1:${LOCAL_SUBSCRIBER_PORT}/events`;
  const response = await fetch(url, { signal: abort.signal });
  if (response.body === null) throw new Error(`${url} answered without a body`);
  const reading = readEvents(response.body, (event) => arrived.push({ event, at: performance.now() }));
  return {
    api,
    async waitForEvent(userId) {
      const found = await poll(() => arrived.find(({ event }) => event.subject === userId));
      return { ...found, where: `the stack's own subscriber (${url})` };
    },
    async close() {
      abort.abort();
      await reading;
    },
  };
}

async function readEvents(body: ReadableStream<Uint8Array>, onEvent: (event: RegisteredEvent) => void): Promise<void> {
  let text = '';
  try {
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      const parts = (text + chunk).split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const data = /^data: (.*)$/m.exec(part)?.[1];
        if (data !== undefined) onEvent(JSON.parse(data) as RegisteredEvent);
      }
    }
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error;
  }
}

/** Starts a separate stack with the demo's subscribers: a webhook, and a consumer of a queue. */
async function startOwn(): Promise<DemoStack> {
  console.log('No stack runs: one is started for the story (npm run up keeps one running).');
  const receiver = await startEventReceiver();
  const dataDir = await mkdtemp(join(tmpdir(), 'auth-account-demo-'));
  const subscriber = { name: 'demo', kind: 'webhook', url: receiver.url, secret: receiver.secret };
  const consuming = { name: 'kitchen', kind: 'queue' };
  const up = spawn(process.execPath, [join(import.meta.dirname, '../../../libs/local-stack/bin/up.ts')], {
    env: { ...process.env, LOCAL_DATA_DIR: dataDir, EVENT_SUBSCRIBERS: JSON.stringify([subscriber, consuming]) },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C reaches only the story, which ends the stack in order.
    detached: true,
  });
  const exited = once(up, 'exit');
  let kitchen: Kitchen | undefined;
  const close = async () => {
    await kitchen?.close();
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
    // npm forwards a signal that its child has had already.
    process.on(signal, end);
  }
  try {
    await untilReady(up.stdout, up.stderr, exited);
    kitchen = await openKitchen(consuming.name);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    api,
    waitForEvent: async (userId) => ({
      ...(await receiver.waitFor(userId)),
      where: `the demo's subscriber (${receiver.url})`,
    }),
    waitForConsumer: kitchen.waitForLine,
    close,
  };
}

/** Prints the stack's lines until it is ready, and none afterwards. */
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

async function poll<T>(look: () => T | undefined, timeoutMs = 15_000): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error('the event did not arrive within 15 s');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
