import { randomUUID } from 'node:crypto';
import { collectionsOf, createTransactionRunner, ensureIndexes } from '@auth-account/stores';
import type { UserDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Db, MongoClient } from 'mongodb';
import { newSessionDocument } from '../../support/api/session-document.ts';
import { serviceEnvironment } from '../../support/service-environment.ts';
import { plansOf } from '../../support/stores/query-plans.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { uniqueName } from '../../support/test-environment.ts';

let mongo: MongoClient;
let db: Db;
const now = new Date();
const minuteAgo = new Date(now.getTime() - 60_000);
const inAnHour = new Date(now.getTime() + 3_600_000);
const [person, group] = [randomUUID(), randomUUID()];
const others = Array.from({ length: 500 }, () => randomUUID());

beforeAll(async () => {
  const name = uniqueName();
  mongo = new MongoClient(serviceEnvironment(name).MONGODB_URI ?? '', { monitorCommands: true });
  db = mongo.db(name);
  await ensureIndexes(db);
  const { users, groups, sessions, challenges, idempotency, invites } = collectionsOf(db);
  const shared = {
    password_hash: 'none',
    account_type: 'HOME',
    role: 'owner',
    created_at: now,
    joined_at: now,
  } as const;
  const userOf = (_id: string): UserDocument => ({ ...shared, _id, email: _id, email_key: _id, home_group_id: group });
  const waiting = others.slice(0, 100);
  const changedUntil = (until: Date): Partial<UserDocument> => ({
    former_emails: [{ change_id: randomUUID(), email: 'a@example.com', email_key: 'a@example.com', until }],
    pending_email: 'b@example.com',
    pending_email_until: until,
  });
  await users.insertMany([
    { ...userOf(person), ...changedUntil(minuteAgo), deletes_at: minuteAgo },
    ...waiting.map((id) => ({ ...userOf(id), ...changedUntil(inAnHour), deletes_at: inAnHour })),
    ...others.slice(100).map(userOf),
  ]);
  const member_count = others.length + 1;
  const open = { account_type: 'HOME', owner_id: person, member_count, created_at: now, closed_at: null } as const;
  await groups.insertOne({ _id: group, ...open });
  const sessionOf = (user_id: string, index: number) => {
    const is_revoked = index % 2 === 0;
    const revoked = is_revoked ? { revoked_at: now } : {};
    return { ...newSessionDocument(), _id: randomUUID(), device_id: randomUUID(), user_id, is_revoked, ...revoked };
  };
  await sessions.insertMany([...Array(10).fill(person), ...others].map(sessionOf));
  const invite = { home_group_id: group, account_type: 'HOME', created_at: now, expires_at: inAnHour } as const;
  const used = { max_uses: null, uses: 0, revoked_at: null };
  await invites.insertMany(
    [person, person, ...others].map((created_by) => ({ _id: randomUUID(), created_by, ...invite, ...used })),
  );
  const record = { fingerprint: 'none', answer: {}, expires_at: inAnHour };
  await idempotency.insertMany([person, ...others].map((user_id) => ({ _id: randomUUID(), user_id, ...record })));
  const code = { purpose: 'password_reset', kid: 'k', tries_left: 5, resends_left: 3, ended_at: null } as const;
  const times = { resend_at: now, created_at: now, expires_at: inAnHour, purge_at: inAnHour };
  await challenges.insertMany(
    [person, ...others].map((user_id) => ({ _id: randomUUID(), user_id, ...code, ...times })),
  );
});
afterAll(async () => {
  await db.dropDatabase();
  await mongo.close();
});

const deletions = () => storesOf(collectionsOf(db)).deletions;

async function expectBounded(work: () => Promise<unknown>, bounds: readonly number[]): Promise<void> {
  const plans = await plansOf(mongo, db, work);
  expect(plans.map(({ stages }) => stages.has('COLLSCAN'))).toEqual(bounds.map(() => false));
  for (const [i, { examined }] of plans.entries()) expect(examined).toBeLessThanOrEqual(bounds[i] ?? 0);
}

test('the search for accounts that are due reads no account that waits or stays', async () => {
  const claim = { lease: 'lease', now: minuteAgo, dueBy: minuteAgo, until: minuteAgo };
  // The first claim leases the account, and the lease expires at once.
  await expectBounded(() => deletions().claim(claim), [1]);
  await expectBounded(() => deletions().countDue(now, 1_000), [1]);
});

test('the removal of lapsed email addresses reads no account whose addresses count, or that has none', async () => {
  const { emailChanges } = storesOf(collectionsOf(db));
  await expectBounded(() => emailChanges.listLapsed(minuteAgo, 100), [1]);
  await expectBounded(() => emailChanges.removeLapsedPending(minuteAgo), [1]);
});

test('an erasure reads what it removes, and nothing of anybody else', async () => {
  const due = await deletions().claim({ lease: 'mine', now, dueBy: now, until: now });
  if (due === undefined) throw new Error('nothing is due');
  // The transaction is rolled back, so that each plan is made while the database still has everything.
  const failed = async () => {
    throw new Error('not now');
  };
  const erase = () =>
    createTransactionRunner(mongo)(
      (session) => deletions().erase(due, { now, lifetimeMs: 60_000 }, session).then(failed),
      { isCommitted: async () => false },
    ).catch(() => undefined);
  const [sessions, live, challenges, records, invites] = [5, 5, 1, 1, 2];
  const [user, members, heir, owner] = [1, 1, 1, 1];
  const kept = [sessions, live];
  await expectBounded(erase, [user, ...kept, sessions, live, challenges, records, invites, members, heir, owner]);
  await expectBounded(() => deletions().listEndedSince(person, minuteAgo), [live, sessions]);
});
