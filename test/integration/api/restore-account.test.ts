import { AppError } from '@auth-account/errors';
import type { UserDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  createRestoreAccount,
  type RestoreAccountDeps,
} from '../../../services/api/src/usecases/account/restore-account.ts';
import { type AuthenticateDeps, createAuthenticate } from '../../../services/api/src/usecases/proofs/check-password.ts';
import { type AccountFixture, openAccountFixture, passwordHashOf } from '../../support/api/account-fixture.ts';

let fixture: AccountFixture;
beforeAll(async () => {
  fixture = await openAccountFixture();
});
beforeEach(() => fixture.clear());
afterAll(() => fixture.close());

const password = 'correct horse battery';
const deviceId = '7d0f7a34-52f1-4a4e-9b0e-3a1c5d2e8f90';
const inAMinute = () => new Date(fixture.now().getTime() + 60_000);
const refused = { code: 'ERR-INVALID-CREDENTIALS' };

const authenticate = (given: Partial<AuthenticateDeps> = {}) => createAuthenticate({ ...fixture.deps, ...given });

describe('a check of email address and password', () => {
  const check = (fields: object, given: Partial<AuthenticateDeps> = {}) =>
    authenticate(given)({ email: '', password, ...fields }, fixture.origin);

  test('a check of email address and password returns the account, and counts for it', async () => {
    const user = await fixture.user();
    expect(await check({ email: user.email.toUpperCase() })).toEqual(user);
    expect(fixture.limitCalls).toEqual([user.email.toUpperCase(), 'succeeded']);
    expect([fixture.audited, await fixture.storedUser(user._id)]).toEqual([[], user]);
  });

  test('a wrong password and an unknown email address are refused alike, but for the audit log', async () => {
    const user = await fixture.user();
    const error = { ...refused, details: {} };
    await expect(check({ email: user.email, password: 'wrong' })).rejects.toMatchObject(error);
    await expect(check({ email: 'nobody@example.com' })).rejects.toMatchObject(error);
    expect(fixture.audited.map(([event]) => event)).toEqual([
      { event: 'login.failed', user_id: user._id, reason: 'wrong_password' },
      { event: 'login.failed', user_id: undefined, reason: 'unknown_account' },
    ]);
    expect(fixture.limitCalls.filter((one) => one === 'failed')).toHaveLength(2);
    expect(fixture.limitCalls).toHaveLength(4);
  });

  test('an account whose erasure is due is unknown to a check, and the limits learn nothing of it', async () => {
    const [due, waiting] = [
      await fixture.user({ deletes_at: fixture.now() }),
      await fixture.user({ deletes_at: inAMinute() }),
    ];
    await expect(check({ email: due.email })).rejects.toMatchObject({ ...refused, details: {} });
    expect(fixture.limitCalls).toEqual([due.email, 'failed']);
    const event = { event: 'login.failed', user_id: undefined, reason: 'unknown_account' };
    expect(fixture.audited.map(([one]) => one)).toEqual([event]);
    expect(await check({ email: waiting.email })).toEqual(waiting);
  });

  test('the password of an unknown email address is hashed too, and no answer to it is believed', async () => {
    const hashed: unknown[] = [];
    const hasher: AuthenticateDeps['hasher'] = {
      ...fixture.deps.hasher,
      admit: (_client, use) => use({ hash: async () => '', verify: async (...given) => hashed.push(given) > 0 }),
    };
    await expect(check({ email: 'nobody@example.com' }, { hasher })).rejects.toMatchObject(refused);
    expect(hashed).toEqual([[undefined, password]]);
  });

  test('a password whose hash is good is hashed once', async () => {
    const user = await fixture.user();
    let slots = 0;
    const hasher: AuthenticateDeps['hasher'] = {
      ...fixture.deps.hasher,
      admit(client, use) {
        slots += 1;
        return fixture.deps.hasher.admit(client, use);
      },
    };
    await check({ email: user.email }, { hasher });
    expect(slots).toBe(1);
  });

  const weak = `weak ${passwordHashOf(password)}`;

  test('a weak hash of the right password is replaced', async () => {
    const user = await fixture.user({ password_hash: weak });
    expect(await check({ email: user.email })).toEqual(user);
    expect(await fixture.storedUser(user._id)).toEqual({ ...user, password_hash: passwordHashOf(password) });
  });

  test.each<[string, Error, boolean]>([
    ['stays as it is under overload', new AppError('ERR-OVERLOADED'), true],
    ['raises any other error of the catalogue', new AppError('ERR-INTERNAL'), false],
    ['raises an unknown error', new Error('no memory'), false],
  ])('a weak hash whose replacement fails %s', async (_, error, isRight) => {
    const user = await fixture.user({ password_hash: weak });
    let slots = 0;
    const hasher: AuthenticateDeps['hasher'] = {
      ...fixture.deps.hasher,
      admit(client, use) {
        slots += 1;
        return slots === 1 ? fixture.deps.hasher.admit(client, use) : Promise.reject(error);
      },
    };
    const checked = check({ email: user.email }, { hasher });
    if (isRight) expect(await checked).toEqual(user);
    else await expect(checked).rejects.toBe(error);
    expect(await fixture.storedUser(user._id)).toEqual(user);
  });
});

