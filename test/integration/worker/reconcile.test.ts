import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalRedis, startRedis } from '@auth-account/local-stack';
import { parseCommand } from '@auth-account/messaging/commands';
import { createDenyList, type DenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { failFastOptions } from '@auth-account/redis';
import type { SessionDocument } from '@auth-account/stores/documents';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { newSessionDocument } from '../../support/api/session-document.ts';
import { openParts } from '../../support/closing.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { commitEvent, longAgo, newEvent } from '../../support/worker/worker-events.ts';
import { eventually, openWorkerFixture, type WorkerFixture } from '../../support/worker/worker-fixture.ts';
import { startTestWorker } from '../../support/worker/worker-service.ts';

const { closing, closeAll } = openParts();
afterEach(closeAll);

const lifetimeMs = denialLifetimeMs(600);

interface Revoking {
  readonly reason?: SessionDocument['revoked_reason'];
  readonly at?: Date;
  readonly alsoClose?: string;
}

/** Stores a session that is revoked in MongoDB and unknown to Redis. */
async function revokeUnheard(fixture: WorkerFixture, { reason = 'logout', at = new Date(), alsoClose }: Revoking = {}) {
  const session = newSessionDocument();
  await fixture.collections.sessions.insertOne(session);
  const revocation = { reason, at, requestId: `logout-${session._id}`, ...(alsoClose ? { alsoClose } : {}) };
  await storesOf(fixture.collections).sessions.revokeAll([session._id], revocation);
  return session._id;
}

/** Records from now on the commands that a gateway receives. */
async function listen(fixture: WorkerFixture): Promise<object[]> {
  const heard: object[] = [];
  const redis = new Redis(fixture.env.REDIS_URL ?? '', { maxRetriesPerRequest: null, retryStrategy: () => 50 });
  redis.on('error', () => undefined);
  redis.on('message', (_channel, message: string) => heard.push(parseCommand(message) ?? {}));
  await redis.subscribe(fixture.keys.commands);
  closing({ close: async () => redis.disconnect() });
  return heard;
}

/** Stores a session whose user changed the group twice in MongoDB. Redis does not know of it. */
async function moveUnheard(fixture: WorkerFixture, at = new Date()) {
  const session = newSessionDocument();
  await fixture.collections.sessions.insertOne(session);
  const store = storesOf(fixture.collections).sessions;
  for (const requestId of ['accept', 'leave']) {
    const change = { home_group_id: randomUUID(), account_type: 'HOME', at, requestId } as const;
    await fixture.mongo.withSession((transaction) => store.changeClaims(session.user_id, change, transaction));
  }
  return session._id;
}

function denyListOf(fixture: WorkerFixture) {
  return createDenyList(fixture.redis, fixture.keys, lifetimeMs);
}

/** Returns how many of the sessions are revoked in the list, which may be incomplete. */
async function countRevoked(denyList: DenyList, sessionIds: readonly string[]): Promise<number> {
  return (await denyList.peek(sessionIds)).filter((denial) => denial?.kind === 'revoked').length;
}

describe('the reconciliation of the deny list with MongoDB', () => {
  // guarantees: revocation-repaired
  test('a revocation that Redis never heard of is denied, and its streams are closed', async () => {
    const fixture = closing(await openWorkerFixture());
    const heard = await listen(fixture);
    const worker = closing(await startTestWorker(fixture.env));
    await eventually('the list is complete', () => denyListOf(fixture).isComplete());
    const at = new Date();
    const other = randomUUID();
    const loggedOut = await revokeUnheard(fixture, { at, alsoClose: other });
    const replaced = await revokeUnheard(fixture, { at, reason: 'replaced' });
    const limited = await revokeUnheard(fixture, { at, reason: 'session_limit' });

    await eventually('all commands are published', () => heard.length >= 4);
    const close = { type: 'close', decided_at: at.getTime() };
    expect(heard).toHaveLength(4);
    expect(heard).toEqual(
      expect.arrayContaining([
        { ...close, session_id: loggedOut, reason: 'LOGOUT_CONFIRMED', request_id: `logout-${loggedOut}` },
        { ...close, session_id: other, reason: 'LOGOUT_CONFIRMED', request_id: `logout-${loggedOut}` },
        { ...close, session_id: replaced, reason: 'SESSION_REPLACED', request_id: `logout-${replaced}` },
        { ...close, session_id: limited, reason: 'SESSION_REVOKED', request_id: `logout-${limited}` },
      ]),
    );
    expect(await denyListOf(fixture).find([loggedOut, replaced, limited, other])).toEqual([
      { kind: 'revoked', reason: 'LOGOUT_CONFIRMED' },
      { kind: 'revoked', reason: 'SESSION_REPLACED' },
      { kind: 'revoked', reason: 'SESSION_REVOKED' },
      undefined,
    ]);
    expect(await worker.metric('auth_revocations_reconciled_total')).toBeLessThanOrEqual(3);
  });

  test('a revocation that Redis knows of is not published again', async () => {
    const fixture = closing(await openWorkerFixture());
    const known = await revokeUnheard(fixture);
    const denial = { kind: 'revoked', reason: 'LOGOUT_CONFIRMED' } as const;
    const entry = { sessionId: known, denial, requestId: '', decidedAt: 0 };
    await denyListOf(fixture).denyAndClose([entry]);
    const heard = await listen(fixture);
    closing(await startTestWorker(fixture.env));
    const unknown = await revokeUnheard(fixture);
    await eventually('the other close is published', () => heard.length > 0);
    expect(heard).toMatchObject([{ session_id: unknown }]);
  });

  test('a change of group that Redis never heard of is denied by version, and its stream is closed', async () => {
    const fixture = closing(await openWorkerFixture());
    const heard = await listen(fixture);
    const worker = closing(await startTestWorker(fixture.env));
    await eventually('the list is complete', () => denyListOf(fixture).isComplete());
    const at = new Date();
    const moved = await moveUnheard(fixture, at);
    await eventually('the change is published', () =>
      heard.some((command) => 'below' in command && command.below === 3),
    );
    const close = { type: 'close', session_id: moved, reason: 'GROUP_CHANGED', decided_at: at.getTime() };
    expect(heard).toContainEqual({ ...close, below: 3, request_id: 'leave' });
    expect(await denyListOf(fixture).find([moved])).toEqual([{ kind: 'below', ver: 3 }]);
    const before = heard.length;
    const found = await worker.metric('auth_revocations_reconciled_total');
    // Further rounds read the change again and find nothing to do.
    const later = await moveUnheard(fixture);
    await eventually('the next change is published', () =>
      heard.some((command) => 'session_id' in command && command.session_id === later),
    );
    expect(heard.slice(before).filter((command) => 'session_id' in command && command.session_id === moved)).toEqual(
      [],
    );
    expect(await worker.metric('auth_revocations_reconciled_total')).toBeGreaterThan(found);
  });

  test('an entry of less than MongoDB knows is raised, and one of a revoked session stays', async () => {
    const fixture = closing(await openWorkerFixture());
    const [moved, revoked, ended] = [
      await moveUnheard(fixture),
      await moveUnheard(fixture),
      await revokeUnheard(fixture),
    ];
    const entry = { requestId: '', decidedAt: 0 };
    const denial = { kind: 'revoked', reason: 'SESSION_REVOKED' } as const;
    await denyListOf(fixture).denyAndClose([
      { ...entry, sessionId: moved, denial: { kind: 'below', ver: 2 } },
      { ...entry, sessionId: revoked, denial },
      { ...entry, sessionId: ended, denial: { kind: 'below', ver: 3 } },
    ]);
    closing(await startTestWorker(fixture.env));
    await eventually('the list is complete', () => denyListOf(fixture).isComplete());
    expect(await denyListOf(fixture).find([moved, revoked, ended])).toEqual([
      { kind: 'below', ver: 3 },
      denial,
      { kind: 'revoked', reason: 'LOGOUT_CONFIRMED' },
    ]);
  });

  test('the list is complete although the outbox cannot be written, and leases end as soon as it can', async () => {
    const fixture = closing(await openWorkerFixture());
    const event = newEvent();
    await commitEvent(fixture.mongo, fixture.db, event, longAgo());
    const later = new Date(Date.now() + 600_000);
    await fixture.collections.outbox.updateOne({ _id: event.id }, { $set: { attempts: 7, locked_until: later } });
    // The outbox can be read, but no row without this field can be written.
    await fixture.db.command({ collMod: 'outbox', validator: { unwritable: { $exists: true } } });
    closing(await startTestWorker(fixture.env));
    await eventually('the list is complete', () => denyListOf(fixture).isComplete());
    expect((await fixture.row(event)).locked_until).toEqual(later);

    await fixture.db.command({ collMod: 'outbox', validator: {} });
    await eventually('the row is delivered', () => fixture.isDelivered(event));
  });

  test('the list is rebuilt from all that still matters when a worker starts, and when its sentinel key is gone', async () => {
    const fixture = closing(await openWorkerFixture());
    // Longer than a test may take.
    const leftMs = 300_000;
    const old = await revokeUnheard(fixture, { at: new Date(Date.now() - lifetimeMs + leftMs) });
    const over = await revokeUnheard(fixture, { at: new Date(Date.now() - lifetimeMs - 60_000) });
    const moved = await moveUnheard(fixture, new Date(Date.now() - lifetimeMs + leftMs));
    const movedLongAgo = await moveUnheard(fixture, new Date(Date.now() - lifetimeMs - 60_000));
    // More sessions than a page holds, all with the same time.
    const at = new Date(Date.now() - 120_000);
    const many = Array.from({ length: 1_201 }, newSessionDocument);
    await fixture.collections.sessions.insertMany(many);
    const ids = many.map(({ _id }) => _id);
    await storesOf(fixture.collections).sessions.revokeAll(ids, { reason: 'logout', at, requestId: 'many' });
    closing(await startTestWorker(fixture.env));
    const denyList = denyListOf(fixture);
    await eventually('the list is complete', () => denyList.isComplete());
    expect(await countRevoked(denyList, [...ids, old])).toBe(1_202);
    expect(await countRevoked(denyList, [over])).toBe(0);

    expect(await denyList.find([moved, movedLongAgo])).toEqual([{ kind: 'below', ver: 3 }, undefined]);

    await fixture.redis.del(fixture.keys.denyListComplete, fixture.keys.denied(old));
    await eventually('it is complete again', () => denyList.isComplete());
    expect(await countRevoked(denyList, [old])).toBe(1);
  });
});

describe('the reconciliation with a Redis that fails', () => {
  let dir: string;
  let redis: LocalRedis;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'auth-account-worker-'));
    redis = await startRedis({ dir, log: () => undefined });
  });

  afterAll(async () => {
    await redis.kill();
    await rm(dir, { recursive: true, force: true });
  });

  test('a rebuild during which Redis was replaced does not mark the list as complete', async () => {
    const fixture = closing(await openWorkerFixture([], redis.url));
    const denyList = denyListOf(fixture);
    const emptied = await denyList.beginRebuild();
    await fixture.redis.flushall();
    expect(await emptied.complete()).toBe(false);
    expect(await denyList.isComplete()).toBe(false);

    const restarted = await denyList.beginRebuild();
    await redis.stop();
    await redis.start();
    await eventually('the connection is back', async () => (await fixture.redis.ping()) === 'PONG');
    expect(await restarted.complete()).toBe(false);
    expect(await denyList.isComplete()).toBe(false);

    const whole = await denyList.beginRebuild();
    expect(await whole.complete()).toBe(true);
    expect(await denyList.isComplete()).toBe(true);
  });

  test('a list that was complete on another server is not complete on this one', async () => {
    const fixture = closing(await openWorkerFixture([], redis.url));
    const rebuild = await denyListOf(fixture).beginRebuild();
    await rebuild.complete();
    const sentinel = (await fixture.redis.get(fixture.keys.denyListComplete)) ?? '';
    const shared = new Redis(process.env.TEST_REDIS_URL ?? '', { ...failFastOptions(), enableOfflineQueue: true });
    closing({ close: async () => shared.disconnect() });
    await shared.set(fixture.keys.denyListComplete, sentinel);
    const replica = createDenyList(shared, fixture.keys, lifetimeMs);
    expect(await replica.isComplete()).toBe(false);
    await expect(replica.find([randomUUID()])).rejects.toThrow('not complete');
    await shared.del(fixture.keys.denyListComplete);
  });

  test('readiness warns of a Redis that may lose what it is given', async () => {
    const fixture = closing(await openWorkerFixture([], redis.url));
    const worker = closing(await startTestWorker(fixture.env));
    await eventually('Redis is there', async () => (await worker.readiness()).redis?.ok === true);
    expect(await worker.readiness()).toEqual({ mongodb: { ok: true }, redis: { ok: true }, generation: { ok: true } });
    await fixture.redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await fixture.redis.config('SET', 'appendonly', 'no');
    const reason = 'warning: maxmemory-policy is allkeys-lru, should be noeviction; append-only file is 0, should be 1';
    expect((await worker.readiness()).redis).toEqual({ ok: true, reason });
    await fixture.redis.config('SET', 'appendonly', 'yes');
    await fixture.redis.config('SET', 'maxmemory-policy', 'noeviction');
  });
});
