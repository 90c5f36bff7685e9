import { provideRedisBinary } from '@auth-account/local-stack';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { logOut, newSession, registerAccount } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { closeBoundMs } from '../../support/gateway/close-bound.ts';
import { type GuardedFolder, openGuardedFolder } from '../../support/processes/guarded-folder.ts';
import { startTestServices, type TestServices } from '../../support/processes/test-services.ts';
import { openInternalService, refused } from '../../support/verifier/verifier-fixture.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { type SentinelGroup, startSentinelGroup } from './servers/redis-sentinel.ts';

let folder: GuardedFolder;
let group: SentinelGroup;
let services: TestServices;
const isReady = async () => (await services.gateway.unreadiness()).length === 0;

beforeAll(async () => {
  folder = await openGuardedFolder('sentinel');
  const binary = await provideRedisBinary({ log: () => undefined });
  group = await startSentinelGroup(folder.dir, folder.watch, binary);
  services = await startTestServices({ REDIS_URL: group.url });
  await eventually('the gateway is ready', isReady);
});

afterAll(async () => {
  await services?.close();
  await group?.close();
  await folder?.close();
});

// guarantees: revoked-after-failover, resource-server-deny-list
test('after Sentinel’s failover to an older replica, no part says "allow", streams close, and the services go on', async () => {
  const { api } = services;
  const [before, meanwhile, after] = [await newSession(api), await newSession(api), await newSession(api)];
  const [meanwhileStream, afterStream] = [await services.openStream(meanwhile), await services.openStream(after)];
  const internalService = openInternalService(services, group.url);
  await internalService.until(before.access_token, 'good');
  // The replica keeps its data, including the sentinel key, but receives nothing more, because it cannot log in.
  const [onPrimary, onReplica] = [new Redis(group.primary.url), new Redis(group.replica.url)];
  for (const client of [onPrimary, onReplica]) client.on('error', () => undefined);
  await onReplica.config('SET', 'masterauth', 'wrong');
  await onPrimary.call('CLIENT', 'KILL', 'TYPE', 'replica');
  expect((await logOut(api, before)).status).toBe(200);
  expect(await services.refusal(before)).toBe(401);
  await internalService.until(before.access_token, refused);
  await group.primary.kill();
  expect((await logOut(api, meanwhile)).status).toBe(200);
  await group.failOver();

  const headers = bearer(before);
  const answers = new Set<number>();
  const ask = async () => {
    expect(await internalService.verdict(before.access_token)).not.toBe('good');
    answers.add(await services.refusal(before));
    answers.add((await api.listSessions(headers)).status);
  };
  await eventually(
    'the sentinel has promoted the replica',
    async () => {
      await ask();
      return (await group.currentPort()) === group.replica.port;
    },
    150_000,
  );
  const since = performance.now();
  const closed = await meanwhileStream.closed;
  expect([closed.code, closed.reason]).toEqual([1000, 'LOGOUT_CONFIRMED']);
  expect(closed.at - since).toBeLessThan(closeBoundMs);
  await eventually('the gateway is ready', async () => {
    await ask();
    return isReady();
  });
  await ask();
  // 401 by the deny list or MongoDB, 503 while neither can be read, but never 101 or 200.
  expect([...answers].filter((status) => status !== 401 && status !== 503)).toEqual([]);
  expect(await services.refusal(before)).toBe(401);

  expect(afterStream.isOpen()).toBe(true);
  const loggedOutAt = performance.now();
  expect((await logOut(api, after)).status).toBe(200);
  const last = await afterStream.closed;
  expect([last.code, last.reason]).toEqual([1000, 'LOGOUT_CONFIRMED']);
  expect(last.at - loggedOutAt).toBeLessThan(closeBoundMs);
  for (const ended of [before, meanwhile, after]) await internalService.until(ended.access_token, refused);
  internalService.close();
  const account = await registerAccount(api);
  await services.receiver.waitFor(account.user_id);
  for (const client of [onPrimary, onReplica]) client.disconnect();
}, 300_000);
