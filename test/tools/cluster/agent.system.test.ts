import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { waitUntil } from '@auth-account/local-stack';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cheapHashes } from '../../support/groups.ts';
import { startTestStack, type TestStack } from '../../support/test-stack.ts';
import { unpackAgent } from './agent-folder.ts';

let stack: TestStack;
let unpacked: Awaited<ReturnType<typeof unpackAgent>>;
let agent: ChildProcessByStdio<Writable, Readable, null>;

/** The tokens' lifetime, which is long enough for every handshake of the other tests. */
const tokenSeconds = 10;

/** Starts the agent as its pod does, from its bundle alone, without anything else of this repository. */
beforeAll(async () => {
  stack = await startTestStack({
    ...cheapHashes,
    DRAIN_SECONDS: '1',
    ACCESS_TOKEN_TTL_SECONDS: String(tokenSeconds),
  });
  unpacked = await unpackAgent();
  // The stack's addresses need no name, but a call by name shows that the agent resolves it.
  const env = { ...process.env, AGENT_HOSTS: '.cluster.invalid=127.0.0.1' };
  agent = spawn(process.execPath, [unpacked.program], { stdio: ['pipe', 'pipe', 'inherit'], env });
});
afterAll(async () => {
  const exited = once(agent, 'exit');
  agent.stdin.end();
  await exited;
  await stack.close();
  await rm(unpacked.folder, { recursive: true, force: true });
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

test('a stream whose token nobody renews ends 30 s after the token', async () => {
  const reports = await call('outliveTokens', { api: stack.apiUrl, push: stack.pushUrl });
  const ends = ['header', 'subprotocol'].map((by) => ({ way: `token by ${by}`, end: '4002 TOKEN_EXPIRED' }));
  expect(reports).toMatchObject(ends);
  // A token's lifetime begins with the full second in which it was signed.
  for (const { ms } of reports as { ms: number }[]) expect(ms).toBeGreaterThan((tokenSeconds + 29) * 1_000);
});

test('idle streams stay open until the agent looks at them', async () => {
  expect(await call('holdIdle', { api: stack.apiUrl, push: stack.pushUrl, streams: 2 })).toBeNull();
  expect(await call('lookAtIdle')).toMatchObject({ open: 2, ends: [] });
});