describe('a restore', () => {
  const restore = (
    user: UserDocument,
    fields: object = {},
    between?: () => Promise<unknown>,
    given: Partial<RestoreAccountDeps> = {},
    origin = fixture.origin,
  ) => {
    const check: ReturnType<typeof authenticate> = async (...given) => {
      const seen = await authenticate()(...given);
      await between?.();
      return seen;
    };
    const restoreAccount = createRestoreAccount({ ...fixture.deps, ...given, authenticate: check });
    return restoreAccount({ email: user.email, password, device_id: deviceId, ...fields }, origin);
  };
  const restored = () => ({ message: 'ACCOUNT_RESTORED', timestamp: fixture.now().toISOString() });
  const verified = ({ _id: user_id }: UserDocument) => ({ event: 'login.verified', user_id });
  const expectNoNotification = async () =>
    expect([await fixture.rows(), fixture.published, fixture.messages]).toEqual([[], [], []]);
  const known = { known_devices: [deviceId] };

  test('a restore cancels the deletion with its events, and announces that afterwards', async () => {
    const { deletes_at, ...user } = await fixture.user({ deletes_at: inAMinute(), ...known });
    expect(await restore(user, { device_id: deviceId.toUpperCase() })).toEqual(restored());
    expect(await fixture.storedUser(user._id)).toEqual({ ...user, last_login_at: fixture.now(), touches: 2 });
    const rows = await fixture.rows();
    const at = fixture.now().toISOString();
    const { _id: user_id } = user;
    expect(rows.map(({ event: { type, data, time, requestid } }) => [type, data, time, requestid])).toEqual(
      [
        ['service.auth.events.deletion_cancelled', { user_id, cancelled_at: at }],
        ['service.auth.events.notice', { user_id, purpose: 'deletion_cancelled', locale: 'en' }],
      ].map((row) => [...row, at, fixture.origin.requestId]),
    );
    expect(fixture.published).toEqual(rows.map(({ event }) => event));
    expect(fixture.audited).toEqual([
      [verified(user), fixture.origin],
      [{ event: 'account.deletion_cancelled', user_id }, fixture.origin],
    ]);
    expect(fixture.limitCalls).toEqual([user.email, 'succeeded']);
    expect(fixture.verdicts).toEqual([false, true]);
  });

  test('a restore without a device id counts for no device', async () => {
    const user = await fixture.user({ deletes_at: inAMinute(), known_devices: ['unnamed'] });
    await restore(user, { device_id: undefined });
    expect(fixture.limitCalls[0]).toEqual(user.email);
    expect(await fixture.rows()).toHaveLength(2);
  });

  test('a restore of an account that is not being deleted is audited, and changes nothing else', async () => {
    const user = await fixture.user(known);
    expect(await restore(user)).toEqual(restored());
    expect(await fixture.storedUser(user._id)).toEqual({ ...user, last_login_at: fixture.now(), touches: 1 });
    expect(fixture.audited).toEqual([[verified(user), fixture.origin]]);
    await expectNoNotification();
  });

  test('a restore on an unknown device is notified by email alone: there is no session to end', async () => {
    const user = await fixture.user({ known_devices: ['tablet'], locale: 'ru' });
    await fixture.session({ user_id: user._id });
    expect(await restore(user)).toEqual(restored());
    const learned = { known_devices: ['tablet', deviceId], new_device_notices: [fixture.now()] };
    expect(await fixture.storedUser(user._id)).toMatchObject(learned);
    const rows = await fixture.rows();
    const data = { user_id: user._id, purpose: 'new_device', locale: 'ru' };
    expect(rows.map(({ event }) => event.data)).toEqual([data]);
    expect([fixture.published, fixture.messages]).toEqual([rows.map(({ event }) => event), []]);
    expect([await fixture.collections.sessions.countDocuments(), fixture.verdicts]).toEqual([1, [false, true]]);
  });

  test.each([
    ['although none was ordered before', undefined],
    ['in place of the one that was seen', inAMinute],
  ])('a restore cancels a deletion that is ordered meanwhile, %s', async (_, seenAt) => {
    const user = await fixture.user({ ...known, ...(seenAt && { deletes_at: seenAt() }) });
    const order = () => change(user._id, { deletes_at: new Date(fixture.now().getTime() + 120_000) });
    expect(await restore(user, {}, order)).toEqual(restored());
    expect(await fixture.storedUser(user._id)).not.toHaveProperty('deletes_at');
    expect(fixture.audited).toHaveLength(2);
  });

  test('a restore is not carried out for a client that has disconnected, even if another deletion was ordered since', async () => {
    const user = await fixture.user({ deletes_at: inAMinute() });
    const deletes_at = new Date(fixture.now().getTime() + 120_000);
    const origin = { ...fixture.origin, isAbandoned: () => true };
    const left = restore(user, {}, () => change(user._id, { deletes_at }), {}, origin);
    await expect(left).rejects.toThrow('given the request up');
    expect(await fixture.storedUser(user._id)).toEqual({ ...user, deletes_at });
    await expectNoNotification();
  });

  test('a restore is refused with a wrong password', async () => {
    const user = await fixture.user({ deletes_at: inAMinute() });
    await expect(restore(user, { password: 'wrong' })).rejects.toMatchObject(refused);
    expect(await fixture.storedUser(user._id)).toEqual(user);
  });

  test.each<[string, (user: UserDocument) => Promise<unknown>]>([
    ['the account is gone', ({ _id }) => fixture.collections.users.deleteOne({ _id })],
    ['its password was changed', ({ _id }) => change(_id, { password_changed_at: new Date(0) })],
    ['its email address was changed', ({ _id }) => change(_id, { email_key: 'other@example.com' })],
    ['its time has come', ({ _id }) => change(_id, { deletes_at: fixture.now() })],
  ])('a restore is refused if %s since the password was checked', async (_, between) => {
    const user = await fixture.user({ deletes_at: inAMinute() });
    await expect(restore(user, {}, () => between(user))).rejects.toMatchObject(refused);
    const event = { event: 'login.refused', user_id: user._id, reason: 'credentials_changed' };
    expect(fixture.audited).toEqual([[event, fixture.origin]]);
    await expectNoNotification();
  });

  test('a restore is refused to a disabled account', async () => {
    const user = await fixture.user({ deletes_at: inAMinute(), disabled_at: new Date(0) });
    await expect(restore(user)).rejects.toMatchObject({ code: 'ERR-ACCOUNT-DISABLED' });
    expect(await fixture.storedUser(user._id)).toEqual(user);
    const event = { event: 'login.refused', user_id: user._id, reason: 'account_disabled' };
    expect(fixture.audited).toEqual([[event, fixture.origin]]);
    await expectNoNotification();
  });

  const change = (_id: string, set: Partial<UserDocument>) =>
    fixture.collections.users.updateOne({ _id }, { $set: set });
});
