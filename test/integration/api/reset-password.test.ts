import { randomUUID } from 'node:crypto';
import type { InviteDocument, UserDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Binary } from 'mongodb';
import { RequestAbandoned } from '../../../services/api/src/request/assert-client-connected.ts';
import {
  createResetPassword,
  type ResetPasswordDeps,
} from '../../../services/api/src/usecases/credentials/reset-password.ts';
import { createProveEmail } from '../../../services/api/src/usecases/login/log-in-by-code.ts';
import {
  type AccountFixture,
  openAccountFixture,
  passwordHashOf,
  type RequestedCode,
} from '../../support/api/account-fixture.ts';

let fixture: AccountFixture;
beforeAll(async () => {
  fixture = await openAccountFixture();
});
beforeEach(() => fixture.clear());
afterAll(() => fixture.close());

const new_password = 'three wrong staples';
const purpose = 'password_reset';
const token = { kid: 'k', token: new Binary(Buffer.alloc(48)), client_id: 'app' };
const invalid = { code: 'ERR-CODE-INVALID', details: { tries_left: 0 } };

const reset = (asked: RequestedCode, deps: Partial<ResetPasswordDeps> = {}, origin = fixture.origin) =>
  createResetPassword({ ...fixture.deps, ...deps })({ ...asked, new_password }, origin);

/** Stores an account with a code. Its email address is verified unless the fields say otherwise. */
async function account(fields: Partial<UserDocument> = { email_verified_at: new Date(0) }) {
  const user = await fixture.user({ known_devices: ['phone'], ...fields });
  const [one, other] = [await fixture.session({ user_id: user._id }), await fixture.session({ user_id: user._id })];
  return {
    user,
    sessions: [one.document._id, other.document._id].toSorted(),
    asked: await fixture.challenge(user, purpose),
  };
}

/** Expects that the account is unchanged, and nothing was announced. */
async function expectUnchanged(user: UserDocument): Promise<void> {
  expect(await fixture.storedUser(user._id)).toEqual(user);
  expect(await fixture.collections.sessions.countDocuments({ is_revoked: true })).toBe(0);
  expect([await fixture.rows(), fixture.published, fixture.announced]).toEqual([[], [], []]);
}

