import { waitUntil } from '@auth-account/local-stack';
import { createDenyList, type Denial, type DenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { redisKeys } from '@auth-account/redis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { newSession } from '../../support/api/accounts.ts';
import { openTokenFixture, type TokenApi, type TokenFixture } from '../../support/api/token-api.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway/gateway-fixture.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { checkEnded, findEnded } from './invariants/check-ended-sessions.ts';
import { createWorld, type World } from './load/app.ts';
import { endAppConnections } from './load/app-request.ts';
import { type AppStream, openAppStream } from './load/app-stream.ts';
import type { SessionRecord } from './load/ledger.ts';

let fixture: TokenFixture;
let api: TokenApi;
let gateway: TestGateway;
let redis: Redis;
let denyList: DenyList;

beforeAll(async () => {
  fixture = await openTokenFixture();
  api = await fixture.start();
  gateway = await startTestGateway(fixture);
  redis = new Redis(fixture.env.REDIS_URL ?? '');
  denyList = createDenyList(redis, redisKeys(fixture.keyPrefix), denialLifetimeMs(600));
  // No worker repairs the list, so an entry that the tests don't write into it is lost.
  await (await denyList.beginRebuild()).complete();
});
afterAll(async () => {
  endAppConnections();
  await gateway.close();
  await fixture.close();
  redis.disconnect();
});

let world: World;
/** A session with a stream, whose app believes it to be live. */
let session: SessionRecord;
let stream: AppStream;

beforeEach(async () => {
  world = await createWorld({ apis: [api.base], gateways: [gateway.base] });
  const { session_id: sessionId, user_id: userId, device_id: deviceId, ...tokens } = await newSession(api);
  const { access_token: accessToken, refresh_token: refreshToken, push_stream_path: streamPath } = tokens;
  const request = { url: gateway.base + streamPath, accessToken, requestId: 'ended-sessions' };
  const open = () => openAppStream({ ...request, timeoutMs: 15_000 });
  // As apps do, if a stream is lost before any frame (ADR 0004).
  const opened = (await open()) ?? (await open());
  if (typeof opened !== 'object') throw new Error(`no stream: ${opened}`);
  stream = opened;
  const ids = { sessionId, userId, deviceId };
  session = { ...ids, accessToken, refreshToken, streamPath, state: 'live', streams: new Set([stream]) };
  world.ledger.sessions.set(sessionId, session);
});

async function found(): Promise<string[]> {
  await checkEnded(world, await findEnded(world, fixture.collections));
  stream.terminate();
  await world.history.close();
  return world.history.violations.map(({ what }) => what).sort();
}

const at = new Date();

const revoke = () =>
  storesOf(fixture.collections).sessions.revokeAll([session.sessionId], { reason: 'logout', at, requestId: 'r' });

/** Moves the session's user to another group. */
const move = () =>
  fixture.mongo.withSession((transaction) => {
    const change = { home_group_id: 'another', account_type: 'HOME', at, requestId: 'r' } as const;
    return storesOf(fixture.collections).sessions.changeClaims(session.userId, change, transaction);
  });

async function denyAndClose(denial: Denial): Promise<void> {
  await denyList.denyAndClose([{ sessionId: session.sessionId, denial, requestId: 'r', decidedAt: at.getTime() }]);
  await waitUntil(async () => !stream.isOpen(), { what: 'The end of the stream', timeoutMs: 60_000, intervalMs: 10 });
}

test('checkEnded finds nothing about a live session', async () => {
  expect(await findEnded(world, fixture.collections)).toEqual([]);
  expect(await found()).toEqual([]);
});

const over: Denial = { kind: 'revoked', reason: 'LOGOUT_CONFIRMED' };
const former: Denial = { kind: 'below', ver: 2 };

describe.each<[string, string, SessionRecord['state'], () => Promise<unknown>, Denial]>([
  ['that MongoDB says is over, whose app had no answer', 'session', 'unsure', revoke, over],
  ['that MongoDB says is over, whose app knows nothing', 'session', 'live', revoke, over],
  ['whose app was notified that it is over', 'session', 'ended', revoke, over],
  ['whose user has changed the group', 'claims', 'live', move, former],
])('checkEnded about a session %s', (_, what, state, end, denial) => {
  beforeEach(async () => {
    session.state = state;
    await end();
  });

  test('checkEnded finds nothing if all services refuse its token', async () => {
    await denyAndClose(denial);
    expect(await found()).toEqual([]);
  });

  test('checkEnded finds each service that accepts its token', async () => {
    expect(await found()).toEqual([
      `a stream outlived its ${what}`,
      `a token outlived its ${what} at a gateway`,
      `a token outlived its ${what} at the api`,
    ]);
  });
});

test('checkEnded finds a session that goes on although its app knows of its end', async () => {
  session.state = 'ended';
  await denyAndClose(over);
  expect(await found()).toEqual(['a session that has ended was refreshed']);
});

test('checkEnded finds nothing about streams and tokens that are newer than the ended claims', async () => {
  await move();
  const ended = await findEnded(world, fixture.collections);
  await denyAndClose(former);
  session.streams.add({ isOpen: () => true });
  session.accessToken = 'a newer one';
  await checkEnded(world, ended);
  await world.history.close();
  expect(world.history.violations).toEqual([]);
});
