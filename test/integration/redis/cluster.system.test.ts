import { execFileSync } from 'node:child_process';
import { registeredTopic } from '@auth-account/contracts';
import { type LocalRedis, provideRedisBinary } from '@auth-account/local-stack';
import {
  addEvent,
  consumedJobOptions,
  createPushMessagePublisher,
  openEventQueue,
  subscriberQueueName,
} from '@auth-account/messaging';
import { createStreamNumbers } from '@auth-account/messaging/commands';
import { failFastOptions, openRedis, redisKeys, workerOptions } from '@auth-account/redis';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { logIn, logOut, newSession, registerAccount } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { closeBoundMs } from '../../support/gateway/close-bound.ts';
import { authctl } from '../../support/processes/authctl.ts';
import { type GuardedFolder, openGuardedFolder } from '../../support/processes/guarded-folder.ts';
import { startTestServices, type TestServices } from '../../support/processes/test-services.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { untilUnchanged } from '../../support/until-unchanged.ts';
import { readDocumentedAcl } from '../../support/verifier/documented-acl.ts';
import { openInternalService, refused } from '../../support/verifier/verifier-fixture.ts';
import { newEvent } from '../../support/worker/worker-events.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { startExampleConsumer } from '../../tools/demo/example-consumer.ts';
import { type RedisCluster, startRedisCluster } from './servers/redis-cluster.ts';

const binary = await provideRedisBinary({ log: () => undefined });
const major = Number(/v=(\d+)/.exec(execFileSync(binary, ['--version']).toString())?.[1]);
const hasShardedChannels = major >= 7;
if (!hasShardedChannels) {
  console.warn(`redis-cluster.test.ts: ${binary} is Redis ${major}, sharded channels came with 7: NOTHING IS TESTED`);
}

async function commandTo(server: LocalRedis, ...args: [string, ...string[]]): Promise<unknown> {
  const client = new Redis(server.url, { maxRetriesPerRequest: 1 });
  try {
    return await client.call(...args);
  } finally {
    client.disconnect();
  }
}

