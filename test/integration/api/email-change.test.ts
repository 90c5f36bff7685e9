import { randomUUID } from 'node:crypto';
import { AppError } from '@auth-account/errors';
import type { FormerEmail, UserDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type ChangeEmailDeps,
  createChangeEmail,
} from '../../../services/api/src/usecases/credentials/change-email.ts';
import {
  createRequestEmailChange,
  type RequestEmailChangeDeps,
} from '../../../services/api/src/usecases/credentials/request-email-change.ts';
import { type AccountFixture, openAccountFixture } from '../../support/api/account-fixture.ts';
import { bearerOf, type StoredSession } from '../../support/api/use-case-fixture.ts';

let fixture: AccountFixture;
beforeAll(async () => {
  fixture = await openAccountFixture();
  await fixture.collections.users.createIndex({ email_key: 1 }, { unique: true, name: 'email_key_unique' });
});
beforeEach(() => fixture.clear());
afterAll(() => fixture.close());

const purpose = 'email_change';
const new_email = 'New@example.com';
const after = (seconds: number) => new Date(fixture.now().getTime() + seconds * 1_000);
const threeDays = 259_200;
const pending = () => ({ pending_email: new_email, pending_email_until: after(600) });
const formerOf = (email: string, until: Date): FormerEmail => ({
  ...{ change_id: randomUUID(), email, email_key: email.toLowerCase(), until },
});
const challenges = (filter: object = {}) => fixture.collections.challenges.find(filter).toArray();
/** Events of codes that other tests requested may come late, but they belong to other users. */
const publishedTo = ({ _id }: UserDocument) => fixture.published.filter(({ subject }) => subject === _id);

/** Stores an account with the session that sends the request. */
async function account(fields: Partial<UserDocument> = {}) {
  const user = await fixture.user(fields);
  return { user, phone: await fixture.session({ user_id: user._id }) };
}

/** Changes of an account after which a request may no longer rely on what it has read. */
const changes: [string, Partial<UserDocument>][] = [
  ['password', { password_changed_at: new Date('2026-11-20T10:00:00.000Z') }],
  ['address', { email_key: 'other@example.com' }],
];
const write = ({ _id }: UserDocument, fields: Partial<UserDocument>) =>
  fixture.collections.users.updateOne({ _id }, { $set: fields });

describe('a request to change the email address', () => {
  const request = (phone: StoredSession, given: Partial<RequestEmailChangeDeps> = {}) => {
    const body = { current_password: 'correct horse battery', new_email };
    return createRequestEmailChange({ ...fixture.deps, ...given })(body, bearerOf(phone), fixture.origin);
  };
  /** Expects that nothing was written. */
  const expectUnchanged = async (user: UserDocument) =>
    expect([await fixture.storedUser(user._id), await challenges(), await fixture.rows()]).toEqual([user, [], []]);

  test('a request to change the email address is stored and sends a code, under the limits of the account', async () => {
    const { user, phone } = await account({ locale: 'ru' });
    const { challenge_id } = await request(phone);
    expect(await fixture.storedUser(user._id)).toEqual({ ...user, ...pending(), touches: 1 });
    expect(await challenges()).toMatchObject([{ _id: challenge_id, purpose, user_id: user._id, ended_at: null }]);
    const data = { challenge_id, user_id: user._id, purpose, locale: 'ru' };
    expect(await fixture.rows()).toMatchObject([{ state: 'pending', event: { data } }]);
    const { email } = user;
    const order = { email, isVerified: false, hasAccess: true, change: { userId: user._id, to: new_email } };
    expect(fixture.limitCalls).toEqual([email, 'succeeded', 'code', order]);
  });

  test('a request to change the email address invalidates the code of an earlier request, and no other', async () => {
    const { user, phone } = await account();
    const [earlier, other] = [await fixture.challenge(user, purpose), await fixture.challenge(user, 'password_reset')];
    const { challenge_id } = await request(phone);
    const open = await challenges({ ended_at: null });
    expect(open.map(({ _id }) => _id).toSorted()).toEqual([challenge_id, other.challenge_id].toSorted());
    expect(await fixture.storedChallenge(earlier.challenge_id)).toMatchObject({ ended_at: fixture.now() });
  });

  test('a request for another account’s email address does the same, and notifies that account in place of a code', async () => {
    const { user, phone } = await account();
    const key = new_email.toLowerCase();
    const holder = await fixture.user({ email: key, email_key: key, locale: 'ru' });
    await request(phone);
    expect(await fixture.storedUser(user._id)).toEqual({ ...user, ...pending(), touches: 1 });
    expect(await challenges()).toMatchObject([{ purpose, user_id: user._id, ended_at: null }]);
    const rows = await fixture.rows();
    const data = { user_id: holder._id, purpose: 'address_in_use', locale: 'ru' };
    const { requestId } = fixture.origin;
    expect(rows.map(({ topic, state, event }) => [topic, state, event.data, event.time, event.requestid])).toEqual([
      ['service.auth.events.notice', 'pending', data, fixture.now().toISOString(), requestId],
    ]);
  });

  test('a request for an email address that another account can get back notifies nobody', async () => {
    const { user, phone } = await account();
    await fixture.user({ former_emails: [formerOf(new_email, after(1))] });
    await request(phone);
    expect(await fixture.rows()).toMatchObject([
      { state: 'delivered', event: { data: { user_id: user._id, purpose } } },
    ]);
  });

  test('a request for another spelling of the account’s own email address sends a code', async () => {
    const key = new_email.toLowerCase();
    const { phone } = await account({ email: key, email_key: key });
    await request(phone);
    expect(await fixture.rows()).toMatchObject([{ state: 'pending', event: { data: { purpose } } }]);
  });

  test.each(changes)(
    'a request to change the email address is refused if the %s was changed since it was checked',
    async (_, fields) => {
      const { user, phone } = await account();
      const reauthenticate: RequestEmailChangeDeps['reauthenticate'] = async (...given) => {
        const seen = await fixture.deps.reauthenticate(...given);
        await write(user, fields);
        return seen;
      };
      await expect(request(phone, { reauthenticate })).rejects.toMatchObject({ code: 'ERR-REAUTHENTICATION-FAILED' });
      await expectUnchanged({ ...user, ...fields });
    },
  );

  test('a request to change the email address is refused past the limit', async () => {
    const { user, phone } = await account();
    const limits = {
      askForCode: async () => undefined,
      requestCode: () => Promise.reject(new AppError('ERR-RATE-LIMITED')),
    };
    await expect(request(phone, { limits })).rejects.toMatchObject({ code: 'ERR-RATE-LIMITED' });
    await expectUnchanged(user);
  });
});

