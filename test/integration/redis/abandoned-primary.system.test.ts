import { provideRedisBinary } from '@auth-account/local-stack';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { logOut, newSession, type TokenPair } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { type GuardedFolder, openGuardedFolder } from '../../support/processes/guarded-folder.ts';
import { startTestServices, type TestServices } from '../../support/processes/test-services.ts';
import { openInternalService } from '../../support/verifier/verifier-fixture.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { startTestWorker, type TestWorker } from '../../support/worker/worker-service.ts';
import { type SentinelGroup, startSentinelGroup } from './servers/redis-sentinel.ts';

let folder: GuardedFolder;
let group: SentinelGroup;
/** Services on the side of the abandoned primary. */
let services: TestServices;
let onPrimary: Redis;
/** Services on the side of the new primary. */
let [elsewhere, worker]: [TestApi?, TestWorker?] = [];

beforeAll(async () => {
  folder = await openGuardedFolder('abandoned');
  group = await startSentinelGroup(folder.dir, folder.watch, await provideRedisBinary({ log: () => undefined }));
  services = await startTestServices({ REDIS_URL: group.url });
  onPrimary = new Redis(group.primary.url);
  await onPrimary.config('SET', 'min-replicas-max-lag', '1');
  await onPrimary.config('SET', 'min-replicas-to-write', '1');
  await eventually('the replica counts', hasReplica);
  await eventually('the gateway is ready', async () => (await services.gateway.unreadiness()).length === 0);
});
afterAll(async () => {
  await worker?.close();
  await elsewhere?.close();
  await services?.close();
  onPrimary?.disconnect();
  await group?.close();
  await folder?.close();
});

const hasReplica = async () => !(await onPrimary.info('replication')).includes('min_slaves_good_slaves:0');

const listedBy = async (api: TestApi, session: TokenPair) => (await api.listSessions(bearer(session))).status;

// guarantees: streams-without-redis-and-worker
test('after a split, no service at the abandoned primary says "allow" for a session that has ended at the new one', async () => {
  const { api } = services;
  const [ended, kept] = [await newSession(api), await newSession(api)];
  const internalService = openInternalService(services, group.url, { graceSeconds: 1 });
  await internalService.until(ended.access_token, 'good');
  // The worker would write MongoDB's revocations to the abandoned primary.
  await services.worker.close();
  await group.splitBrain();
  const env = { ...services.env, REDIS_URL: group.replica.url };
  elsewhere = await startTestApi(env);
  worker = await startTestWorker(env);
  expect((await logOut(elsewhere, ended)).status).toBe(200);
  await eventually('it has lost its replica', async () => !(await hasReplica()));

  // The api now asks MongoDB, the gateway opens no stream, and the resource server's grace begins.
  const heard = new Set<string | number>();
  const ask = async () => {
    heard.add(await listedBy(api, ended)).add(await services.refusal(ended));
    return internalService.verdict(ended.access_token);
  };
  await eventually('the resource server’s grace has ended', async () => (await ask()) !== 'good');
  for (let round = 0; round < 50; round += 1) heard.add(await ask());
  expect(heard).toEqual(new Set([401, 503, 'ERR-DEPENDENCY-UNAVAILABLE']));
  expect([await listedBy(api, kept), await services.refusal(kept)]).toEqual([200, 503]);
  expect(await internalService.verdict(kept.access_token)).toBe('ERR-DEPENDENCY-UNAVAILABLE');
  expect([await listedBy(elsewhere, ended), await listedBy(elsewhere, kept)]).toEqual([401, 200]);
  internalService.close();
});
