import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { waitUntil } from '@auth-account/local-stack';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cheapHashes } from '../../support/groups.ts';
import { startTestStack, type TestStack } from '../../support/test-stack.ts';
import { bundleAgent } from './agent-pods.ts';

let stack: TestStack;
let image: string;
let agent: ChildProcessByStdio<Writable, Readable, null>;

/** Starts the agent as its pod does: below the packages of an image, and with nothing else of this repository. */
beforeAll(async () => {
  stack = await startTestStack({ ...cheapHashes, DRAIN_SECONDS: '1' });
  image = await mkdtemp(join(tmpdir(), 'auth-account-agent-'));
  await mkdir(join(image, 'node_modules'));
  await symlink(dirname(createRequire(import.meta.url).resolve('ws')), join(image, 'node_modules/ws'));
  await mkdir(join(image, 'cluster-test'));
  await writeFile(join(image, 'package.json'), '{ "type": "module" }');
  for (const [name, text] of Object.entries(await bundleAgent()))
    await writeFile(join(image, 'cluster-test', name), text);
  const program = join(image, 'cluster-test/agent-main.js');
  agent = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
});
afterAll(async () => {
  const exited = once(agent, 'exit');
  agent.stdin.end();
  await exited;
  await stack.close();
  await rm(image, { recursive: true, force: true });
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
