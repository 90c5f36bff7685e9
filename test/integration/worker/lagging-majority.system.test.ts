import { type LocalMongo, startMongo } from '@auth-account/local-stack';
import { createDenyList, type DenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { redisKeys } from '@auth-account/redis';
import { type Collections, collectionsOf } from '@auth-account/stores';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import { awaitDelivery } from '../../../services/authctl/src/probe/probe-events.ts';
import { createReconcile } from '../../../services/worker/src/deny-list/reconcile.ts';
import { type Account, logOut, newSession, type TokenPair } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { newSessionDocument } from '../../support/api/session-document.ts';
import { openTokenFixture, type TokenApi, type TokenFixture } from '../../support/api/token-api.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway/gateway-fixture.ts';
import { openGreeted } from '../../support/gateway/push-client.ts';
import type { Answer } from '../../support/http-client.ts';
import { type GuardedFolder, openGuardedFolder } from '../../support/processes/guarded-folder.ts';
import { serviceEnvironment } from '../../support/service-environment.ts';
import { keepPrimary, stopReplication } from '../../support/stores/stop-replication.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { commitEvent, newEvent } from '../../support/worker/worker-events.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { startTestWorker } from '../../support/worker/worker-service.ts';

const lifetimeMs = denialLifetimeMs(600);

/** Two members, so a majority lacks every write that the secondary has not applied. */
let mongo: LocalMongo;
let folder: GuardedFolder;
let secondaryPort: number;
/** Client whose writes the primary alone acknowledges. */
let primary: MongoClient;

let fixture: TokenFixture;
/** Documents that the primary alone has. */
let unconfirmed: Collections;
let redis: Redis;
let denyList: DenyList;
let env: Readonly<Record<string, string>>;
let api: TokenApi;
/** Another api, which waits at most half a second for an answer of MongoDB. */
let impatient: TokenApi;
let gateway: TestGateway;

beforeAll(async () => {
  folder = await openGuardedFolder('lagging');
  const setParameters = { enableTestCommands: '1' };
  mongo = await startMongo({ dir: folder.dir, members: 2, setParameters, log: () => undefined, onSpawn: folder.watch });
  await keepPrimary(mongo.uri);
  const uris = mongo.ports.map((port) => `mongodb://127.0.0.1:${port}/?directConnection=true&w=1`);
  const members = uris.map((uri) => new MongoClient(uri));
  const roles = await Promise.all(members.map((member) => member.db('admin').command({ hello: 1 })));
  const writable = roles.findIndex(({ isWritablePrimary }) => isWritablePrimary);
  secondaryPort = mongo.ports[1 - writable] ?? 0;
  await members[1 - writable]?.close();
  primary = members[writable] as MongoClient;
  await openFixture();
});
afterAll(async () => {
  await gateway?.close();
  await fixture?.close();
  redis?.disconnect();
  await primary?.close();
  await mongo?.kill();
  await folder?.close();
});

/** The parts are expensive on two members, so all tests share them, each with its own sessions. */
async function openFixture(): Promise<void> {
  fixture = await openTokenFixture({ mongodbUri: mongo.uri });
  const { database, keyPrefix } = fixture;
  unconfirmed = collectionsOf(primary.db(database));
  env = { ...serviceEnvironment(database), KEY_PREFIX: keyPrefix, MONGODB_URI: mongo.uri };
  redis = new Redis(env.REDIS_URL ?? '');
  denyList = createDenyList(redis, redisKeys(keyPrefix), lifetimeMs);
  api = await fixture.start();
  impatient = await fixture.start({ MONGODB_URI: `${mongo.uri}&socketTimeoutMS=500` });
  gateway = await startTestGateway({ env });
}

/** Runs the work while no majority applies writes. */
async function whileLagging<T>(work: () => Promise<T>): Promise<T> {
  const goOn = await stopReplication(secondaryPort);
  try {
    return await work();
  } finally {
    await goOn();
  }
}

type Session = Account & TokenPair;

const list = (session: Session) => api.listSessions(bearer(session)).then(({ status }) => status);

/**
 * Sends the logout to the impatient api until the primary has the revocation. On a busy machine its connection may end
 * before MongoDB has got the command. Every answer must be 503.
 */
async function logOutInVain(session: Session): Promise<void> {
  await eventually('the primary has it', async () => {
    expect((await logOut(impatient, session)).status).toBe(503);
    return (await unconfirmed.sessions.findOne({ _id: session.session_id }))?.is_revoked === true;
  });
}

const majorityHas = (...sessions: readonly Session[]) =>
  eventually('a majority has it', () =>
    storesOf(fixture.collections).sessions.areRevoked(sessions.map(({ session_id }) => session_id)),
  );

// guarantees: revocation-after-503
test('a logout that got 503 still takes effect: the worker announces it when a majority has it', async () => {
  // The api's clock is behind, so its decisions look older to the worker: a lag of seconds acts like half a minute.
  fixture.clock.pass(-20_000);
  const worker = await startTestWorker(env);
  try {
    await eventually('the list is complete', () => denyList.isComplete());
    const session = await newSession(api);
    const stream = await openGreeted(gateway.base + session.push_stream_path, { token: session.access_token });
    await whileLagging(() => logOutInVain(session));
    await majorityHas(session);
    await eventually('its token is refused', async () => (await list(session)) === 401);
    await eventually('its stream is closed', () => !stream.isOpen());
    expect(await stream.closed).toMatchObject({ code: 1000 });
  } finally {
    fixture.clock.pass(20_000);
    await worker.close();
  }
});

/** Requests that end an ended session again, and their answers. */
const again: readonly [name: string, send: (on: TokenApi, session: Session) => Promise<Answer>, status: number][] = [
  ['a logout', logOut, 404],
  ['a refresh', (on, { refresh_token }) => on.refresh(refresh_token), 401],
  [
    'its end by id',
    (on, session) => {
      return on.revokeSession({ session_id: session.session_id }, bearer(session));
    },
    404,
  ],
  ['a logout of all', (on, session) => on.logOutAll({}, bearer(session)), 401],
];

// guarantees: answers-not-rolled-back
test('a logout that got 503 is announced by any request that ends the session again, once a majority has it', async () => {
  // Completes the deny list, because no worker runs.
  await (await denyList.beginRebuild()).complete();
  const fixtures = await Promise.all(
    again.map(async ([name, send, status]) => {
      const session = await newSession(api);
      const stream = await openGreeted(gateway.base + session.push_stream_path, { token: session.access_token });
      return { name, send, status, session, stream };
    }),
  );
  const statusesOf = (send: (one: (typeof fixtures)[number]) => Promise<Answer>) =>
    Promise.all(fixtures.map(async (one) => (await send(one)).status));

  const whileItLags = await whileLagging(async () => {
    await Promise.all(fixtures.map(({ session }) => logOutInVain(session)));
    return statusesOf(({ send, session }) => send(impatient, session));
  });
  expect(whileItLags).toEqual([503, 503, 503, 503]);

  await majorityHas(...fixtures.map(({ session }) => session));
  expect(await Promise.all(fixtures.map(({ session }) => list(session)))).toEqual([200, 200, 200, 200]);
  expect(await statusesOf(({ send, session }) => send(api, session))).toEqual(fixtures.map(({ status }) => status));
  expect(await Promise.all(fixtures.map(({ session }) => list(session)))).toEqual([401, 401, 401, 401]);
  for (const { name, stream } of fixtures) {
    await eventually(`the stream is closed after ${name}`, () => !stream.isOpen());
    expect(await stream.closed).toMatchObject({ code: 1000 });
  }
});

// guarantees: revocation-after-503
test('no round of the worker steps over a revocation or a change of group that no majority has, however late it is', async () => {
  let time = Date.now();
  const sessions = storesOf(fixture.collections).sessions;
  const nothing = () => undefined;
  const callbacks = { onRebuild: nothing, onFound: nothing };
  const reconcile = createReconcile({ sessions, denyList, lifetimeMs, now: () => new Date(time), ...callbacks });
  await reconcile();
  const [revoked, moved] = [newSessionDocument(), newSessionDocument()];
  await fixture.collections.sessions.insertMany([revoked, moved]);

  const round = await whileLagging(async () => {
    const [at, requestId] = [new Date(time), 'unconfirmed'];
    const store = storesOf(unconfirmed).sessions;
    await store.revokeAll([revoked._id], { reason: 'logout', at, requestId });
    const change = { home_group_id: 'another', account_type: 'HOME', at, requestId } as const;
    await primary.withSession((session) => store.changeClaims(moved.user_id, change, session));
    // This is further than a round reads back, and a round that reads everything is due.
    time += 120_000;
    return reconcile().then(
      () => 'done',
      () => 'failed',
    );
  });
  await eventually('a majority has it', () => sessions.areRevoked([revoked._id]));
  time += 1_000;
  await reconcile();
  const denials = await denyList.peek([revoked._id, moved._id]);
  expect({ round, denials }).toEqual({
    round: 'failed',
    denials: [
      { kind: 'revoked', reason: 'LOGOUT_CONFIRMED' },
      { kind: 'below', ver: 2 },
    ],
  });
});

// guarantees: revoked-tokens-refused
test('while the deny list is away, the api refuses what the primary has as revoked, whatever the majority shows', async () => {
  await redis.del(redisKeys(fixture.keyPrefix).denyListComplete);
  const [ended, moved, good] = await Promise.all([newSession(api), newSession(api), newSession(api)]);
  const statuses = await whileLagging(async () => {
    const [at, requestId] = [new Date(), 'unconfirmed'];
    const store = storesOf(unconfirmed).sessions;
    await store.revokeAll([ended.session_id], { reason: 'logout', at, requestId });
    const change = { home_group_id: 'another', account_type: 'HOME', at, requestId } as const;
    await primary.withSession((session) => store.changeClaims(moved.user_id, change, session));
    return Promise.all([list(ended), list(moved), list(good)]);
  });
  expect(statuses).toEqual([401, 401, 200]);
});

test('the canary counts its event as delivered when a majority has that, because its removal sees no more', async () => {
  const event = newEvent();
  await commitEvent(fixture.mongo, fixture.mongo.db(fixture.database), event);
  const wait = (waitMs: number) =>
    awaitDelivery(fixture.collections, event.requestid, { waitMs, stop: new AbortController().signal });
  const whileItLags = await whileLagging(async () => {
    await unconfirmed.outbox.updateOne({ _id: event.id }, { $set: { state: 'delivered' } });
    return wait(100);
  });
  expect(whileItLags).toBe(false);
  expect(await wait(60_000)).toBe(true);
});