describe('a change of the email address', () => {
  const change = (phone: StoredSession, asked: { challenge_id: string; code: string }, given = {}) =>
    createChangeEmail({ ...fixture.deps, ...given })(asked, bearerOf(phone), fixture.origin);

  /**
   * Stores an account that waits for the code sent to its new email address, with another session and another open
   * code.
   */
  async function changing(fields: Partial<UserDocument> = {}) {
    const { user, phone } = await account({ ...pending(), ...fields });
    const tablet = await fixture.session({ user_id: user._id });
    const [asked, other] = [await fixture.challenge(user, purpose), await fixture.challenge(user, 'password_reset')];
    return { user, phone, tablet, asked, other };
  }
  type Changing = Awaited<ReturnType<typeof changing>>;

  /** Expects that account, sessions and codes are unchanged, and nothing was announced. */
  async function expectUnchanged({ user, phone, tablet }: Changing): Promise<void> {
    expect(await fixture.storedUser(user._id)).toEqual(user);
    for (const { document } of [phone, tablet]) expect(await fixture.asStored(document._id)).toEqual(document);
    expect(await challenges({ ended_at: { $ne: null } })).toEqual([]);
    expect([await fixture.rows(), publishedTo(user), fixture.announced, fixture.audited]).toEqual([[], [], [], []]);
    expect(fixture.limitCalls).toEqual(['try']);
  }
  const taken = { code: 'ERR-EMAIL-ALREADY-EXISTS', details: { rejected_email: new_email } };

  /** Runs something between the comparison of the code and the change. */
  const meanwhile = (work: () => Promise<unknown>): Partial<ChangeEmailDeps> => ({
    async checkCode(...given) {
      const code = await fixture.deps.checkCode(...given);
      await work();
      return code;
    },
  });

  test('a change of the email address writes address, ended sessions and events in one transaction, then announces them', async () => {
    const older = formerOf('older@example.com', after(1));
    const held = { email_verified_at: new Date(0), former_emails: [older], locale: 'ru' } as const;
    const { user, phone, tablet, asked, other } = await changing(held);
    const { _id: user_id, email, email_key, ...rest } = user;
    const { pending_email, pending_email_until, ...left } = rest;
    const at = fixture.now();
    const [time, { requestId }] = [at.toISOString(), fixture.origin];
    const answer = { message: 'EMAIL_CHANGED', email: new_email, sessions_ended: 1, timestamp: time };
    expect(await change(phone, asked)).toEqual(answer);

    const stored = await fixture.storedUser(user_id);
    const change_id = stored?.former_emails?.at(-1)?.change_id;
    const former = { change_id, email, email_key, verified_at: new Date(0), until: after(threeDays) };
    expect(change_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(stored).toEqual({
      ...{ ...left, _id: user_id, email: new_email, email_key: new_email.toLowerCase(), email_verified_at: at },
      ...{ former_emails: [older, former], known_devices: [phone.document.device_id], touches: 1 },
    });
    for (const id of [asked.challenge_id, other.challenge_id]) {
      expect(await fixture.storedChallenge(id)).toMatchObject({ ended_at: at });
    }
    expect(await fixture.asStored(phone.document._id)).toEqual(phone.document);
    const end = { is_revoked: true, revoked_at: at, revoked_reason: 'revoked_by_user' };
    expect(await fixture.asStored(tablet.document._id)).toMatchObject(end);
    const rows = await fixture.rows();
    expect(rows.map(({ event: { type, data, time, requestid } }) => [type, data, time, requestid])).toEqual(
      [
        ['service.auth.events.email_changed', { user_id, changed_at: time, is_undone: false }],
        ['service.auth.events.notice', { user_id, purpose: 'email_changed', locale: 'ru', email_change_id: change_id }],
      ].map((row) => [...row, time, requestId]),
    );
    expect(publishedTo(user)).toEqual(rows.map(({ event }) => event));
    const ids = { user_id, session_id: phone.document._id };
    expect(fixture.audited).toEqual([
      [{ event: 'account.email_changed', ...ids }, fixture.origin],
      [
        { event: 'session.revoked', user_id, session_id: tablet.document._id, reason: 'revoked_by_user' },
        fixture.origin,
      ],
    ]);
    expect(fixture.announced).toMatchObject([{ sessionIds: [tablet.document._id], requestId, at }]);
    expect(fixture.limitCalls).toEqual(['try', ['moved', user.email, new_email, phone.document._id]]);
    expect(fixture.verdicts).toEqual([false, true]);
  });

  test('a change of an email address that was never verified records that for an undo', async () => {
    const { user, phone, asked } = await changing();
    await change(phone, asked);
    const [former] = (await fixture.storedUser(user._id))?.former_emails ?? [];
    expect(former).not.toHaveProperty('verified_at');
  });

  test('a change of an email address that was verified since the code was compared records that for an undo', async () => {
    const { user, phone, asked } = await changing();
    const email_verified_at = new Date(1);
    const verified = meanwhile(() => write(user, { email_verified_at }));
    await change(phone, asked, verified);
    const [former] = (await fixture.storedUser(user._id))?.former_emails ?? [];
    expect(former).toMatchObject({ email: user.email, verified_at: email_verified_at });
  });

  test('a change of the email address can change its spelling alone', async () => {
    const key = new_email.toLowerCase();
    const { user, phone, asked } = await changing({ email: key, email_key: key });
    await change(phone, asked);
    expect(await fixture.storedUser(user._id)).toMatchObject({ email: new_email, email_key: key });
  });

  test.each<[string, () => Partial<UserDocument>]>([
    ['has', () => ({ email: new_email, email_key: new_email.toLowerCase() })],
    ['can get back', () => ({ former_emails: [formerOf(new_email, after(1))] })],
  ])('a change of the email address is refused if another account %s the address', async (_, fields) => {
    const house = await changing();
    await fixture.user(fields());
    await expect(change(house.phone, house.asked)).rejects.toMatchObject(taken);
    await expectUnchanged(house);
  });

  test('a change of the email address is refused if another account takes the address at the same moment', async () => {
    const house = await changing();
    await fixture.user({ email: new_email, email_key: new_email.toLowerCase() });
    const emailChanges = { ...fixture.deps.emailChanges, findHolder: async () => undefined };
    const cause = expect.objectContaining({ name: 'MongoServerError' });
    await expect(change(house.phone, house.asked, { emailChanges })).rejects.toMatchObject({ ...taken, cause });
    await expectUnchanged(house);
  });

  test('a change of the email address that fails for another reason reports that reason', async () => {
    const house = await changing();
    const outbox = { ...fixture.deps.outbox, append: () => Promise.reject(new Error('no capacity')) };
    const commit = fixture.commitWith({ outbox });
    await expect(change(house.phone, house.asked, { commit })).rejects.toThrow('no capacity');
    await expectUnchanged(house);
  });

  test.each(changes)(
    'a change of the email address is refused if the %s was changed since the code was compared',
    async (_, fields) => {
      const house = await changing();
      const late = change(
        house.phone,
        house.asked,
        meanwhile(() => write(house.user, fields)),
      );
      await expect(late).rejects.toMatchObject({ code: 'ERR-CODE-INVALID', details: { tries_left: 0 } });
      await expectUnchanged({ ...house, user: { ...house.user, ...fields } });
    },
  );

  test('a change of the email address is refused to a session that has ended since the code was compared', async () => {
    const house = await changing();
    const end = { reason: 'forced', at: fixture.now(), requestId: 'request-2' } as const;
    const { _id } = house.phone.document;
    const late = change(
      house.phone,
      house.asked,
      meanwhile(() => fixture.sessions.revokeAll([_id], end)),
    );
    await expect(late).rejects.toMatchObject({ code: 'IAD_JWT_ACCESS_INVALID' });
    const phone = { ...house.phone, document: (await fixture.asStored(_id)) ?? house.phone.document };
    await expectUnchanged({ ...house, phone });
  });

  // answers: better-auth CVE-2026-134315, https://nvd.nist.gov/vuln/detail/CVE-2026-134315
  // A link for a change counted without its user.
  test('a change of the email address accepts only the caller’s own code, and only of this purpose', async () => {
    const house = await changing();
    const invalid = { code: 'ERR-CODE-INVALID' };
    await expect(change(await fixture.session(), house.asked)).rejects.toMatchObject(invalid);
    await expect(change(house.phone, house.other)).rejects.toMatchObject(invalid);
    expect(await fixture.storedUser(house.user._id)).toEqual(house.user);
  });
});
