import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { waitUntil } from '@auth-account/local-stack';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestGateway } from '../../support/gateway/gateway-fixture.ts';
import { startTestStack, type TestStack } from '../../support/processes/test-stack.ts';
import { serviceEnvironment } from '../../support/service-environment.ts';
import { cheapHashes } from '../../support/test-environment.ts';
import { unpackAgent } from './agent-folder.ts';

let stack: TestStack;
let unpacked: Awaited<ReturnType<typeof unpackAgent>>;
let agent: ChildProcessByStdio<Writable, Readable, null>;

/** Starts the agent as its pod does, from its bundle alone, without anything else of this repository. */
beforeAll(async () => {
  stack = await startTestStack({ ...cheapHashes, DRAIN_SECONDS: '1' });
  unpacked = await unpackAgent();
  // The stack's addresses need no name, but a call by name shows that the agent resolves it.
  const env = { ...process.env, AGENT_HOSTS: '.cluster.invalid=127.0.0.1' };
  agent = spawn(process.execPath, [unpacked.program], { stdio: ['pipe', 'pipe', 'inherit'], env });
});
afterAll(async () => {
  if (agent?.exitCode === null) {
    const exited = once(agent, 'exit');
    agent.stdin.end();
    await exited;
  }
  await stack?.close();
  if (unpacked !== undefined) await rm(unpacked.folder, { recursive: true, force: true });
});

async function call(name: string, argument?: object): Promise<unknown> {
  const answered = once(createInterface({ input: agent.stdout }), 'line');
  agent.stdin.write(`${JSON.stringify({ id: 1, name, argument })}\n`);
  const [line] = await answered;
  const { result, error } = JSON.parse(line) as { result?: unknown; error?: string };
  if (error !== undefined) throw new Error(error);
  return result;
}

test('the streams of the fleet come back by the client when a gateway has drained, and each end is counted', async () => {
  expect(await call('startFleet', { api: stack.apiUrl, push: stack.pushUrl, streams: 2 })).toBeNull();
  const gateway = stack.services['push-gateway'];
  const before = gateway.restarts();
  gateway.kill('SIGTERM');
  await waitUntil(async () => gateway.restarts() > before, { what: 'the gateway to drain', timeoutMs: 60_000 });
  await gateway.waitUntilReady();
  const seen = { open: 2, closed: { '1001 SERVER_DRAINING': 2 }, reopened: 2 };
  expect(await call('lookAtFleet')).toMatchObject(seen);
  expect(await call('stopFleet')).toMatchObject({ open: 2, closed: {}, reopened: 0 });
});

test('a logout closes the stream that the agent has opened itself', async () => {
  const [report] = (await call('logOutAcross', {
    apis: [stack.apiUrl],
    gateways: [stack.pushUrl],
    each: 1,
  })) as object[];
  expect(report).toMatchObject({ ends: ['1000 LOGOUT_CONFIRMED'], strays: 0 });
});

test.each(['header', 'subprotocol'])('each end of a stream by %s is reported with its code and reason', async (by) => {
  const byName = (url: string) => url.replace('127.0.0.1', 'auth.cluster.invalid');
  const reports = await call('walkCloses', { api: byName(stack.apiUrl), push: byName(stack.pushUrl), by });
  expect((reports as { end: string }[]).map(({ end }) => end)).toEqual([
    '1000 LOGOUT_CONFIRMED',
    '4001 SESSION_REVOKED',
    '4005 SESSION_REPLACED',
    '4003 STREAM_REPLACED',
    '4004 GROUP_CHANGED',
    expect.stringContaining('401'),
  ]);
});

test('the end of a stream whose token nobody renews is reported', async () => {
  let aheadMs = 0;
  const env = { ...serviceEnvironment(stack.collections.users.dbName), REDIS_URL: stack.redis.url };
  const gateway = await startTestGateway({ env }, {}, { now: () => Date.now() + aheadMs });
  try {
    const isTrue = (what: string, check: () => Promise<boolean>) => waitUntil(check, { what, timeoutMs: 60_000 });
    await isTrue('the gateway to be ready', async () => (await gateway.unreadiness()).length === 0);
    const reports = call('outliveTokens', { api: stack.apiUrl, push: gateway.base });
    await isTrue('both streams', async () => (await gateway.metric('push_streams_open')) === 2);
    // A token lives for ten minutes, and its stream for 30 s more.
    aheadMs = 631_000;
    const ends = ['header', 'subprotocol'].map((by) => ({ signInMethod: `token by ${by}`, end: '4002 TOKEN_EXPIRED' }));
    expect(await reports).toMatchObject(ends);
  } finally {
    await gateway.close();
  }
});

test('idle streams stay open until the agent looks at them', async () => {
  expect(await call('holdIdle', { api: stack.apiUrl, push: stack.pushUrl, streams: 2 })).toBeNull();
  expect(await call('lookAtIdle')).toMatchObject({ open: 2, ends: [] });
});