(hasShardedChannels ? describe : describe.skip)('services on a Redis Cluster', () => {
  let folder: GuardedFolder;
  let cluster: RedisCluster;
  let services: TestServices;
  const isReady = async () => (await services.gateway.unreadiness()).length === 0;

  /**
   * Ends the reads of the slot map with their connection. ioredis would go on for ever if the connection ends during a
   * read, and this process would not end.
   */
  function endReadsOfSlots(): void {
    const { refreshSlotsCache } = Cluster.prototype;
    jest.spyOn(Cluster.prototype, 'refreshSlotsCache').mockImplementation(function (this: Cluster, callback) {
      refreshSlotsCache.call(this, (error) => {
        if (!['disconnecting', 'close', 'end'].includes(this.status)) callback?.(error);
      });
    });
  }

  beforeAll(async () => {
    endReadsOfSlots();
    folder = await openGuardedFolder('cluster');
    cluster = await startRedisCluster(folder.dir, folder.watch, binary);
    services = await startTestServices({ REDIS_URL: cluster.url });
    await eventually('the gateway is ready', isReady);
  });

  afterAll(async () => {
    await services?.close();
    await cluster?.close();
    await folder?.close();
  });

  test('the main path works on a cluster: register, event, log in, stream, refresh, log out, close', async () => {
    const { api, receiver } = services;
    const account = await registerAccount(api);
    await receiver.waitFor(account.user_id);
    const tokens = await logIn(api, account.email);
    const stream = await services.openStream(tokens);
    const refreshed = await api.refreshTokens({ refresh_token: tokens.refresh_token });
    expect(refreshed.status).toBe(200);
    const since = performance.now();
    expect((await logOut(api, refreshed.json.data)).status).toBe(200);
    const { code, reason, at } = await stream.closed;
    expect([code, reason]).toEqual([1000, 'LOGOUT_CONFIRMED']);
    expect(at - since).toBeLessThan(closeBoundMs);
    // The close came by the channel, not by a later read of the deny list.
    expect(await services.gateway.metric('push_commands_total', { result: 'applied' })).toBe(1);
    expect(await services.refusal(tokens)).toBe(401);
    const { access_token } = refreshed.json.data;
    const headers = bearer(access_token);
    const ask = () => api.listSessions(headers);
    expect((await untilUnchanged(() => api.metric('auth_deny_list_fallbacks_total'), ask)).status).toBe(401);
  });

  test('the script in a cluster limits guessing, not the process', async () => {
    const device_id = '0198c0de-0000-7000-8000-000000000001';
    const guess = async () => {
      const { email } = await registerAccount(services.api);
      const statuses: number[] = [];
      // If the machine stalls, the delay after a failure may have passed. The delay doubles each time.
      while (!statuses.includes(429) && statuses.length < 12) {
        const answer = await services.api.logIn({
          ...{ email, password: 'not the password', device_id },
        });
        statuses.push(answer.status);
      }
      return statuses;
    };
    const statuses = await untilUnchanged(() => services.api.metric('auth_login_limits_insured_total'), guess);
    expect(statuses.slice(0, 5)).toEqual([401, 401, 401, 401, 401]);
    expect(statuses.slice(5)).toContain(429);
  });

  test('stream numbers rise, and keys and channels of one deployment are in one slot', async () => {
    const redis = openRedis({ REDIS_URL: cluster.url }, { ...failFastOptions(), enableOfflineQueue: true });
    const keys = redisKeys(services.keyPrefix);
    const next = createStreamNumbers(redis, keys);
    const [first, second] = [await next(), await next()];
    expect(second).toBeGreaterThan(first);
    const names = [
      keys.commands,
      keys.messages,
      keys.ownMessages,
      keys.denied('a-session'),
      keys.revocations,
      keys.denyListComplete,
      keys.streamNumber,
    ];
    const slots = await Promise.all(names.map((name) => redis.call('CLUSTER', 'KEYSLOT', name)));
    expect(new Set(slots).size).toBe(1);
    redis.disconnect();
  });

  test('the Redis users of the documentation consume and publish on a cluster', async () => {
    const everywhere = (...args: [string, ...string[]]) =>
      Promise.all(cluster.nodes.map((node) => commandTo(node, 'ACL', ...args)));
    const open = async (page: string) => {
      const { user, rightsFor, clusterRights } = readDocumentedAcl(page);
      await everywhere('SETUSER', user, ...rightsFor('secret'), ...clusterRights);
      return openRedis({ REDIS_URL: cluster.url.replace('://', `://${user}:secret@`) }, workerOptions());
    };
    const [consuming, publishing] = [await open('consumers.md'), await open('push.md')];
    const keys = redisKeys('auth');
    const admin = openRedis({ REDIS_URL: cluster.url }, workerOptions());
    const queue = openEventQueue(subscriberQueueName(registeredTopic, 'kitchen'), admin, keys, consumedJobOptions);
    const said: string[] = [];
    const mongo = new MongoClient(testEnvironment().mongodbUri);
    const consumer = await startExampleConsumer({
      ...{ mongo, db: mongo.db(services.keyPrefix), redis: consuming, keys, subscriber: 'kitchen' },
      say: (line) => said.push(line),
    });
    const event = newEvent();
    await addEvent(queue, event);
    await eventually('the event', () => said.length > 0);
    expect(said).toEqual([`prepared the starting configuration of group ${event.data.home_group_id}`]);
    await createPushMessagePublisher(publishing, keys).toSession(event.data.user_id, { topic: 'x', payload: 1 });
    await expect(publishing.spublish(keys.commands, '{}')).rejects.toThrow('NOPERM');
    await expect(consuming.spublish(keys.messages, '{}')).rejects.toThrow('NOPERM');
    await consumer.close();
    await queue.close();
    for (const redis of [consuming, publishing, admin]) redis.disconnect();
    await mongo.close();
  });

  test('an internal service with the documented Redis user refuses a token after its logout', async () => {
    const { user, rightsFor, clusterRights } = readDocumentedAcl('verifying.md');
    const rights = [...rightsFor('secret'), ...clusterRights].map((right) =>
      right.replace('{auth}', `{${services.keyPrefix}}`),
    );
    for (const node of cluster.nodes) await commandTo(node, 'ACL', 'SETUSER', user, ...rights);
    const internalService = openInternalService(services, cluster.url.replace('://', `://${user}:secret@`));
    const session = await newSession(services.api);
    await internalService.until(session.access_token, 'good');
    await logOut(services.api, session);
    await internalService.until(session.access_token, refused);
    internalService.close();
  });

  test('authctl ends by itself, because it reads the map of the slots no second time', async () => {
    const connect = jest.spyOn(Cluster.prototype, 'connect');
    const { exitCode } = await authctl(['commands', 'list'], { env: { REDIS_URL: cluster.url } });
    expect(exitCode).toBe(0);
    expect((connect.mock.contexts as Cluster[]).map(({ options }) => options.slotsRefreshInterval)).toEqual([0]);
    connect.mockRestore();
  });

  test('after the slot moves to another master, the gateway follows, and loses no stream', async () => {
    const tokens = await newSession(services.api);
    const stream = await services.openStream(tokens);
    const rebuilds = await services.worker.metric('auth_deny_list_rebuilds_total');
    await cluster.moveSlotOf(redisKeys(services.keyPrefix).commands);
    await eventually('the list is written again', async () => {
      return (await services.worker.metric('auth_deny_list_rebuilds_total')) > rebuilds && isReady();
    });
    expect(stream.isOpen()).toBe(true);
    const since = performance.now();
    expect((await logOut(services.api, tokens)).status).toBe(200);
    const { code, at } = await stream.closed;
    expect(code).toBe(1000);
    expect(at - since).toBeLessThan(closeBoundMs);
  });

  // guarantees: revoked-after-failover
  test('after the slot’s master is killed and its replica lacks a revocation, no part says "allow", and the streams close', async () => {
    const { api } = services;
    const slotKey = redisKeys(services.keyPrefix).commands;
    const [before, meanwhile, after] = [await newSession(api), await newSession(api), await newSession(api)];
    const [, meanwhileStream, afterStream] = [
      await services.openStream(before),
      await services.openStream(meanwhile),
      await services.openStream(after),
    ];
    const master = await cluster.masterOf(slotKey);
    const replica = cluster.nodes[cluster.nodes.indexOf(master) + 3];
    if (replica === undefined) throw new Error('the master has no replica');
    // From here on the replica receives nothing, because it cannot log in.
    await commandTo(replica, 'CONFIG', 'SET', 'masterauth', 'wrong');
    await commandTo(master, 'CLIENT', 'KILL', 'TYPE', 'replica');
    expect((await logOut(api, before)).status).toBe(200);
    const rebuilds = await services.worker.metric('auth_deny_list_rebuilds_total');
    await master.kill();
    expect((await logOut(api, meanwhile)).status).toBe(200);
    await cluster.promote(replica);

    const headers = bearer(before);
    const answers = new Set<number>();
    await eventually('the replica is master', async () => {
      answers.add(await services.refusal(before));
      answers.add((await api.listSessions(headers)).status);
      return (
        (await cluster.masterOf(slotKey)) === replica && String(await commandTo(replica, 'ROLE')).startsWith('master')
      );
    });
    const since = performance.now();
    const closed = await meanwhileStream.closed;
    expect([closed.code, closed.reason]).toEqual([1000, 'LOGOUT_CONFIRMED']);
    expect(closed.at - since).toBeLessThan(closeBoundMs);
    await eventually('the gateway is ready', async () => {
      answers.add(await services.refusal(before));
      return isReady();
    });
    answers.add(await services.refusal(before));
    // 401 by the deny list or MongoDB, 503 while neither can be read, but never 101 or 200.
    expect([...answers].filter((status) => status !== 401 && status !== 503)).toEqual([]);
    expect(await services.refusal(before)).toBe(401);
    // The list is complete a moment before the worker counts it.
    const rebuildsNow = () => services.worker.metric('auth_deny_list_rebuilds_total');
    await eventually('the rebuild is counted', async () => (await rebuildsNow()) > rebuilds);

    expect(afterStream.isOpen()).toBe(true);
    const loggedOutAt = performance.now();
    expect((await logOut(api, after)).status).toBe(200);
    const last = await afterStream.closed;
    expect(last.code).toBe(1000);
    expect(last.at - loggedOutAt).toBeLessThan(closeBoundMs);
    const account = await registerAccount(api);
    await services.receiver.waitFor(account.user_id);
  });
});
