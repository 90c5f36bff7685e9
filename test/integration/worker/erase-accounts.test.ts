import { randomUUID } from 'node:crypto';
import type { DenyEntry } from '@auth-account/messaging/deny-list';
import type { DeletionStore, ErasedAccount } from '@auth-account/stores/deletions';
import type { UserDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createEraseAccounts, type EraseAccountsDeps } from '../../../services/worker/src/erasure/erase-accounts.ts';
import { type AccountFixture, openAccountFixture } from '../../support/api/account-fixture.ts';
import { insertSessionsBeside } from '../../support/api/session-document.ts';

let fixture: AccountFixture;
/** Steps that are visible outside MongoDB, in order. */
let steps: unknown[];
beforeAll(async () => {
  fixture = await openAccountFixture();
});
beforeEach(async () => {
  steps = [];
  await fixture.clear();
  await fixture.collections.groups.deleteMany();
});
afterAll(() => fixture.close());

const lifetimeMs = 600_000;
const ago = (ms: number) => new Date(fixture.now().getTime() - ms);

const erase = (given: Partial<EraseAccountsDeps> = {}) =>
  createEraseAccounts({
    ...fixture.deps,
    lifetimeMs,
    delayMs: 0,
    denyList: { denyAndClose: async (entries) => void steps.push(entries) },
    forgetKnown: async (emailKeys) => void steps.push(['forgotten', emailKeys]),
    onErased: (erased: ErasedAccount, requestId: string) => steps.push(['erased', erased, requestId]),
    onFailed: (userId: string) => steps.push(['failed', userId]),
    onNotForgotten: (userId: string, error: unknown) => steps.push(['not forgotten', userId, error]),
    newEventId: randomUUID,
    newLease: randomUUID,
    ...given,
  })();

/** Stores an account that is due, alone in its group unless the fields name another one. */
async function dueAccount(fields: Partial<UserDocument> = {}): Promise<UserDocument> {
  const user = await fixture.user({ deletes_at: fixture.now(), ...fields });
  const { home_group_id: _id, account_type, _id: owner_id } = user;
  if (fields.home_group_id !== undefined) return user;
  const group = { _id, account_type, owner_id, name: 'Kitchen', import_key: _id, member_count: 1, created_at: ago(1) };
  await fixture.collections.groups.insertOne({ ...group, closed_at: null });
  return user;
}

const groupOf = ({ home_group_id: _id }: UserDocument) => fixture.collections.groups.findOne({ _id });

