import { randomUUID } from 'node:crypto';
import { type DeletionStore, erasureTime } from '@auth-account/stores/deletions';
import type { UserDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ClientSession } from 'mongodb';
import { type AccountFixture, openAccountFixture } from '../../support/api/account-fixture.ts';

let fixture: AccountFixture;
let store: DeletionStore;
beforeAll(async () => {
  fixture = await openAccountFixture();
  store = fixture.deps.deletions;
});
beforeEach(async () => {
  await fixture.clear();
  const { groups, erasedSessions, idempotency } = fixture.collections;
  await Promise.all([groups.deleteMany(), erasedSessions.deleteMany(), idempotency.deleteMany()]);
});
afterAll(() => fixture.close());

const after = (ms: number) => new Date(fixture.now().getTime() + ms);
const day = 86_400_000;

const inTransaction = <T>(work: (session: ClientSession) => Promise<T>) =>
  fixture.mongo.withSession((session) => session.withTransaction(() => work(session)));
/** Runs the work in a transaction and rolls it back. */
const inVain = <T>(work: (session: ClientSession) => Promise<T>) =>
  fixture.mongo.withSession(async (session) => {
    session.startTransaction();
    const result = await work(session);
    await session.abortTransaction();
    return result;
  });

/** Changes of an account after which a request may no longer rely on what it has read. */
const changes: [string, Partial<UserDocument>][] = [
  ['password', { password_changed_at: new Date('2026-11-20T10:00:00.000Z') }],
  ['address', { email_key: 'other@example.com' }],
];

test('the time of an erasure is the given number of days after its order', () => {
  expect(erasureTime(fixture.now(), 14)).toEqual(after(14 * day));
});

describe('an order of a deletion', () => {
  test('an order of a deletion sets the time once, and nobody else’s', async () => {
    const [user, other] = [await fixture.user(), await fixture.user()];
    const order = (at: Date) => inTransaction((session) => store.schedule(user, at, session));
    expect(await order(after(3 * day))).toEqual({ deletesAt: after(3 * day), isNew: true, isVerified: false });
    expect(await fixture.storedUser(user._id)).toEqual({ ...user, deletes_at: after(3 * day), touches: 1 });
    expect(await order(after(9 * day))).toEqual({ deletesAt: after(3 * day), isNew: false, isVerified: false });
    expect(await fixture.storedUser(user._id)).toEqual({ ...user, deletes_at: after(3 * day), touches: 2 });
    expect(await fixture.storedUser(other._id)).toEqual(other);
  });

  test.each(changes)('an order of a deletion does nothing if the %s was changed since', async (_, fields) => {
    const user = await fixture.user();
    const changed = { ...user, ...fields };
    await fixture.collections.users.replaceOne({ _id: user._id }, changed);
    expect(await inTransaction((session) => store.schedule(user, after(day), session))).toBeUndefined();
    expect(await fixture.storedUser(user._id)).toEqual(changed);
  });

  test('an order of a deletion is undone with its transaction', async () => {
    const user = await fixture.user();
    expect(await inVain((session) => store.schedule(user, after(day), session))).toMatchObject({ isNew: true });
    expect(await fixture.storedUser(user._id)).toEqual(user);
  });
});

describe('a cancellation', () => {
  const cancel = (user: UserDocument, which?: Parameters<DeletionStore['cancel']>[3]) =>
    inTransaction((session) => store.cancel(user, fixture.now(), session, which));

  test('a cancellation removes the account’s time, and nobody else’s', async () => {
    const { deletes_at, ...user } = await fixture.user({ deletes_at: after(1) });
    const other = await fixture.user({ deletes_at: after(1) });
    expect(await cancel(user)).toBe(true);
    expect(await fixture.storedUser(user._id)).toEqual({ ...user, touches: 1 });
    expect(await fixture.storedUser(other._id)).toEqual(other);
  });

  test.each<[string, () => Partial<UserDocument>]>([
    ['nobody has ordered it', () => ({})],
    ['its time has come', () => ({ deletes_at: fixture.now() })],
    ['the account is disabled', () => ({ deletes_at: after(1), disabled_at: new Date(0) })],
  ])('a cancellation does nothing if %s', async (_, fields) => {
    const user = await fixture.user(fields());
    expect(await cancel(user)).toBe(false);
    expect(await fixture.storedUser(user._id)).toEqual(user);
  });

  test.each(changes)('a cancellation does nothing if the %s was changed since', async (_, fields) => {
    const user = await fixture.user({ deletes_at: after(1), ...fields });
    const { password_changed_at, ...seen } = { ...user, email_key: user.email };
    expect(await cancel(seen)).toBe(false);
    expect(await fixture.storedUser(user._id)).toEqual(user);
  });

  test('a cancellation by an operator applies to a disabled account too', async () => {
    const user = await fixture.user({ deletes_at: after(1), disabled_at: new Date(0) });
    expect(await cancel(user, { isOperator: true })).toBe(true);
    expect(await fixture.storedUser(user._id)).not.toHaveProperty('deletes_at');
  });

  test('a cancellation is undone with its transaction', async () => {
    const user = await fixture.user({ deletes_at: after(1) });
    expect(await inVain((session) => store.cancel(user, fixture.now(), session))).toBe(true);
    expect(await fixture.storedUser(user._id)).toEqual(user);
  });
});

