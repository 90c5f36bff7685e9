import { randomUUID } from 'node:crypto';
import { collectionsOf, createTransactionRunner, ensureIndexes } from '@auth-account/stores';
import type { SessionDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ClientSession, type Db, MongoClient } from 'mongodb';
import { newSessionDocument } from '../../support/api/session-document.ts';
import { serviceEnvironment } from '../../support/service-environment.ts';
import { type Plan, plansOf } from '../../support/stores/query-plans.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { uniqueName } from '../../support/test-environment.ts';

let mongo: MongoClient;
let db: Db;
const [group, other, maker, person] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
const now = new Date();
const inAnHour = new Date(now.getTime() + 3_600_000);

beforeAll(async () => {
  const name = uniqueName();
  mongo = new MongoClient(serviceEnvironment(name).MONGODB_URI ?? '', { monitorCommands: true });
  db = mongo.db(name);
  await ensureIndexes(db);
  const { invites, users, sessions } = collectionsOf(db);
  const invite = {
    account_type: 'HOME',
    created_by: maker,
    expires_at: inAnHour,
    max_uses: null,
    uses: 0,
  } as const;
  const invitesOf = (home_group_id: string, count: number, revoked_at: Date | null) =>
    Array.from({ length: count }, (_, i) => {
      const created_at = new Date(now.getTime() - i);
      return { ...invite, _id: randomUUID(), home_group_id, created_at, revoked_at };
    });
  await invites.insertMany([
    ...invitesOf(group, 2_000, now),
    ...invitesOf(group, 10, null),
    ...invitesOf(other, 500, null),
  ]);
  const sessionsOf = (user_id: string, count: number, ended: Partial<SessionDocument> = {}) =>
    Array.from({ length: count }, () => ({ ...newSessionDocument(), user_id, device_id: randomUUID(), ...ended }));
  const ended = { is_revoked: true, revoked_at: now } as const;
  await sessions.insertMany([
    ...sessionsOf(person, 1_000, ended),
    ...sessionsOf(person, 5),
    ...sessionsOf(other, 1_000, ended),
    ...sessionsOf(other, 1_000),
  ]);
  const user = { password_hash: 'none', account_type: 'OFFICE', role: 'member', created_at: now } as const;
  await users.insertMany(
    Array.from({ length: 200 }, (_, i) => {
      const [_id, home_group_id] = [randomUUID(), i % 2 ? group : other];
      return { ...user, _id, email: _id, email_key: _id, home_group_id, joined_at: now };
    }),
  );
});
afterAll(async () => {
  await db.dropDatabase();
  await mongo.close();
});

function expectBounded(plans: readonly Plan[], bounds: readonly number[]): void {
  expect(plans).toHaveLength(bounds.length);
  for (const [i, { stages, examined }] of plans.entries()) {
    for (const stage of ['COLLSCAN', 'SORT']) expect(stages).not.toContain(stage);
    expect(stages).toContain('IXSCAN');
    expect(examined).toBeLessThanOrEqual(bounds[i] ?? 0);
  }
}

const transaction: <T>(work: (session: ClientSession) => Promise<T>) => Promise<T> = (work) =>
  createTransactionRunner(mongo)(work, { isCommitted: async () => false });
const invites = () => storesOf(collectionsOf(db)).invites;

test('the count of valid invites reads no revoked one', async () => {
  const count = () => transaction((session) => invites().countGood(group, now, session));
  expect(await count()).toBe(10);
  expectBounded(await plansOf(mongo, db, count), [10]);
});

test('the list of invites reads the valid ones, and no more revoked ones than it returns', async () => {
  const plans = await plansOf(mongo, db, async () => {
    const { invites: listed, hasMore } = await invites().list(group, now, 100);
    expect([listed.length, hasMore]).toEqual([110, true]);
  });
  expectBounded(plans, [10, 100 + 1 + 10]);
});

test('the closing of a group reads none of its revoked invites', async () => {
  const plans = await plansOf(mongo, db, () =>
    transaction((session) => invites().revokeOfGroup(randomUUID(), now, session)),
  );
  expectBounded(plans, [0]);
});

test('the members of a group come from the index in their order', async () => {
  const plans = await plansOf(mongo, db, () => storesOf(collectionsOf(db)).users.listGroup(group));
  expectBounded(plans, [100]);
});

test('the invites that a user has made come from the index in their order', async () => {
  const plans = await plansOf(mongo, db, async () => {
    const { invites: made, hasMore } = await invites().listMadeBy(maker, 100);
    expect([made.length, hasMore]).toEqual([100, true]);
    expect(made.filter((invite) => '_id' in invite)).toEqual([]);
  });
  expectBounded(plans, [101]);
});

test('the sessions of a user come from two indexes, with no more ended ones than are wanted', async () => {
  const plans = await plansOf(mongo, db, async () => {
    const { sessions, hasMore } = await storesOf(collectionsOf(db)).sessions.listHeld(person, 100);
    expect([sessions.length, hasMore]).toEqual([105, true]);
  });
  expectBounded(plans, [5, 101]);
});
