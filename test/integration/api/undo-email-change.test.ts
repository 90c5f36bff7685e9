import { randomUUID } from 'node:crypto';
import type { FormerEmail, UserDocument } from '@auth-account/stores/documents';
import { createEmailChangeTokens, generateSecretKey } from '@auth-account/tokens';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Binary } from 'mongodb';
import {
  createUndoEmailChange,
  type UndoEmailChangeDeps,
} from '../../../services/api/src/usecases/credentials/undo-email-change.ts';
import { type AccountFixture, openAccountFixture } from '../../support/api/account-fixture.ts';

const emailChangeTokens = {
  ...createEmailChangeTokens({ keys: [generateSecretKey()] }),
  rereadKeys: async () => undefined,
};

let fixture: AccountFixture;
/** Passwords that were hashed. */
let hashed: string[];
beforeAll(async () => {
  fixture = await openAccountFixture();
  await fixture.collections.users.createIndex({ email_key: 1 }, { unique: true, name: 'email_key_unique' });
});
beforeEach(async () => {
  hashed = [];
  await fixture.clear();
});
afterAll(() => fixture.close());

/** Hashing is not under test here, so a hash contains the number of its call. */
const hasher: UndoEmailChangeDeps['hasher'] = {
  admit: (_client, use) => use({ hash: async (text) => `hash ${hashed.push(text)}`, verify: async () => false }),
};

/** Undoes the change. Calls `meanwhile` after each read of the account. */
function undo(
  undo_token: string,
  meanwhile: () => Promise<unknown> = async () => undefined,
  given: Partial<UndoEmailChangeDeps> = {},
) {
  const { emailChanges, ...deps } = fixture.deps;
  const read: UndoEmailChangeDeps['emailChanges'] = {
    ...emailChanges,
    async findByChange(changeId) {
      const user = await emailChanges.findByChange(changeId);
      await meanwhile();
      return user;
    },
  };
  return createUndoEmailChange({ ...deps, emailChanges: read, emailChangeTokens, hasher, ...given })(
    { undo_token },
    fixture.origin,
  );
}

const after = (ms: number) => new Date(fixture.now().getTime() + ms);
const formerOf = (email: string, fields: Partial<FormerEmail> = {}): FormerEmail => ({
  ...{ change_id: randomUUID(), email, email_key: email.toLowerCase(), until: after(3_600_000), ...fields },
});

/**
 * Stores an account that has changed its email address. The former email address was verified unless the fields say
 * otherwise.
 */
async function changedAccount(fields: Partial<FormerEmail> = { verified_at: fixture.now() }) {
  const old = `old-${randomUUID()}@example.com`;
  const former = formerOf(old, fields);
  const user = await fixture.user({ former_emails: [former], known_devices: [randomUUID()] });
  return { user, old, token: emailChangeTokens.issue(former.change_id) };
}

const set = (user: UserDocument, fields: Partial<UserDocument>) =>
  fixture.collections.users.updateOne({ _id: user._id }, { $set: fields });
const stored = ({ _id }: UserDocument) => fixture.storedUser(_id);
const invalid = { code: 'ERR-CODE-INVALID', details: { tries_left: 0 } };

