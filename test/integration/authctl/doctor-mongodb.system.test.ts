import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort, provideMongodbBinary } from '@auth-account/local-stack';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { authctl } from '../../support/processes/authctl.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let dir: string;
let port: number;
let mongod: ChildProcess;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'auth-account-ghost-'));
  port = await findFreePort();
  const binary = await provideMongodbBinary({ log: () => undefined });
  const args = ['--replSet', 'rs0', '--port', String(port), '--bind_ip', '127.0.0.1', '--dbpath', dir];
  mongod = spawn(binary, [...args, '--wiredTigerCacheSizeGB', '0.25'], { stdio: 'ignore' });
});
afterAll(async () => {
  const ended = once(mongod, 'exit');
  mongod.kill('SIGKILL');
  await ended;
  await rm(dir, { recursive: true, force: true });
});

test('doctor distinguishes a member that is in no replica set from one that does not answer', async () => {
  const env = { MONGODB_URI: `mongodb://127.0.0.1:${port}/?replicaSet=rs0` };
  let fix = '';
  // Until mongod listens, doctor sees a member that does not answer.
  await eventually('the member answers', async () => {
    const { checks } = JSON.parse((await authctl(['doctor', '--json'], { env })).stdout);
    fix = checks.find(({ check }: { check: string }) => check === 'mongodb reachable').fix;
    return !fix.startsWith('See that mongodb runs');
  });
  expect(fix).toContain(`127.0.0.1:${port} answers, and is in no replica set`);
  expect(fix).toContain('REMOVED');
});