describe('a reset of the password', () => {
  test('a reset of the password writes hash, time, ended sessions and events in one transaction, then announces them', async () => {
    const { user, sessions, asked } = await account();
    const origin = { ...fixture.origin, locale: 'ru' } as const;
    const answer = await reset(asked, {}, origin);
    const at = fixture.now();
    expect(answer).toEqual({ message: 'PASSWORD_RESET', invites_revoked: 0, timestamp: at.toISOString() });
    const set = { password_hash: passwordHashOf(new_password), password_changed_at: at, known_devices: [] };
    const changed = { ...set, recovered_at: at, touches: 1 };
    expect(await fixture.storedUser(user._id)).toEqual({ ...user, ...changed });
    const end = { is_revoked: true, revoked_at: at, revoked_reason: 'password_changed' };
    for (const id of sessions) expect(await fixture.asStored(id)).toMatchObject(end);
    expect(await fixture.storedChallenge(asked.challenge_id)).toMatchObject({ ended_at: at, tries_left: 5 });
    const rows = await fixture.rows();
    expect(fixture.published).toEqual(rows.map(({ event }) => event));
    const time = at.toISOString();
    expect(rows.map(({ event: { type, data, time, requestid } }) => [type, data, time, requestid])).toEqual(
      [
        ['service.auth.events.password_changed', { user_id: user._id, changed_at: time, reason: 'reset' }],
        [
          'service.auth.events.notice',
          { user_id: user._id, purpose: 'password_changed', locale: 'ru', invites_revoked: 0 },
        ],
      ].map((row) => [...row, time, origin.requestId]),
    );
    const ended = { event: 'session.revoked', user_id: user._id, reason: 'password_changed' };
    const [first, ...others] = fixture.audited.map(([event]) => event);
    expect(first).toEqual({ event: 'account.password_reset', user_id: user._id, invites_revoked: 0 });
    expect(others.toSorted(bySession)).toEqual(sessions.map((session_id) => ({ ...ended, session_id })));
    const { requestId } = origin;
    const sessionIds = expect.arrayContaining(sessions);
    expect(fixture.announced).toEqual([{ sessionIds, reason: 'SESSION_REVOKED', requestId, at }]);
    expect(fixture.limitCalls).toEqual(['try', ['proved', user.email]]);
    expect(fixture.verdicts).toEqual([false, true]);
  });

  test('a reset of the password invalidates the other codes, and a pending change of the email address', async () => {
    const pending = { pending_email: 'new@example.com', pending_email_until: new Date(0) };
    const { user, asked } = await account({ email_verified_at: new Date(0), ...pending });
    const other = await fixture.challenge(user, 'email_change');
    const [otherUser, theirs] = [await fixture.user(), 'password_reset'] as const;
    const foreign = await fixture.challenge(otherUser, theirs);
    await reset(asked);
    expect(await fixture.storedChallenge(other.challenge_id)).toMatchObject({ ended_at: fixture.now() });
    expect(await fixture.storedChallenge(foreign.challenge_id)).toMatchObject({ ended_at: null });
    expect((await fixture.storedUser(user._id))?.pending_email_until).toEqual(fixture.now());
  });

  test('a reset that verifies the email address leaves nothing of an earlier holder', async () => {
    const { user, asked } = await account({});
    const invites = [await invite({ created_by: user._id }), await invite({ created_by: randomUUID() })];
    await reset(asked);
    const at = fixture.now();
    const renewed = { email_verified_at: at, known_devices: [] };
    expect(await fixture.storedUser(user._id)).toMatchObject(renewed);
    const revoked = await Promise.all(invites.map((_id) => fixture.collections.invites.findOne({ _id })));
    expect(revoked.map((one) => one?.revoked_at)).toEqual([at, null]);
    expect(fixture.published.map(({ type, data }) => [type, data]).at(-1)).toEqual([
      'service.auth.events.email_verified',
      { user_id: user._id, verified_at: at.toISOString() },
    ]);
    expect((await fixture.rows()).map(({ event }) => event)).toEqual(fixture.published);
    expect(fixture.published).toHaveLength(3);
    expect(fixture.limitCalls).toEqual(['try', ['registered', user.email]]);
  });

  test.each<[string, object]>([
    ['the password', { password_changed_at: new Date('2026-11-20T10:00:00.000Z') }],
    ['the address', { email_key: 'other@example.com' }],
  ])('a reset of the password is refused if %s was changed since the code was compared', async (_, set) => {
    const { user, asked } = await account();
    const slow: ResetPasswordDeps['checkCode'] = async (...given) => {
      const code = await fixture.deps.checkCode(...given);
      await fixture.collections.users.updateOne({ _id: user._id }, { $set: set });
      return code;
    };
    await expect(reset(asked, { checkCode: slow })).rejects.toMatchObject(invalid);
    await expectUnchanged({ ...user, ...set });
    expect(await fixture.storedChallenge(asked.challenge_id)).toMatchObject({ ended_at: null });
  });

  test('a reset announces no first proof if the email address was verified since the code was compared', async () => {
    const { user, asked } = await account({});
    let reads = 0;
    const checkCode: ResetPasswordDeps['checkCode'] = async (...given) => {
      const code = await fixture.deps.checkCode(...given);
      reads += 1;
      const verified = { $set: { email_verified_at: new Date(1) } };
      await fixture.collections.users.updateOne({ _id: user._id }, verified);
      return code;
    };
    await reset(asked, { checkCode });
    expect([reads, (await fixture.storedUser(user._id))?.email_verified_at]).toEqual([2, new Date(1)]);
    expect((await fixture.rows()).map(({ topic }) => topic)).not.toContain('service.auth.events.email_verified');
    expect(fixture.limitCalls).toEqual(['try', ['proved', user.email]]);
  });

  // guarantees: provider-codes
  test.each<[string, object, string[]]>([
    ['was stored', { $set: { 'identities.0.refresh_token': token } }, ['identity']],
    ['waits already, as its provider gave the identity up,', { $pull: { identities: { id: 'identity' } } }, []],
  ])(
    'a recovery that removes an identity whose token %s since the account was read leaves no token behind',
    async (_, change, gone) => {
      const identities = [{ id: 'identity', provider: 'office', sub: 'somebody', created_at: new Date(0) }];
      const since = (_id: string) => fixture.collections.users.updateOne({ _id }, change);
      const checkCode: ResetPasswordDeps['checkCode'] = async (...given) => {
        const code = await fixture.deps.checkCode(...given);
        await since(code.user._id);
        return code;
      };
      const unlinked = async () => {
        const { providerRevocations } = fixture.collections;
        const rows = (await fixture.rows()).filter(({ topic }) => topic.endsWith('identity_unlinked'));
        const waiting = await providerRevocations.find().toArray();
        await providerRevocations.deleteMany();
        expect(rows.map(({ event }) => event.data)).toMatchObject(gone.map((identity_id) => ({ identity_id })));
        expect(waiting).toMatchObject(gone.map((_id) => ({ _id, provider: 'office', ...token })));
        await fixture.clear();
      };
      const { asked } = await account({ identities });
      await reset(asked, { checkCode });
      await unlinked();

      const { user } = await account({ identities });
      await since(user._id);
      const { deps, origin, commit, now } = fixture;
      const proof = { user, device: 'phone', at: now() };
      const work: Parameters<typeof commit>[0]['work'] = async (session) => {
        const { ended, ...proved } = await createProveEmail(deps)(proof, origin, session);
        return { ...proved, sessions: [ended] };
      };
      await commit({ at: now(), work, isCommitted: 'by event', ifClientLeft: 'commit' }, origin);
      await unlinked();
    },
  );

  test('a reset of the password is refused if another confirmation was faster', async () => {
    const { user, asked } = await account();
    const slow: ResetPasswordDeps['checkCode'] = async (...given) => {
      const code = await fixture.deps.checkCode(...given);
      const used = { $set: { ended_at: fixture.now() } };
      await fixture.collections.challenges.updateOne({ _id: asked.challenge_id }, used);
      return code;
    };
    await expect(reset(asked, { checkCode: slow })).rejects.toMatchObject(invalid);
    await expectUnchanged(user);
  });

  test('a reset of the password is not carried out for a client that has disconnected', async () => {
    const { user, asked } = await account();
    const origin = { ...fixture.origin, isAbandoned: () => true };
    await expect(reset(asked, {}, origin)).rejects.toBeInstanceOf(RequestAbandoned);
    await expectUnchanged(user);
  });

  // guarantees: five-codes-per-challenge
  test('a reset takes neither the code of another purpose, nor a try if it is shed', async () => {
    const { user } = await account();
    const asked = await fixture.challenge(user, 'account_deletion');
    await expect(reset(asked)).rejects.toMatchObject(invalid);
    const own = await fixture.challenge(user, purpose);
    const shed = () => Promise.reject(new Error('full'));
    const late = { hash: shed, verify: shed };
    const hashers: ResetPasswordDeps['hasher'][] = [{ admit: shed }, { admit: (_, use) => use(late) }];
    for (const hasher of hashers) await expect(reset(own, { hasher })).rejects.toThrow('full');
    expect(await fixture.storedChallenge(own.challenge_id)).toMatchObject({ tries_left: 5 });
    await expectUnchanged(user);
  });
});

function bySession(a: object, b: object): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

/** Stores an open invite, and returns its token. */
async function invite(fields: Pick<InviteDocument, 'created_by'>): Promise<string> {
  const [_id, home_group_id, at] = [randomUUID(), randomUUID(), fixture.now()];
  const expires_at = new Date(at.getTime() + 60_000);
  const open = { account_type: 'HOME', created_at: at, expires_at, max_uses: null, uses: 0, revoked_at: null } as const;
  await fixture.collections.invites.insertOne({ _id, home_group_id, ...open, ...fields });
  return _id;
}