describe('a worker', () => {
  const claim = (lease: string, now = fixture.now()) =>
    store.claim({ lease, now, dueBy: fixture.now(), until: new Date(now.getTime() + 60_000) });

  test('a worker takes the account that has been due for longest, for as long as its lease lasts', async () => {
    const [later, first] = [
      await fixture.user({ deletes_at: after(0) }),
      await fixture.user({ deletes_at: after(-1) }),
    ];
    await fixture.user({ deletes_at: after(1) });
    await fixture.user();
    const leased = (user: UserDocument, lease: string, until: Date) => ({
      user: { ...user, erasure: { lease, until } },
      lease,
    });
    expect(await claim('one')).toEqual(leased(first, 'one', after(60_000)));
    expect(await claim('two')).toEqual(leased(later, 'two', after(60_000)));
    expect(await claim('three', after(59_999))).toBeUndefined();
    expect(await claim('four', after(60_000))).toEqual(leased(first, 'four', after(120_000)));
  });

  test('a worker counts the accounts that are due, up to a limit', async () => {
    for (const deletes_at of [after(-1), after(0), after(1)]) await fixture.user({ deletes_at });
    await fixture.user();
    expect([await store.countDue(fixture.now(), 10), await store.countDue(fixture.now(), 1)]).toEqual([2, 1]);
  });
});

describe('the sessions of an account', () => {
  const ended = (user_id: string, revoked_at: Date) =>
    fixture.session({
      user_id,
      is_revoked: true,
      revoked_at,
      revoked_reason: 'logout',
      revoked_request_id: 'request-2',
    });

  test('ended sessions of an account are removed except for as many as are to be kept', async () => {
    const [user_id, other] = [randomUUID(), randomUUID()];
    for (let i = 0; i < 4; i += 1) await ended(user_id, after(-1));
    await fixture.session({ user_id });
    await ended(other, after(-1));
    await store.removeEndedSessions(user_id, 1);
    const { sessions } = fixture.collections;
    const counts = [{ user_id, is_revoked: true }, { user_id, is_revoked: false }, { user_id: other }];
    expect(await Promise.all(counts.map((filter) => sessions.countDocuments(filter)))).toEqual([1, 1, 1]);
  });

  test('sessions of an account are listed with no more than their ends: the live ones, and those that have ended since', async () => {
    const user_id = randomUUID();
    const live = await fixture.session({ user_id });
    const [since, before] = [await ended(user_id, after(-5)), await ended(user_id, after(-6))];
    await fixture.session();
    await ended(randomUUID(), after(-5));
    const end = { revoked_at: after(-5), revoked_reason: 'logout', revoked_request_id: 'request-2' };
    expect(await store.listEndedSince(user_id, after(-5))).toEqual([
      { _id: live.document._id },
      { _id: since.document._id, ...end },
    ]);
    expect(await store.listEndedSince(user_id, after(-6))).toContainEqual(
      expect.objectContaining({ _id: before.document._id }),
    );
  });
});

