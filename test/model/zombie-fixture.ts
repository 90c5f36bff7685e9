import { startRedis } from '@auth-account/local-stack';
import { createDenyList, type Denial, type DenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { failFastOptions, openRedis, redisKeys } from '@auth-account/redis';
import { collectionsOf, ensureIndexes } from '@auth-account/stores';
import { MongoClient } from 'mongodb';
import { newSessionDocument } from '../support/api/session-document.ts';
import { startTestGateway, type TestGateway } from '../support/gateway/gateway-fixture.ts';
import { openGuardedFolder } from '../support/processes/guarded-folder.ts';
import { serviceEnvironment } from '../support/service-environment.ts';
import { type HoldingProxy, startHoldingProxy } from '../support/stores/holding-proxy.ts';
import { storesOf } from '../support/stores/stores-of.ts';
import { uniqueName } from '../support/test-environment.ts';
import { eventually } from '../support/worker/worker-fixture.ts';
import { startTestWorker } from '../support/worker/worker-service.ts';

/** A client of Redis, which it reaches through its own proxy. */
export type Part = 'gateway' | 'api' | 'worker';

/** Intervals below the defaults, so that a run takes about a second. `shortenedMs` is the difference. */
const intervals = { RECONCILE_INTERVAL_MS: '200', DENY_LIST_INTERVAL_MS: '100' };
const shortenedMs = 2_000 - 200 + (1_000 - 100);

/** The promise of 5 s, reduced by the shorter intervals. */
export const promisedMs = 5_000 - shortenedMs;

/** Factor by which the suite extends bounds, because its machine runs other tests too. The long form extends none. */
export const patience = process.env.ZOMBIE_RUNS === undefined ? 10 : 1;

/** The real gateway and worker on a real MongoDB and a separate Redis, which each reaches through its own proxy. */
export interface ZombieFixture {
  readonly env: Readonly<Record<string, string>>;
  readonly proxies: Readonly<Record<Part, HoldingProxy>>;
  /** The gateway's clock. */
  readonly clock: { now(): number; pass(ms: number): void };
  gateway(): TestGateway;
  restartGateway(): Promise<void>;
  emptyRedis(): Promise<void>;
  insertSession(): Promise<{ sessionId: string; userId: string; groupId: string }>;
  /** Commits a logout. */
  revoke(sessionId: string): Promise<void>;
  /** Commits a change of group. */
  move(sessionId: string, ver: number): Promise<void>;
  /** Announces a denial as the api does after the commit. Returns false if Redis did not receive it. */
  announce(sessionId: string, denial: Denial): Promise<boolean>;
  close(): Promise<void>;
}

export async function openZombieFixture(): Promise<ZombieFixture> {
  const folder = await openGuardedFolder('zombies');
  const redis = await startRedis({ dir: folder.dir, log: () => undefined, onSpawn: folder.watch });
  const name = uniqueName();
  const env: Record<string, string> = { ...serviceEnvironment(name), ...intervals, DRAIN_SECONDS: '0' };
  const proxies = {
    gateway: await startHoldingProxy(redis.port),
    api: await startHoldingProxy(redis.port),
    worker: await startHoldingProxy(redis.port),
  };
  const mongo = new MongoClient(env.MONGODB_URI ?? '');
  const db = mongo.db(name);
  await ensureIndexes(db);
  const worker = await startTestWorker({ ...env, REDIS_URL: proxies.worker.url });
  const api = openRedis({ REDIS_URL: proxies.api.url }, failFastOptions(250));
  api.on('error', () => undefined);
  const admin = openRedis({ REDIS_URL: redis.url }, { maxRetriesPerRequest: null });
  const denyList = createDenyList(api, redisKeys(name), denialLifetimeMs(600));
  const clock = createClock();
  const start = async () => {
    const gateway = await startTestGateway({ env: { ...env, REDIS_URL: proxies.gateway.url } }, {}, clock);
    return gateway;
  };
  let gateway = await start();
  await eventually('the gateway is ready', async () => (await gateway.unreadiness()).length === 0);
  return {
    env,
    proxies,
    clock,
    gateway: () => gateway,
    async restartGateway() {
      await gateway.close();
      gateway = await start();
    },
    async emptyRedis() {
      await admin.call('FLUSHALL');
    },
    ...sessionsIn(db),
    announce: (sessionId, denial) => announce(denyList, sessionId, denial),
    async close() {
      for (const redisClient of [api, admin]) redisClient.disconnect();
      await gateway.close();
      await worker.close();
      await db.dropDatabase();
      await mongo.close();
      await Promise.all(Object.values(proxies).map((proxy) => proxy.close()));
      await redis.kill();
      await folder.close();
    },
  };
}

function createClock() {
  let passed = 0;
  return {
    now: () => Date.now() + passed,
    pass(ms: number) {
      passed += ms;
    },
  };
}

async function announce(denyList: DenyList, sessionId: string, denial: Denial): Promise<boolean> {
  try {
    await denyList.denyAndClose([{ sessionId, denial, requestId: 'zombie-model', decidedAt: Date.now() }]);
    return true;
  } catch {
    return false;
  }
}

function sessionsIn(db: Parameters<typeof collectionsOf>[0]) {
  const { sessions } = collectionsOf(db);
  const store = storesOf(collectionsOf(db)).sessions;
  return {
    async insertSession() {
      const document = newSessionDocument();
      await sessions.insertOne(document);
      return { sessionId: document._id, userId: document.user_id, groupId: document.claims.home_group_id };
    },
    async revoke(sessionId: string) {
      await store.revokeAll([sessionId], { reason: 'logout', at: new Date(), requestId: 'zombie-model' });
    },
    async move(sessionId: string, ver: number) {
      const changed = { 'claims.ver': ver, claims_changed_at: new Date(), claims_request_id: 'zombie-model' };
      await sessions.updateOne({ _id: sessionId }, { $set: changed });
    },
  };
}
