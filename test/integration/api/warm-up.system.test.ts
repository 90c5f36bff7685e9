import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mainOf, nodeFor, waitUntil } from '@auth-account/local-stack';
import { openRedis, workerOptions } from '@auth-account/redis';
import { ensureIndexes } from '@auth-account/stores';
import { createLogger } from '@auth-account/telemetry';
import { afterAll, expect, test } from '@jest/globals';
import { newSession } from '../../support/api/accounts.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { send } from '../../support/http-client.ts';
import { processEnvironment } from '../../support/processes/process-environment.ts';
import type { Line } from '../../support/recorded-log.ts';
import { serviceEnvironment } from '../../support/service-environment.ts';
import { withFailPoint } from '../../support/stores/fail-point.ts';
import { monitored, watchSentCommands } from '../../support/stores/sent-commands.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';

const sent = watchSentCommands();
afterAll(() => sent.close());

/** Starts an api whose MongoDB knows it by that name; `lines` is its whole log. */
async function start(appName: string, on: TestApi): Promise<{ readonly api: TestApi; readonly lines: Line[] }> {
  const lines: Line[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const env = { MONGODB_URI: named(appName), KEY_PREFIX: uniqueName() };
  const logger = createLogger({ service: 'api', level: 'info', destination });
  const api = await on.beside(env, { warmUpLimitMs: 60_000 }, logger);
  return { api, lines };
}

function named(appName: string): string {
  const uri = new URL(monitored(testEnvironment().mongodbUri));
  uri.searchParams.set('appName', appName);
  return uri.href;
}

test('the warm-up reads as a login does, and leaves no trace in stores, log and metrics', async () => {
  // Once an api has served, another one of its generation waits for no process, and so not for Redis to name them.
  const earlier = await startTestApi();
  const before = sent.all.length;
  const { api, lines } = await start('warm-up', earlier);
  const ofWarmUp = sent.all.slice(before).filter(({ name, command }) => command[name] !== 'upgrades');
  const names = new Set(ofWarmUp.map(({ name }) => name));
  expect([...names].sort()).toEqual(['commitTransaction', 'find']);
  expect(lines.map(({ msg }) => msg)).toEqual(['hash gate', 'warmed up', 'api listens']);

  const redis = openRedis({ REDIS_URL: testEnvironment().redisUrl }, workerOptions());
  const [, keys] = await redis.scan(0, 'MATCH', `*${api.keyPrefix}*`, 'COUNT', 1_000_000);
  redis.disconnect();
  expect(keys.filter((key) => !/:(held-keys|processes|process:.*)$/.test(key))).toEqual([]);

  const counted = [
    ...['http_request_duration_seconds', 'auth_logins_total', 'auth_transactions_total'],
    ...['auth_password_hash_duration_seconds', 'auth_password_hash_wait_seconds'],
  ];
  const sums = () => Promise.all(counted.map((name) => api.metric(name)));
  expect(await sums()).toEqual(counted.map(() => 0));
  await newSession(api);
  for (const sum of await sums()) expect(sum).toBeGreaterThan(0);
  await earlier.close();
});

test('a store that fails the warm-up is reported, and the api listens', async () => {
  const appName = 'warm-up-failing';
  const outside = await startTestApi();
  const namespace = `${outside.database}.users`;
  const failing = { failCommands: ['find'], errorCode: 96, namespace, appName };
  const { api, lines } = await withFailPoint(outside.mongo, 'alwaysOn', failing, () => start(appName, outside));
  const warning = { level: 'warn', msg: 'the warm-up failed: the first requests will take longer' };
  expect(lines.filter(({ level }) => level === 'warn')).toEqual([expect.objectContaining(warning)]);
  expect(lines.map(({ msg }) => msg)).toContain('api listens');
  await newSession(api);
  await api.close();
  await outside.close();
});

test('a process is not ready before its warm-up has ended', async () => {
  const name = uniqueName();
  const outside = await startTestApi();
  const database = outside.mongo.db(name);
  await ensureIndexes(database);
  const held = { failCommands: ['find'], blockConnection: true, blockTimeMS: 200, appName: name };
  const main = mainOf('api');
  await withFailPoint(outside.mongo, 'alwaysOn', held, async () => {
    const ports = { API_PORT: '0', API_OPS_PORT: '0', SHUTDOWN_DELAY_SECONDS: '0' };
    const env = { ...processEnvironment(), ...serviceEnvironment(name), ...ports, MONGODB_URI: named(name) };
    const child = spawn(nodeFor(main), [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    try {
      let log = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        log += chunk;
      });
      const logged = async (line: RegExp) => {
        await waitUntil(async () => line.test(log), { what: String(line), timeoutMs: 60_000, intervalMs: 5 });
        return line.exec(log);
      };
      const [, port] = (await logged(/"port":(\d+)[^\n]*"ops server listens"/)) ?? [];
      const isReady = async () => {
        const { status } = await send(`http://127.0.0.1:${port}`, { method: 'GET', path: '/readyz' });
        return status === 200;
      };
      await waitUntil(isReady, { what: 'readiness', timeoutMs: 60_000, intervalMs: 20 });
      const readyAt = Date.now();
      // On a slow machine the warm-up ends by its limit, and reports that it failed.
      const [, endedAt = ''] =
        (await logged(/"time":"([^"\n]+)"[^\n]*"(?:warmed up|the warm-up failed).*"api listens".*"started"/s)) ?? [];
      expect(readyAt).toBeGreaterThanOrEqual(Date.parse(endedAt));
    } finally {
      child.kill('SIGTERM');
    }
    expect(await exited).toEqual([0, null]);
  });
  await database.dropDatabase();
  await outside.close();
});
