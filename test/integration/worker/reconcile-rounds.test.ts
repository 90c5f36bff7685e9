import { randomUUID } from 'node:crypto';
import { createDenyList, type DenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createReconcile } from '../../../services/worker/src/deny-list/reconcile.ts';
import { newSessionDocument } from '../../support/api/session-document.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { openWorkerFixture, type WorkerFixture } from '../../support/worker/worker-fixture.ts';

const lifetimeMs = denialLifetimeMs(600);
const minute = 60_000;

let fixture: WorkerFixture;
let denyList: DenyList;
/** The worker's time, which only a test moves. */
let time: number;
/** Sessions whose streams were closed because of another session's logout. */
let alsoClosed: string[];
/** Number of sessions that each round has found. */
let found: number[];

beforeEach(async () => {
  fixture = await openWorkerFixture();
  denyList = createDenyList(fixture.redis, fixture.keys, lifetimeMs);
  time = Date.now();
  [alsoClosed, found] = [[], []];
});
afterEach(() => fixture.close());

/** Starts a worker's rounds, and completes the first. */
async function startRounds(write: DenyList['denyAndClose'] = denyList.denyAndClose): Promise<() => Promise<void>> {
  const reconcile = createReconcile({
    sessions: storesOf(fixture.collections).sessions,
    denyList: {
      ...denyList,
      async denyAndClose(entries) {
        await write(entries);
        alsoClosed.push(...entries.flatMap(({ alsoClose }) => alsoClose ?? []));
      },
    },
    lifetimeMs,
    now: () => new Date(time),
    onRebuild: () => undefined,
    onFound: (sessions) => void found.push(sessions),
  });
  await reconcile();
  return reconcile;
}

/** Revokes a session in MongoDB. The request read the time `agoMs` milliseconds ago. */
async function revoke(agoMs: number, alsoClose?: string): Promise<string> {
  const session = newSessionDocument();
  await fixture.collections.sessions.insertOne(session);
  const revocation = { reason: 'logout', at: new Date(time - agoMs), requestId: 'logout' } as const;
  await storesOf(fixture.collections).sessions.revokeAll([session._id], {
    ...revocation,
    ...(alsoClose === undefined ? {} : { alsoClose }),
  });
  return session._id;
}

/** Changes the group of a session's user in MongoDB. The request read the time `agoMs` milliseconds ago. */
async function move(agoMs: number): Promise<string> {
  const session = newSessionDocument();
  await fixture.collections.sessions.insertOne(session);
  const at = new Date(time - agoMs);
  const change = { home_group_id: randomUUID(), account_type: 'HOME', at, requestId: 'accept' } as const;
  const store = storesOf(fixture.collections).sessions;
  await fixture.mongo.withSession((transaction) => store.changeClaims(session.user_id, change, transaction));
  return session._id;
}

const revoked = { kind: 'revoked', reason: 'LOGOUT_CONFIRMED' };
const below = { kind: 'below', ver: 2 };

describe('changes whose write came late', () => {
  test('a change that took all of the driver’s time-outs is found by the next round', async () => {
    const round = await startRounds();
    time += 1_000;
    const sessions = [await revoke(45_000), await move(45_000)];
    await round();
    expect(await denyList.peek(sessions)).toEqual([revoked, below]);
  });

  // guarantees: revocation-after-503
  test('a change whose machine stood still for minutes is found within a minute', async () => {
    const round = await startRounds();
    time += 1_000;
    const sessions = [await revoke(5 * minute), await move(5 * minute)];
    await round();
    time += minute;
    await round();
    expect(await denyList.peek(sessions)).toEqual([revoked, below]);
  });

  test('a late change is found however far the worker’s clock had been ahead meanwhile', async () => {
    const round = await startRounds();
    time += 5 * minute;
    await round();
    time -= 5 * minute;
    const session = await revoke(0);
    await round();
    expect(await denyList.peek([session])).toEqual([revoked]);
  });
});

test('a round does not find again what the list no longer has to hold', async () => {
  const round = await startRounds();
  await revoke(lifetimeMs - 30_000);
  time += minute;
  await round();
  expect(found).toEqual([]);
});

describe('the other stream of a logout', () => {
  test('the other session of a logout has its stream closed once, however often Redis forgets the logout', async () => {
    const round = await startRounds();
    const other = randomUUID();
    const session = await revoke(0, other);
    await round();
    for (let times = 0; times < 3; times += 1) {
      await fixture.redis.del(fixture.keys.denyListComplete, fixture.keys.denied(session));
      time += 1_000;
      await round();
      expect(await denyList.peek([session])).toEqual([revoked]);
    }
    expect(alsoClosed).toEqual([other]);
  });

  test('the other session of a logout keeps its stream if Redis had heard of the logout before it forgot it', async () => {
    const round = await startRounds();
    const session = await revoke(0, randomUUID());
    const denial = { kind: 'revoked', reason: 'LOGOUT_CONFIRMED' } as const;
    await denyList.denyAndClose([{ sessionId: session, denial, requestId: '', decidedAt: 0 }]);
    await round();
    await fixture.redis.del(fixture.keys.denyListComplete, fixture.keys.denied(session));
    time += 1_000;
    await round();
    expect(await denyList.peek([session])).toEqual([revoked]);
    expect(alsoClosed).toEqual([]);
  });

  test('the other session of a logout that came late, after rounds that could not see it, has its stream closed', async () => {
    const round = await startRounds();
    const other = randomUUID();
    await revoke(5 * minute, other);
    time += minute;
    await round();
    expect(alsoClosed).toEqual([other]);
  });

  test('a worker that starts when Redis has let the logout go leaves the other session’s stream open', async () => {
    const session = await revoke(lifetimeMs + 30_000, randomUUID());
    await startRounds();
    expect(await denyList.peek([session])).toEqual([revoked]);
    expect(alsoClosed).toEqual([]);
  });

  test('the other session’s stream is closed once if the list could not be written at the first attempt', async () => {
    let failures = 1;
    const round = await startRounds(async (entries) => {
      failures -= 1;
      if (failures >= 0) throw new Error('Redis is away');
      await denyList.denyAndClose(entries);
    });
    const other = randomUUID();
    const session = await revoke(0, other);
    await expect(round()).rejects.toThrow('Redis is away');
    await round();
    expect(await denyList.peek([session])).toEqual([revoked]);
    expect(alsoClosed).toEqual([other]);
  });
});
