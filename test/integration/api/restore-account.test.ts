import { AppError } from '@auth-account/errors';
import type { UserDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AuthenticateDeps, createAuthenticate } from '../../../services/api/src/usecases/authenticate.ts';
import { createRestoreAccount, type RestoreAccountDeps } from '../../../services/api/src/usecases/restore-account.ts';
import { type AccountScene, openAccountScene, passwordHashOf } from '../../support/account-scene.ts';

let scene: AccountScene;
beforeAll(async () => {
  scene = await openAccountScene();
});
beforeEach(() => scene.clear());
afterAll(() => scene.close());

const password = 'correct horse battery';
const deviceId = '7d0f7a34-52f1-4a4e-9b0e-3a1c5d2e8f90';
const inAMinute = () => new Date(scene.now().getTime() + 60_000);
const refused = { code: 'ERR-INVALID-CREDENTIALS' };

const authenticate = (given: Partial<AuthenticateDeps> = {}) => createAuthenticate({ ...scene.deps, ...given });

describe('a check of address and password', () => {
  const check = (fields: object, given: Partial<AuthenticateDeps> = {}) =>
    authenticate(given)({ email: '', password, deviceId, ...fields }, scene.origin);

  test('returns the account, and counts for it', async () => {
    const user = await scene.user();
    expect(await check({ email: user.email.toUpperCase() })).toEqual(user);
    expect(scene.told).toEqual([{ email: user.email.toUpperCase(), deviceId }, 'succeeded']);
    expect([scene.audited, await scene.storedUser(user._id)]).toEqual([[], user]);
  });

  test('refuses a wrong password and an unknown address alike, but for the audit log', async () => {
    const user = await scene.user();
    const error = { ...refused, details: {} };
    await expect(check({ email: user.email, password: 'wrong' })).rejects.toMatchObject(error);
    await expect(check({ email: 'nobody@example.com' })).rejects.toMatchObject(error);
    expect(scene.audited.map(([event]) => event)).toEqual([
      { event: 'login.failed', user_id: user._id, reason: 'wrong_password' },
      { event: 'login.failed', user_id: undefined, reason: 'unknown_account' },
    ]);
    expect(scene.told.filter((one) => one === 'failed')).toHaveLength(2);
    expect(scene.told).toHaveLength(4);
  });

  test('knows no account whose time of erasure has come, and lets the limits learn nothing of it', async () => {
    const [due, waiting] = [
      await scene.user({ deletes_at: scene.now() }),
      await scene.user({ deletes_at: inAMinute() }),
    ];
    await expect(check({ email: due.email })).rejects.toMatchObject({ ...refused, details: {} });
    expect(scene.told).toEqual([{ email: due.email, deviceId }, 'failed']);
    const event = { event: 'login.failed', user_id: due._id, reason: 'unknown_account' };
    expect(scene.audited.map(([one]) => one)).toEqual([event]);
    expect(await check({ email: waiting.email })).toEqual(waiting);
  });

  test('hashes the password of an unknown address too, and believes no answer to it', async () => {
    const hashed: unknown[] = [];
    const hasher: AuthenticateDeps['hasher'] = {
      ...scene.deps.hasher,
      admit: (_client, use) => use({ hash: async () => '', verify: async (...given) => hashed.push(given) > 0 }),
    };
    await expect(check({ email: 'nobody@example.com' }, { hasher })).rejects.toMatchObject(refused);
    expect(hashed).toEqual([[undefined, password]]);
  });

  test('makes no other hash of a password whose hash is good', async () => {
    const user = await scene.user();
    let places = 0;
    const hasher: AuthenticateDeps['hasher'] = {
      ...scene.deps.hasher,
      admit(client, use) {
        places += 1;
        return scene.deps.hasher.admit(client, use);
      },
    };
    await check({ email: user.email }, { hasher });
    expect(places).toBe(1);
  });

  const weak = `weak ${passwordHashOf(password)}`;

  test('replaces a weak hash of the right password', async () => {
    const user = await scene.user({ password_hash: weak });
    expect(await check({ email: user.email })).toEqual(user);
    expect(await scene.storedUser(user._id)).toEqual({ ...user, password_hash: passwordHashOf(password) });
  });

  test.each<[string, Error, boolean]>([
    ['leaves it as it is under overload', new AppError('ERR-OVERLOADED'), true],
    ['raises any other failure of that', new AppError('ERR-INTERNAL'), false],
    ['raises an unknown failure of that', new Error('no memory'), false],
  ])('%s', async (_, error, isRight) => {
    const user = await scene.user({ password_hash: weak });
    let places = 0;
    const hasher: AuthenticateDeps['hasher'] = {
      ...scene.deps.hasher,
      admit(client, use) {
        places += 1;
        return places === 1 ? scene.deps.hasher.admit(client, use) : Promise.reject(error);
      },
    };
    const checked = check({ email: user.email }, { hasher });
    if (isRight) expect(await checked).toEqual(user);
    else await expect(checked).rejects.toBe(error);
    expect(await scene.storedUser(user._id)).toEqual(user);
  });
});