describe('an erasure', () => {
  const lifetimeMs = 600_000;
  const erase = (user: UserDocument, session: ClientSession, lease = 'mine') =>
    store.erase({ user, lease }, { now: fixture.now(), lifetimeMs }, session);

  /** Stores an account that is due and leased, with documents in every collection. */
  async function dueAccount(fields: Partial<UserDocument> = {}) {
    const erasure = { lease: 'mine', until: after(60_000) };
    const user = await fixture.user({ deletes_at: fixture.now(), erasure, ...fields });
    const { _id: user_id, home_group_id: _id, account_type } = user;
    const group = { _id, account_type, owner_id: user_id, import_key: _id, member_count: 1, created_at: after(-1) };
    if (fields.home_group_id === undefined) await fixture.collections.groups.insertOne({ ...group, closed_at: null });
    const live = await fixture.session({ user_id });
    const end = { is_revoked: true, revoked_reason: 'logout', revoked_request_id: 'request-2' } as const;
    const ended = await fixture.session({ user_id, ...end, revoked_at: after(-lifetimeMs) });
    await fixture.session({ user_id, ...end, revoked_at: after(-lifetimeMs - 1) });
    await fixture.challenge(user, 'password_reset');
    const answer = { fingerprint: '', answer: {}, expires_at: after(1) };
    await fixture.collections.idempotency.insertOne({ _id: randomUUID(), user_id, ...answer });
    // The account is in a group that continues without it.
    const shared = { home_group_id: randomUUID(), account_type, created_by: user_id } as const;
    const open = { created_at: after(-1), expires_at: after(1), max_uses: null, uses: 0, revoked_at: null };
    const invite = randomUUID();
    await fixture.collections.invites.insertOne({ _id: invite, ...shared, ...open });
    return { user, live: live.document, ended: ended.document, invite };
  }

  /** Returns every document of all collections. */
  const everything = () => {
    const { users, groups, sessions, erasedSessions, challenges, idempotency, invites } = fixture.collections;
    const found = [
      ...[users.find(), groups.find(), sessions.find(), erasedSessions.find()],
      ...[challenges.find(), idempotency.find(), invites.find()],
    ];
    return Promise.all(found.map((documents) => documents.sort({ _id: 1 }).toArray()));
  };

  test('an erasure removes all that is stored of the person, and nothing of anybody else', async () => {
    await dueAccount();
    const others = await everything();
    const { user, live, ended, invite } = await dueAccount();
    expect(await inTransaction((session) => erase(user, session))).toEqual({ user, isClosed: true, heir: undefined });

    const { erasedSessions, groups, invites } = fixture.collections;
    const purge_at = after(lifetimeMs);
    const revoked_at = after(-lifetimeMs);
    expect(await erasedSessions.find({}, { sort: { revoked_at: 1 } }).toArray()).toEqual([
      { _id: ended._id, revoked_at, revoked_reason: 'logout', revoked_request_id: 'request-2', purge_at },
      { _id: live._id, revoked_at: fixture.now(), revoked_reason: 'account_deleted', purge_at },
    ]);
    const group = await groups.findOneAndDelete({ _id: user.home_group_id });
    expect(group).toMatchObject({ closed_at: fixture.now(), member_count: 0 });
    expect(group).not.toHaveProperty('import_key');
    expect(await invites.findOneAndDelete({ _id: invite })).toMatchObject({ created_by: null, revoked_at: null });
    await erasedSessions.deleteMany();
    expect(await everything()).toEqual(others);
  });

  test('an erasure leaves the group to its longest-standing member, as an import will find it again', async () => {
    const { user } = await dueAccount();
    const { home_group_id } = user;
    await fixture.collections.groups.updateOne({ _id: home_group_id }, { $set: { member_count: 2 } });
    const heir = await fixture.user({ home_group_id, role: 'member' });
    const left = { user, isClosed: false, heir: heir._id };
    expect(await inTransaction((session) => erase(user, session))).toEqual(left);
    const group = await fixture.collections.groups.findOne({ _id: home_group_id });
    expect(group).toMatchObject({ owner_id: heir._id, import_key: home_group_id, closed_at: null });
  });

  test('an erasure keeps each session’s end once, as its transaction sees it', async () => {
    const { user, live, ended } = await dueAccount();
    await inTransaction(async (session) => {
      await fixture.sessions.revokeAll(
        [live._id],
        { reason: 'forced', at: fixture.now(), requestId: 'request-3' },
        session,
      );
      await erase(user, session);
    });
    const kept = await fixture.collections.erasedSessions.find().toArray();
    expect(kept.map(({ _id, revoked_reason }) => [_id, revoked_reason]).toSorted()).toEqual(
      [
        [ended._id, 'logout'],
        [live._id, 'forced'],
      ].toSorted(),
    );
  });

  test('an erasure keeps no session’s end of an account that has none', async () => {
    const { user } = await dueAccount();
    await fixture.collections.sessions.deleteMany();
    expect(await inTransaction((session) => erase(user, session))).toMatchObject({ isClosed: true });
    expect(await fixture.collections.erasedSessions.countDocuments()).toBe(0);
  });

  test('an erasure is undone with its transaction', async () => {
    const { user } = await dueAccount();
    const before = await everything();
    expect(await inVain((session) => erase(user, session))).toMatchObject({ isClosed: true });
    expect(await everything()).toEqual(before);
  });

  test.each<[string, () => Partial<UserDocument>]>([
    ['whose time has not come', () => ({ deletes_at: after(1) })],
    ['that another worker has taken', () => ({ erasure: { lease: 'another', until: after(60_000) } })],
  ])('an erasure removes nothing of an account %s', async (_, fields) => {
    const { user } = await dueAccount(fields());
    const before = await everything();
    expect(await inTransaction((session) => erase(user, session))).toBeUndefined();
    expect(await everything()).toEqual(before);
  });

  test('an erasure removes nothing of an account that was restored', async () => {
    const { user } = await dueAccount();
    await fixture.collections.users.updateOne({ _id: user._id }, { $unset: { deletes_at: true } });
    const before = await everything();
    expect(await inTransaction((session) => erase(user, session))).toBeUndefined();
    expect(await everything()).toEqual(before);
  });
});