describe('an undo of a change of the email address', () => {
  test('an undo gives the email address back, ends all that a thief may have, and announces that afterwards', async () => {
    const [older, later] = [formerOf('Older@example.com'), formerOf('Later@example.com')];
    const former = formerOf('Old@example.com', { verified_at: new Date(0) });
    const pending = { pending_email: 'next@example.com', pending_email_until: after(1), deletes_at: after(1) };
    const given = { former_emails: [older, former, later], known_devices: ['phone'], ...pending };
    const user = await fixture.user(given);
    const { _id: user_id } = user;
    const session = await fixture.session({ user_id });
    const { challenge_id } = await fixture.challenge(user, 'password_reset');
    const { home_group_id, account_type } = user;
    const shared = { home_group_id, account_type, created_at: fixture.now(), expires_at: after(1) };
    const invite = { _id: randomUUID(), ...shared, created_by: user_id, max_uses: null, uses: 0, revoked_at: null };
    await fixture.collections.invites.insertOne(invite);
    const at = fixture.now();
    const [time, { requestId }] = [at.toISOString(), fixture.origin];
    const answer = { message: 'EMAIL_CHANGE_UNDONE', invites_revoked: 1, timestamp: time };
    expect(await undo(emailChangeTokens.issue(former.change_id))).toEqual(answer);

    const { pending_email, pending_email_until, deletes_at, ...left } = user;
    const after_undo = await stored(user);
    const lost = (address: { email: string; email_key: string }) => ({
      ...{ email: address.email, email_key: address.email_key, change_id: expect.any(String), until: at },
    });
    expect(after_undo).toEqual({
      ...{ ...left, email: 'Old@example.com', email_key: 'old@example.com', email_verified_at: at },
      ...{ former_emails: [older, lost(later), lost(user)], known_devices: [] },
      ...{ password_hash: 'hash 1', password_changed_at: at, is_password_void: true, touches: 2 },
      recovered_at: at,
    });
    // No token can undo the later change.
    expect(after_undo?.former_emails?.map(({ change_id }) => change_id)).not.toContain(later.change_id);
    const end = { is_revoked: true, revoked_at: at, revoked_reason: 'password_changed' };
    expect(await fixture.asStored(session.document._id)).toMatchObject(end);
    expect(await fixture.storedChallenge(challenge_id)).toMatchObject({ ended_at: at });
    expect(await fixture.collections.invites.findOne({ _id: invite._id })).toMatchObject({ revoked_at: at });
    const rows = await fixture.rows();
    expect(rows.map(({ event: { type, data, time, requestid } }) => [type, data, time, requestid]).toSorted()).toEqual(
      [
        ['service.auth.events.deletion_cancelled', { user_id, cancelled_at: time }],
        ['service.auth.events.email_changed', { user_id, changed_at: time, is_undone: true }],
        ['service.auth.events.notice', { user_id, purpose: 'deletion_cancelled', locale: 'en' }],
        ['service.auth.events.notice', { user_id, purpose: 'password_changed', locale: 'en', invites_revoked: 1 }],
        ['service.auth.events.password_changed', { user_id, changed_at: time, reason: 'undone' }],
      ].map((row) => [...row, time, requestId]),
    );
    expect(fixture.published.map(({ id }) => id).toSorted()).toEqual(rows.map(({ event }) => event.id).toSorted());
    expect(fixture.audited).toEqual([
      [{ event: 'account.email_change_undone', user_id, invites_revoked: 1 }, fixture.origin],
      [{ event: 'account.deletion_cancelled', user_id }, fixture.origin],
      [
        { event: 'session.revoked', user_id, session_id: session.document._id, reason: 'password_changed' },
        fixture.origin,
      ],
    ]);
    expect(fixture.announced).toMatchObject([{ sessionIds: [session.document._id], requestId, at }]);
    expect([fixture.limitCalls, fixture.verdicts]).toEqual([['try'], [false, true]]);
  });

  test('an undo to an email address that was never verified makes the limits forget who logged in with it', async () => {
    const { old, token } = await changedAccount({});
    await undo(token);
    expect(fixture.limitCalls).toEqual(['try', ['registered', old]]);
  });

  test('an undo cancels no deletion where none is pending, and announces none', async () => {
    const { user, token } = await changedAccount();
    await undo(token);
    expect((await fixture.rows()).map(({ topic }) => topic).toSorted()).toEqual([
      'service.auth.events.email_changed',
      'service.auth.events.notice',
      'service.auth.events.password_changed',
    ]);
    const audited = { event: 'account.email_change_undone', user_id: user._id, invites_revoked: 0 };
    expect(fixture.audited).toEqual([[audited, fixture.origin]]);
  });

  test('an undo is refused as expired when its time is over', async () => {
    const { user, token } = await changedAccount({ until: fixture.now() });
    await expect(undo(token)).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
    expect([await stored(user), hashed]).toEqual([user, []]);
    const open = await changedAccount({ until: after(1) });
    expect(await undo(open.token)).toMatchObject({ message: 'EMAIL_CHANGE_UNDONE' });
  });

  test('an undo needs a genuine token, of a change that an account has', async () => {
    const { user } = await changedAccount();
    for (const token of [emailChangeTokens.issue(randomUUID()), 'x']) {
      await expect(undo(token)).rejects.toMatchObject(invalid);
    }
    expect([await stored(user), hashed]).toEqual([user, []]);
  });

  test('an undo accepts a token whose key has just been made, once the key has arrived', async () => {
    const newer = createEmailChangeTokens({ keys: [generateSecretKey()] });
    const [former, other] = [formerOf('old@example.com'), formerOf('other@example.com')];
    await fixture.user({ former_emails: [former] });
    await fixture.user({ former_emails: [other] });
    let rereads = 0;
    const arriving: UndoEmailChangeDeps['emailChangeTokens'] = {
      ...emailChangeTokens,
      verify: (token) => (rereads > 0 ? newer : emailChangeTokens).verify(token),
      rereadKeys: async () => {
        rereads += 1;
      },
    };
    const given = { emailChangeTokens: arriving };
    await undo(newer.issue(former.change_id), undefined, given);
    await undo(newer.issue(other.change_id), undefined, given);
    expect(rereads).toBe(1);
  });

  test('an undo is refused if an import has given the email address to another account', async () => {
    const { user, old, token } = await changedAccount();
    await fixture.user({ email: old, email_key: old });
    await expect(undo(token)).rejects.toMatchObject(invalid);
    expect([await stored(user), await fixture.rows()]).toEqual([user, []]);
  });

  test('an undo that fails for another reason reports that reason', async () => {
    const { user, token } = await changedAccount();
    const outbox = { ...fixture.deps.outbox, append: () => Promise.reject(new Error('no capacity')) };
    const commit = fixture.commitWith({ outbox });
    await expect(undo(token, undefined, { commit })).rejects.toThrow('no capacity');
    expect([await stored(user), fixture.published, fixture.audited]).toEqual([user, [], []]);
  });

  test.each<[string, (n: number) => Partial<UserDocument>]>([
    ['a change of the password', (n) => ({ password_changed_at: new Date(n) })],
    ['another change of the email address', (n) => ({ email_key: `thief-${n}@example.com` })],
  ])('an undo wins against %s that comes in between, with one hash', async (_, fields) => {
    const { user, old, token } = await changedAccount();
    let reads = 0;
    const answer = await undo(token, async () => {
      reads += 1;
      if (reads <= 4) await set(user, fields(reads));
    });
    expect(answer).toMatchObject({ message: 'EMAIL_CHANGE_UNDONE' });
    expect(await stored(user)).toMatchObject({ email: old, email_key: old, password_hash: 'hash 1' });
    expect(reads).toBe(5);
    // Nobody can guess the new password.
    expect(hashed).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
    expect(await fixture.collections.outbox.countDocuments()).toBe(3);
  });

  test('an undo takes the identities as they are then, and leaves the token of none behind', async () => {
    const linked = (id: string, created_at: Date) => ({ id, provider: 'office', sub: id, created_at });
    const identities = [linked('old', new Date(0)), linked('new', after(1)), linked('given up', after(1))];
    const { user, token } = await changedAccount();
    await set(user, { identities });
    const kept = { kid: 'k', token: new Binary(Buffer.alloc(48)), client_id: 'app' };
    let reads = 0;
    await undo(token, async () => {
      reads += 1;
      const [_id, disabled_at] = [user._id, fixture.now()];
      const fields = { 'identities.0.disabled_at': disabled_at, 'identities.1.refresh_token': kept };
      await fixture.collections.users.updateOne({ _id }, { $set: fields });
      await fixture.collections.users.updateOne({ _id }, { $pull: { identities: { id: 'given up' } } });
    });
    expect((await stored(user))?.identities).toEqual([{ ...identities[0], disabled_at: fixture.now() }]);
    const rows = (await fixture.rows()).filter(({ topic }) => topic.endsWith('identity_unlinked'));
    expect(rows.map(({ event }) => event.data)).toMatchObject([{ identity_id: 'new' }]);
    expect(await fixture.collections.providerRevocations.find().toArray()).toMatchObject([{ _id: 'new', ...kept }]);
    // A security event of a provider is no reason to decide anew.
    expect(reads).toBe(1);
  });

  test('an undo is refused with 403 if the change is gone meanwhile', async () => {
    const { user, token } = await changedAccount();
    const lost = undo(token, () => set(user, { former_emails: [], password_changed_at: fixture.now() }));
    await expect(lost).rejects.toMatchObject({ code: 'ERR-CODE-INVALID' });
    expect((await stored(user))?.email).toBe(user.email);
  });

  test('an undo has to be retried, and changes nothing, if changes do not end', async () => {
    const { user, token } = await changedAccount();
    let reads = 0;
    const lost = undo(token, async () => {
      reads += 1;
      await set(user, { password_changed_at: new Date(reads) });
    });
    await expect(lost).rejects.toMatchObject({ code: 'ERR-DEPENDENCY-UNAVAILABLE', retryAfterSeconds: 1 });
    expect(reads).toBe(5);
    expect((await stored(user))?.email).toBe(user.email);
    expect(await fixture.collections.outbox.countDocuments()).toBe(0);
  });
});
