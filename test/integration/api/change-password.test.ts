import { randomUUID } from 'node:crypto';
import type { UserDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { RequestAbandoned } from '../../../services/api/src/request/assert-client-connected.ts';
import {
  type ChangePasswordDeps,
  createChangePassword,
} from '../../../services/api/src/usecases/credentials/change-password.ts';
import { createEndSessions } from '../../../services/api/src/usecases/sessions/end-sessions.ts';
import {
  createReauthenticate,
  type ReauthenticateDeps,
} from '../../../services/api/src/usecases/step-up/reauthenticate.ts';
import {
  bearerOf,
  openUseCaseFixture,
  recordedAttempt,
  type StoredSession,
  type UseCaseFixture,
} from '../../support/api/use-case-fixture.ts';
import { storesOf } from '../../support/stores/stores-of.ts';

let fixture: UseCaseFixture;
/** Calls to the limits, in order. */
let limitCalls: unknown[];
beforeAll(async () => {
  fixture = await openUseCaseFixture();
});
beforeEach(async () => {
  limitCalls = [];
  await fixture.clear();
});
afterAll(() => fixture.close());

const hashOf = (password: string) => `hash of: ${password}`;
const current_password = 'correct horse battery';
const new_password = 'three wrong staples';

/** Hashing is not under test here, so a hash is the password behind a prefix. */
const hasher: ReauthenticateDeps['hasher'] = {
  admit: (_client, use) =>
    use({ hash: async (text) => hashOf(text), verify: async (stored, text) => stored === hashOf(text) }),
};
const limits: ReauthenticateDeps['limits'] & ChangePasswordDeps['limits'] = {
  async guess(login) {
    limitCalls.push(login);
    return recordedAttempt(limitCalls);
  },
  async changePassword(userId) {
    limitCalls.push(userId);
  },
};

type Given = Partial<ChangePasswordDeps>;

function change(session: StoredSession, given: Given = {}, body: object = {}, origin = fixture.origin) {
  const { users, sessions, commit, audit, now, collections } = fixture;
  const { challenges } = storesOf(collections);
  const ids = { entityId: () => randomUUID() };
  const reauthenticate = createReauthenticate({
    users,
    hasher,
    limits,
    warnOfGuesses: async () => undefined,
    audit,
    rpId: undefined,
    stepUpTokens: { openToken: async () => undefined, isUsed: async () => false, use: async () => false },
  });
  const endSessions = createEndSessions({ sessions });
  const own = {
    users,
    sessions,
    challenges,
    reauthenticate,
    endSessions,
    hasher,
    limits,
    commit,
    ids,
    now,
  };
  const changePassword = createChangePassword({ ...own, ...given });
  return changePassword({ current_password, new_password, ...body }, bearerOf(session), origin);
}

/** Stores an account with two sessions. */
async function account(fields: Partial<UserDocument> = {}) {
  const user = await fixture.user({ password_hash: hashOf(current_password), ...fields });
  const phone = await fixture.session({ user_id: user._id });
  const tablet = await fixture.session({ user_id: user._id });
  return { user, phone, tablet };
}

const stored = (_id: string) => fixture.collections.users.findOne({ _id });
const events = () => fixture.collections.outbox.countDocuments();

describe('a change of the password', () => {
  test('a change of the password writes hash, time, ended sessions and event in one transaction, then announces them', async () => {
    const { user, phone, tablet } = await account();
    const answer = await change(phone);
    const at = fixture.now();
    expect(answer).toEqual({ message: 'PASSWORD_CHANGED', sessions_ended: 1, timestamp: at.toISOString() });
    const hash = hashOf(new_password);
    const known_devices = [phone.document.device_id];
    const changes = { password_hash: hash, password_changed_at: at, known_devices, touches: 1 };
    expect(await stored(user._id)).toEqual({ ...user, ...changes });
    expect(await fixture.asStored(phone.document._id)).toEqual(phone.document);
    expect(await fixture.asStored(tablet.document._id)).toMatchObject({
      is_revoked: true,
      revoked_at: at,
      revoked_reason: 'password_changed',
      revoked_request_id: fixture.origin.requestId,
    });
    const rows = await fixture.collections.outbox.find().sort({ topic: -1 }).toArray();
    expect(fixture.published).toEqual(rows.map(({ event }) => event));
    expect(rows.map(({ topic, event }) => [topic, event.data])).toEqual([
      ['service.auth.events.password_changed', { user_id: user._id, changed_at: at.toISOString(), reason: 'changed' }],
      ['service.auth.events.notice', { user_id: user._id, purpose: 'password_changed', locale: 'en' }],
    ]);
    const ids = { user_id: user._id, session_id: phone.document._id };
    expect(fixture.audited).toEqual([
      [{ event: 'account.password_changed', ...ids }, fixture.origin],
      [
        { event: 'session.revoked', ...ids, session_id: tablet.document._id, reason: 'password_changed' },
        fixture.origin,
      ],
    ]);
    const { requestId } = fixture.origin;
    expect(fixture.announced).toEqual([
      { sessionIds: [tablet.document._id], reason: 'SESSION_REVOKED', requestId, at },
    ]);
    expect(limitCalls).toEqual([user.email, 'succeeded', user]);
    expect(fixture.verdicts).toEqual([false, true]);
  });

  test('a change of the password invalidates every open code, and a pending change of the email address', async () => {
    const until = new Date(fixture.now().getTime() + 600_000);
    const { user, phone } = await account({
      pending_email: 'new@example.com',
      pending_email_until: until,
      locale: 'ru',
    });
    const { challenges } = fixture.collections;
    const shared = { kid: 'kid', tries_left: 5, resends_left: 3, resend_at: until, expires_at: until, purge_at: until };
    const open = { ...shared, purpose: 'email_change', created_at: fixture.now(), ended_at: null } as const;
    await challenges.insertMany([
      { ...open, _id: randomUUID(), user_id: user._id },
      { ...open, _id: randomUUID(), user_id: user._id, purpose: 'password_reset' },
      { ...open, _id: randomUUID(), user_id: 'somebody else' },
    ]);
    await change(phone);
    const ended = (user_id: string) => challenges.countDocuments({ user_id, ended_at: fixture.now() });
    expect([await ended(user._id), await ended('somebody else')]).toEqual([2, 0]);
    expect((await stored(user._id))?.pending_email_until).toEqual(fixture.now());
    expect(fixture.published).toMatchObject([{}, { data: { locale: 'ru' } }]);
    await challenges.deleteMany();
  });

  test('a change of the password with a wrong one counts a failure, and changes nothing', async () => {
    const { user, phone } = await account();
    await expect(change(phone, {}, { current_password: 'wrong' })).rejects.toMatchObject({
      code: 'ERR-REAUTHENTICATION-FAILED',
    });
    expect(limitCalls).toEqual([user.email, 'failed']);
    const ids = { user_id: user._id, session_id: phone.document._id };
    expect(fixture.audited).toEqual([[{ event: 'reauthentication.failed', ...ids }, fixture.origin]]);
    expect(await stored(user._id)).toEqual(user);
    expect(await events()).toBe(0);
  });

  test.each<[string, object]>([
    ['another change of the password', { password_changed_at: new Date('2026-11-22T10:00:00.000Z') }],
    ['a change of the email address', { email_key: 'other@example.com' }],
  ])('a change of the password is refused if %s has come in between', async (_, set) => {
    const { user, phone, tablet } = await account();
    const slow: ChangePasswordDeps['hasher'] = {
      async admit(client, use) {
        await fixture.collections.users.updateOne({ _id: user._id }, { $set: set });
        return hasher.admit(client, use);
      },
    };
    await expect(change(phone, { hasher: slow })).rejects.toMatchObject({ code: 'ERR-REAUTHENTICATION-FAILED' });
    expect(await stored(user._id)).toEqual({ ...user, ...set });
    expect(await fixture.asStored(tablet.document._id)).toEqual(tablet.document);
    expect([await events(), fixture.published]).toEqual([0, []]);
  });

  test('a change of the password is not hindered by a better hash of the same password', async () => {
    const { user, phone } = await account();
    const slow: ChangePasswordDeps['hasher'] = {
      async admit(client, use) {
        await fixture.users.setPasswordHash(user._id, hashOf(current_password), 'a better hash');
        return hasher.admit(client, use);
      },
    };
    expect(await change(phone, { hasher: slow })).toMatchObject({ message: 'PASSWORD_CHANGED' });
  });

  test('a change of the password is refused to a session that has ended in between', async () => {
    const { user, phone, tablet } = await account();
    const { requestId } = fixture.origin;
    const ending: ChangePasswordDeps['hasher'] = {
      async admit(client, use) {
        await fixture.sessions.revokeAll([phone.document._id], { reason: 'forced', at: fixture.now(), requestId });
        return hasher.admit(client, use);
      },
    };
    await expect(change(phone, { hasher: ending })).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
    expect(await stored(user._id)).toEqual(user);
    expect(await fixture.asStored(tablet.document._id)).toEqual(tablet.document);
    expect(await events()).toBe(0);
  });

  test('a change of the password is not carried out for a client that has disconnected', async () => {
    const { user, phone } = await account();
    const origin = { ...fixture.origin, isAbandoned: () => true };
    await expect(change(phone, {}, {}, origin)).rejects.toBeInstanceOf(RequestAbandoned);
    expect(await stored(user._id)).toEqual(user);
    expect(await events()).toBe(0);
  });

  test('a change of the password of a deleted account makes the app refresh', async () => {
    const session = await fixture.session({ user_id: 'nobody' });
    await expect(change(session)).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
    expect(limitCalls).toEqual([]);
  });
});

test('an end of all sessions of an account spares none', async () => {
  const { user, phone, tablet } = await account();
  const { revoke } = createEndSessions(fixture);
  const end = { userId: user._id, reason: 'account_deleted', at: fixture.now() } as const;
  const ended = await fixture.mongo.withSession((session) =>
    session.withTransaction(() => revoke(end, fixture.origin, session)),
  );
  expect(ended.sessionIds.toSorted()).toEqual([phone.document._id, tablet.document._id].toSorted());
});
