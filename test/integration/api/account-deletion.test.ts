import type { UserDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { RequestAbandoned } from '../../../services/api/src/request/assert-client-connected.ts';
import { createOrderDeletion } from '../../../services/api/src/usecases/account/order-deletion.ts';
import {
  createConfirmDeletion,
  createScheduleDeletion,
} from '../../../services/api/src/usecases/account/schedule-deletion.ts';
import { type AccountDeps, type AccountFixture, openAccountFixture } from '../../support/api/account-fixture.ts';
import { bearerOf, type StoredSession } from '../../support/api/use-case-fixture.ts';

let fixture: AccountFixture;
beforeAll(async () => {
  fixture = await openAccountFixture();
});
beforeEach(() => fixture.clear());
afterAll(() => fixture.close());

const body = { current_password: 'correct horse battery' };
const graceDays = 14;
const after = (days: number) => new Date(fixture.now().getTime() + days * 86_400_000);

const orderWith = (given: Partial<AccountDeps>) => createOrderDeletion({ ...fixture.deps, graceDays, ...given });

const schedule = (session: StoredSession, given: Partial<AccountDeps> = {}, origin = fixture.origin) => {
  const deps = { ...fixture.deps, ...given, orderDeletion: orderWith(given) };
  return createScheduleDeletion(deps)(body, bearerOf(session), origin);
};
const confirm = (asked: { challenge_id: string; code: string }, given: Partial<AccountDeps> = {}) => {
  const deps = { ...fixture.deps, ...given, orderDeletion: orderWith(given) };
  return createConfirmDeletion(deps)(asked, fixture.origin);
};

/** Stores an account with a session. */
async function account(fields: Partial<UserDocument> = {}) {
  const user = await fixture.user(fields);
  return { user, phone: await fixture.session({ user_id: user._id }) };
}

/** Expects that the account and its session are unchanged, and nothing was announced. */
async function expectUnchanged(user: UserDocument, phone: StoredSession): Promise<void> {
  expect(await fixture.storedUser(user._id)).toEqual(user);
  expect(await fixture.asStored(phone.document._id)).toMatchObject({ is_revoked: false });
  expect([await fixture.rows(), fixture.published, fixture.announced]).toEqual([[], [], []]);
}

/** Runs something between the check of the password and the order. */
const meanwhile = (work: () => Promise<unknown>): Partial<AccountDeps> => ({
  async reauthenticate(...given) {
    const user = await fixture.deps.reauthenticate(...given);
    await work();
    return user;
  },
});

describe('an order to delete the account', () => {
  test('an order to delete the account writes time, ended sessions and events in one transaction, then announces them', async () => {
    const { user, phone } = await account({ locale: 'ru' });
    const answer = await schedule(phone);
    const [at, deletes_at] = [fixture.now(), after(graceDays).toISOString()];
    expect(answer).toEqual({ message: 'DELETION_SCHEDULED', deletes_at, timestamp: at.toISOString() });
    expect(await fixture.storedUser(user._id)).toEqual({ ...user, deletes_at: after(graceDays), touches: 1 });
    const reason = 'account_deleted';
    const ended = { is_revoked: true, revoked_at: at, revoked_reason: reason };
    expect(await fixture.asStored(phone.document._id)).toMatchObject(ended);
    const rows = await fixture.rows();
    expect(fixture.published).toEqual(rows.map(({ event }) => event));
    const { requestId } = fixture.origin;
    const notification = { user_id: user._id, purpose: 'deletion_scheduled', locale: 'ru', deletes_at };
    expect(rows.map(({ event: { type, data, time, requestid } }) => [type, data, time, requestid])).toEqual(
      [
        ['deletion_scheduled', { user_id: user._id, scheduled_at: at.toISOString(), deletes_at }],
        ['notice', notification],
      ].map(([type, data]) => [`service.auth.events.${type}`, data, at.toISOString(), requestId]),
    );
    const ids = { user_id: user._id, session_id: phone.document._id };
    expect(fixture.audited).toEqual([
      [{ event: 'account.deletion_scheduled', ...ids }, fixture.origin],
      [{ event: 'session.revoked', ...ids, reason }, fixture.origin],
    ]);
    expect(fixture.announced).toEqual([{ sessionIds: [phone.document._id], reason: 'SESSION_REVOKED', requestId, at }]);
    expect(fixture.limitCalls).toEqual([user.email, 'succeeded', ['deletion', user.email]]);
    expect(fixture.verdicts).toEqual([false, true]);
  });

  test('a second order to delete the account does not postpone the first, and notifies nobody again', async () => {
    const { user, phone } = await account({ deletes_at: after(3) });
    expect(await schedule(phone)).toMatchObject({ deletes_at: after(3).toISOString() });
    expect(await fixture.storedUser(user._id)).toEqual({ ...user, touches: 1 });
    expect(await fixture.asStored(phone.document._id)).toMatchObject({ is_revoked: false });
    expect([await fixture.rows(), fixture.published, fixture.announced, fixture.audited]).toEqual([[], [], [], []]);
    // The request does not count as an order of the day either.
    expect(fixture.limitCalls).toEqual([user.email, 'succeeded']);
  });

  test('an order to delete the account is refused with a wrong password', async () => {
    const { user, phone } = await account({ password_hash: 'hash of: another' });
    await expect(schedule(phone)).rejects.toMatchObject({ code: 'ERR-REAUTHENTICATION-FAILED' });
    await expectUnchanged(user, phone);
  });

  test.each<[string, object]>([
    ['the password', { password_changed_at: new Date('2026-11-20T10:00:00.000Z') }],
    ['the address', { email_key: 'other@example.com' }],
  ])(
    'an order to delete the account is refused if %s has been changed since the check of the password',
    async (_, set) => {
      const { user, phone } = await account();
      const change = meanwhile(() => fixture.collections.users.updateOne({ _id: user._id }, { $set: set }));
      await expect(schedule(phone, change)).rejects.toMatchObject({ code: 'ERR-REAUTHENTICATION-FAILED' });
      await expectUnchanged({ ...user, ...set }, phone);
    },
  );

  test('an order to delete the account is refused to a session that has ended since the check of the password', async () => {
    const { user, phone } = await account();
    const tablet = await fixture.session({ user_id: user._id });
    const end = { reason: 'forced', at: fixture.now(), requestId: 'request-2' } as const;
    const ending = meanwhile(() => fixture.sessions.revokeAll([phone.document._id], end));
    await expect(schedule(phone, ending)).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
    await expectUnchanged(user, tablet);
  });

  test('an order to delete the account is not carried out for a client that has disconnected', async () => {
    const { user, phone } = await account();
    const left = schedule(phone, {}, { ...fixture.origin, isAbandoned: () => true });
    await expect(left).rejects.toBeInstanceOf(RequestAbandoned);
    await expectUnchanged(user, phone);
  });
});

describe('a deletion order with a code', () => {
  test('a deletion order with a code needs no session, and uses up the code', async () => {
    const { user, phone } = await account();
    const asked = await fixture.challenge(user, 'account_deletion');
    expect(await confirm(asked)).toMatchObject({ deletes_at: after(graceDays).toISOString() });
    expect(await fixture.storedChallenge(asked.challenge_id)).toMatchObject({ ended_at: fixture.now() });
    expect(await fixture.asStored(phone.document._id)).toMatchObject({ is_revoked: true });
    expect(fixture.audited[0]).toEqual([
      { event: 'account.deletion_scheduled', user_id: user._id, session_id: undefined },
      fixture.origin,
    ]);
    expect([fixture.limitCalls, fixture.verdicts]).toEqual([
      ['try', ['deletion', user.email]],
      [false, true],
    ]);
  });

  test('a deletion order with a code invalidates the password and all codes of an unverified email address, without a hash', async () => {
    const pending = { pending_email: 'new@example.com', pending_email_until: new Date(0) };
    const hash = '$argon2id$v=19$m=8,t=1,p=1$c2FsdA$ZGlnZXN0';
    const { user } = await account({ known_devices: ['phone'], password_hash: hash, deletes_at: after(3), ...pending });
    const other = await fixture.challenge(user, 'password_reset');
    const hasher: AccountDeps['hasher'] = { ...fixture.deps.hasher, admit: () => Promise.reject(new Error('full')) };
    await confirm(await fixture.challenge(user, 'account_deletion'), { hasher });
    const at = fixture.now();
    const revoked = {
      password_hash: expect.stringMatching(/^\$argon2id\$v=19\$m=8,t=1,p=1\$c2FsdA\$[A-Za-z0-9+/]{43}$/),
    };
    const fields = {
      password_changed_at: at,
      known_devices: [],
      pending_email_until: at,
      is_password_void: true,
      touches: 2,
    };
    expect(await fixture.storedUser(user._id)).toEqual({ ...user, ...revoked, ...fields });
    expect(await fixture.storedChallenge(other.challenge_id)).toMatchObject({ ended_at: at });
    const rows = await fixture.rows();
    const ordered = { event: 'account.deletion_scheduled', user_id: user._id, session_id: undefined };
    expect(fixture.audited).toEqual([[ordered, fixture.origin]]);
    const data = { user_id: user._id, changed_at: at.toISOString(), reason: 'deletion' };
    expect(rows.map(({ event }) => [event.type, event.data])).toEqual([['service.auth.events.password_changed', data]]);
    expect(fixture.published).toEqual(rows.map(({ event }) => event));
  });

  test('a deletion order with a code leaves the password of a verified email address', async () => {
    const { user } = await account();
    // Even if it was verified only after the code was compared.
    const checkCode: AccountDeps['checkCode'] = async (...given) => {
      const code = await fixture.deps.checkCode(...given);
      await fixture.collections.users.updateOne({ _id: user._id }, { $set: { email_verified_at: new Date(0) } });
      return code;
    };
    await confirm(await fixture.challenge(user, 'account_deletion'), { checkCode });
    const ordered = { email_verified_at: new Date(0), deletes_at: after(graceDays), touches: 1 };
    expect(await fixture.storedUser(user._id)).toEqual({ ...user, ...ordered });
  });

  test('a repeated deletion order with a code is recognised as committed by its code', async () => {
    const { user } = await account({ deletes_at: after(3) });
    await confirm(await fixture.challenge(user, 'account_deletion'));
    expect(fixture.verdicts).toEqual([false, true]);
  });

  test('a deletion order with a code is refused if the account has changed since the check, or the code has another purpose', async () => {
    const { user, phone } = await account();
    const invalid = { code: 'ERR-CODE-INVALID', details: { tries_left: 0 } };
    const asked = await fixture.challenge(user, 'account_deletion');
    const set = { email_key: 'other@example.com' };
    const slow: AccountDeps['checkCode'] = async (...given) => {
      const code = await fixture.deps.checkCode(...given);
      await fixture.collections.users.updateOne({ _id: user._id }, { $set: set });
      return code;
    };
    await expect(confirm(asked, { checkCode: slow })).rejects.toMatchObject(invalid);
    await expectUnchanged({ ...user, ...set }, phone);
    expect(await fixture.storedChallenge(asked.challenge_id)).toMatchObject({ ended_at: null });
    await expect(confirm(await fixture.challenge(user, 'password_reset'))).rejects.toMatchObject(invalid);
  });
});