describe('a round of erasures', () => {
  test('an erasure removes what is stored of the person, with the event, and closes an empty group', async () => {
    const former = { change_id: randomUUID(), email: 'Old@example.com', email_key: 'old@example.com', until: ago(0) };
    const user = await dueAccount({ former_emails: [former, { ...former, change_id: randomUUID() }] });
    const { _id: user_id, home_group_id } = user;
    const live = await fixture.session({ user_id });
    const ended = await fixture.session({
      ...{ user_id, is_revoked: true, revoked_at: ago(1), revoked_reason: 'logout', revoked_request_id: 'request-2' },
    });
    const forgotten = { user_id, is_revoked: true, revoked_at: ago(lifetimeMs + 1), revoked_reason: 'logout' } as const;
    await fixture.session(forgotten);
    await fixture.challenge(user, 'password_reset');
    const record = { _id: randomUUID(), fingerprint: '', user_id, answer: {}, expires_at: ago(0) };
    await fixture.collections.idempotency.insertOne(record);
    await erase();

    const { users, sessions, challenges, idempotency } = fixture.collections;
    const left = [users.countDocuments(), sessions.countDocuments(), challenges.countDocuments()];
    expect(await Promise.all([...left, idempotency.countDocuments()])).toEqual([0, 0, 0, 0]);
    const purge_at = new Date(fixture.now().getTime() + lifetimeMs);
    const kept = (session: typeof live, end: object) => ({ _id: session.document._id, ...end, purge_at });
    expect(await fixture.collections.erasedSessions.find().sort({ revoked_at: 1 }).toArray()).toEqual([
      kept(ended, { revoked_at: ago(1), revoked_reason: 'logout', revoked_request_id: 'request-2' }),
      kept(live, { revoked_at: fixture.now(), revoked_reason: 'account_deleted' }),
    ]);
    const group = await groupOf(user);
    expect(group).toMatchObject({ closed_at: fixture.now(), member_count: 0 });
    expect([group?.name, group?.import_key]).toEqual([undefined, undefined]);
    const rows = await fixture.rows();
    const at = fixture.now().toISOString();
    const data = { user_id, home_group_id, deleted_at: at };
    expect(rows.map(({ topic, event }) => [topic, event.data, event.time])).toEqual([
      ['service.auth.events.deleted', data, at],
    ]);
    const denied = (session: typeof live, reason: string, requestId: unknown, decidedAt: Date): DenyEntry => ({
      ...{ sessionId: session.document._id, denial: { kind: 'revoked', reason } as DenyEntry['denial'] },
      ...{ requestId: requestId as string, decidedAt: decidedAt.getTime() },
    });
    expect(steps).toEqual([
      [
        denied(live, 'SESSION_REVOKED', expect.anything(), fixture.now()),
        denied(ended, 'LOGOUT_CONFIRMED', 'request-2', ago(1)),
      ],
      ['forgotten', [user.email_key, 'old@example.com']],
      [
        'erased',
        { user: expect.objectContaining({ _id: user_id }), isClosed: true, heir: undefined },
        rows[0]?.event.requestid,
      ],
      ['forgotten', [user.email_key, 'old@example.com']],
    ]);
    expect(fixture.verdicts).toEqual([false, true]);
  });

  test('a round of erasures erases one account after the other, the longest due first, and no other', async () => {
    const [later, first] = [await dueAccount({ deletes_at: ago(1) }), await dueAccount({ deletes_at: ago(2) })];
    const waiting = await dueAccount({ deletes_at: ago(-1) });
    const staying = await fixture.user();
    await erase();
    const left = await fixture.collections.users.find().toArray();
    expect(left).toEqual([waiting, staying]);
    const erased = steps.flatMap((step) => (Array.isArray(step) && step[0] === 'erased' ? [step[1].user._id] : []));
    expect(erased).toEqual([first._id, later._id]);
  });

  test('a round of erasures waits for the configured delay, so that requests that are under way can end', async () => {
    const delayMs = 60_000;
    const [early, ripe] = [
      await dueAccount({ deletes_at: ago(delayMs - 1) }),
      await dueAccount({ deletes_at: ago(delayMs) }),
    ];
    await erase({ delayMs });
    expect([await fixture.storedUser(early._id), await fixture.storedUser(ripe._id)]).toEqual([early, null]);
  });

  test('an erasure is reported although Redis is away afterwards, and is no failure', async () => {
    const user = await dueAccount();
    const away = new Error('Redis is away');
    const forgetKnown = async () => {
      if ((await fixture.storedUser(user._id)) === null) throw away;
    };
    await erase({ forgetKnown });
    expect(steps).toEqual([
      ['erased', expect.objectContaining({ isClosed: true }), expect.anything()],
      ['not forgotten', user._id, away],
    ]);
  });

  test('an erasure leaves the group, with its name and invites, to its longest-standing member', async () => {
    const user = await dueAccount();
    const { home_group_id } = user;
    await fixture.collections.groups.updateOne({ _id: home_group_id }, { $set: { member_count: 3 } });
    await fixture.user({ home_group_id, role: 'member', joined_at: ago(1) });
    const heir = await fixture.user({ home_group_id, role: 'member', joined_at: ago(2) });
    const invite = { _id: randomUUID(), home_group_id, account_type: 'HOME', created_by: user._id } as const;
    const open = { created_at: ago(1), expires_at: ago(-1), max_uses: null, uses: 0, revoked_at: null };
    await fixture.collections.invites.insertOne({ ...invite, ...open });
    await erase();
    expect(await groupOf(user)).toMatchObject({ owner_id: heir._id, name: 'Kitchen', closed_at: null });
    expect(await fixture.collections.invites.findOne({ _id: invite._id })).toMatchObject({ created_by: null });
    expect(steps).toStrictEqual([
      ['forgotten', [user.email_key]],
      ['erased', expect.objectContaining({ isClosed: false, heir: heir._id }), expect.anything()],
      ['forgotten', [user.email_key]],
    ]);
  });

  test('an erasure denies very many sessions page by page', async () => {
    const { _id: user_id } = await dueAccount();
    const { document } = await fixture.session({ user_id });
    await insertSessionsBeside(fixture.collections, document._id, 500);
    await erase();
    const pages = steps.flatMap((step) => (Array.isArray(step) && 'sessionId' in Object(step[0]) ? [step.length] : []));
    expect(pages).toEqual([500, 1]);
  });

  test('an erasure that fails names its user, and leaves the account whole for a minute', async () => {
    const user = await dueAccount();
    const denyList = { denyAndClose: () => Promise.reject(new Error('Redis is away')) };
    await fixture.session({ user_id: user._id });
    await expect(erase({ denyList })).rejects.toThrow('Redis is away');
    expect(steps).toEqual([['failed', user._id]]);
    steps = [];
    await erase();
    expect(steps).toEqual([]);
    const until = new Date(fixture.now().getTime() + 60_000);
    expect(await fixture.storedUser(user._id)).toEqual({ ...user, erasure: { lease: expect.any(String), until } });
    await erase({ now: () => until });
    expect(await fixture.storedUser(user._id)).toBeNull();
  });

  test.each<[string, object]>([
    ['restored', { $unset: { deletes_at: true } }],
    ['taken by another worker', { $set: { 'erasure.lease': 'other' } }],
    ['put off', { $set: { deletes_at: new Date('2100-01-01') } }],
  ])('a round of erasures removes nothing of an account that was %s meanwhile', async (_, update) => {
    const user = await dueAccount();
    await fixture.session({ user_id: user._id });
    const forgetKnown = async () => void (await fixture.collections.users.updateOne({ _id: user._id }, update));
    await erase({ forgetKnown });
    expect(await fixture.storedUser(user._id)).toMatchObject({ _id: user._id });
    expect(await fixture.collections.sessions.countDocuments({ user_id: user._id })).toBe(1);
    expect(await groupOf(user)).toMatchObject({ member_count: 1, closed_at: null });
    expect(await fixture.rows()).toEqual([]);
    expect(steps).toHaveLength(1);
  });

  test('an erasure removes most of the ended sessions before its transaction, and never the live ones', async () => {
    const { _id: user_id } = await dueAccount();
    const kept: Parameters<DeletionStore['removeEndedSessions']>[] = [];
    const deletions: EraseAccountsDeps['deletions'] = {
      ...fixture.deps.deletions,
      removeEndedSessions: async (...given) => void kept.push(given),
    };
    await erase({ deletions });
    expect(kept).toEqual([[user_id, 5_000]]);
  });
});