describe('a restore', () => {
  const restore = (
    user: UserDocument,
    fields: object = {},
    between?: () => Promise<unknown>,
    given: Partial<RestoreAccountDeps> = {},
  ) => {
    const check: ReturnType<typeof authenticate> = async (...given) => {
      const seen = await authenticate()(...given);
      await between?.();
      return seen;
    };
    const restoreAccount = createRestoreAccount({ ...scene.deps, ...given, authenticate: check });
    return restoreAccount({ email: user.email, password, ...fields }, scene.origin);
  };
  const restored = () => ({ message: 'ACCOUNT_RESTORED', timestamp: scene.now().toISOString() });
  const expectNothingTold = async () => expect([await scene.rows(), scene.published]).toEqual([[], []]);

  test('cancels the deletion with its event, and tells of it afterwards', async () => {
    const { deletes_at, ...user } = await scene.user({ deletes_at: inAMinute() });
    expect(await restore(user, { device_id: deviceId.toUpperCase() })).toEqual(restored());
    expect(await scene.storedUser(user._id)).toEqual({ ...user, touches: 1 });
    const rows = await scene.rows();
    const at = scene.now().toISOString();
    expect(rows.map(({ event: { type, data, time, requestid } }) => [type, data, time, requestid])).toEqual([
      ['service.auth.events.deletion_cancelled', { user_id: user._id, cancelled_at: at }, at, scene.origin.requestId],
    ]);
    expect(scene.published).toEqual(rows.map(({ event }) => event));
    expect(scene.audited).toEqual([[{ event: 'account.deletion_cancelled', user_id: user._id }, scene.origin]]);
    expect(scene.told).toEqual([{ email: user.email, deviceId }, 'succeeded']);
    expect(scene.verdicts).toEqual([false, true]);
  });

  test('knows no device if the app names none', async () => {
    const user = await scene.user({ deletes_at: inAMinute() });
    await restore(user);
    expect(scene.told[0]).toEqual({ email: user.email, deviceId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  });

  test('leaves an account that nobody deletes as it is', async () => {
    const user = await scene.user();
    // An order that comes now is not the one that its user wants to have cancelled.
    const deletions = { cancel: () => Promise.reject(new Error('asked to cancel')) };
    expect(await restore(user, {}, undefined, { deletions })).toEqual(restored());
    expect([await scene.storedUser(user._id), scene.audited]).toEqual([user, []]);
    await expectNothingTold();
  });

  test.each([
    ['where none was ordered', undefined],
    ['in place of the one that was seen', inAMinute],
  ])('cancels a deletion that is ordered meanwhile, %s', async (_, seenAt) => {
    const user = await scene.user(seenAt && { deletes_at: seenAt() });
    const order = () => change(user._id, { deletes_at: new Date(scene.now().getTime() + 120_000) });
    expect(await restore(user, {}, order)).toEqual(restored());
    expect(await scene.storedUser(user._id)).not.toHaveProperty('deletes_at');
    expect(scene.audited).toHaveLength(1);
  });

  test('cancels no deletion that is ordered after its client has given up', async () => {
    const user = await scene.user({ deletes_at: inAMinute() });
    const later = new Date(scene.now().getTime() + 120_000);
    const deletions: RestoreAccountDeps['deletions'] = {
      async cancel(...args) {
        await change(user._id, { deletes_at: later });
        return scene.deps.deletions.cancel(...args);
      },
    };
    const users = { find: () => Promise.reject(new Error('asked no more')) };
    await expect(restore(user, {}, undefined, { deletions, users })).rejects.toThrow('asked no more');
    expect(await scene.storedUser(user._id)).toMatchObject({ deletes_at: later });
    await expectNothingTold();
  });

  test('gives up if deletions are ordered again and again', async () => {
    const user = await scene.user({ deletes_at: inAMinute() });
    const deletions = { cancel: async () => false };
    let reads = 0;
    const users: RestoreAccountDeps['users'] = {
      find(userId) {
        reads += 1;
        return scene.users.find(userId);
      },
    };
    await expect(restore(user, {}, undefined, { deletions, users })).rejects.toMatchObject({
      code: 'ERR-DEPENDENCY-UNAVAILABLE',
    });
    expect(reads).toBe(3);
    await expectNothingTold();
  });

  test('does nothing for a client that has left', async () => {
    const user = await scene.user({ deletes_at: inAMinute() });
    const restoreAccount = createRestoreAccount({ ...scene.deps, authenticate: authenticate() });
    const origin = { ...scene.origin, isAbandoned: () => true };
    await expect(restoreAccount({ email: user.email, password }, origin)).rejects.toThrow('given the request up');
    expect(await scene.storedUser(user._id)).toEqual(user);
  });

  test('is refused with a wrong password', async () => {
    const user = await scene.user({ deletes_at: inAMinute() });
    await expect(restore(user, { password: 'wrong' })).rejects.toMatchObject(refused);
    expect(await scene.storedUser(user._id)).toEqual(user);
  });

  test.each<[string, (user: UserDocument) => Promise<unknown>]>([
    ['the account is gone', ({ _id }) => scene.collections.users.deleteOne({ _id })],
    ['its password was changed', ({ _id }) => change(_id, { password_changed_at: new Date(0) })],
    ['its address was changed', ({ _id }) => change(_id, { email_key: 'other@example.com' })],
    ['its time has come', ({ _id }) => change(_id, { deletes_at: scene.now() })],
  ])('is refused if %s since the password was checked', async (_, between) => {
    const user = await scene.user({ deletes_at: inAMinute() });
    await expect(restore(user, {}, () => between(user))).rejects.toMatchObject(refused);
    await expectNothingTold();
  });

  test('is refused to a disabled account', async () => {
    const user = await scene.user({ deletes_at: inAMinute(), disabled_at: new Date(0) });
    await expect(restore(user)).rejects.toMatchObject({ code: 'ERR-ACCOUNT-DISABLED' });
    expect(await scene.storedUser(user._id)).toEqual(user);
    await expectNothingTold();
  });

  const change = (_id: string, set: Partial<UserDocument>) => scene.collections.users.updateOne({ _id }, { $set: set });
});
