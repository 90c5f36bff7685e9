import type { SessionDocument, UserDocument } from '@auth-account/stores/documents';
import { storedFields } from '@auth-account/stores/stored-fields';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, logOut, newSession, password } from '../support/api/accounts.ts';
import { bearer, type Caller } from '../support/api/api-driver.ts';
import { insertInvite, joinByInvite, leave } from '../support/api/groups.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const exportOf = (caller: Caller) => api.exportAccount({ current_password: password }, bearer(caller));

const dateOf = (day: number) => new Date(Date.UTC(2090, 0, 1 + day));

type OptionalField<D> = { [K in keyof D]-?: object extends Pick<D, K> ? K : never }[keyof D];

/** A value for each optional field of a document, except of fields with a test of their own. */
type Whole<D, Elsewhere extends OptionalField<D>> = Readonly<Record<Exclude<OptionalField<D>, Elsewhere>, unknown>>;

/** Its values occur nowhere else. With the fields that are tested elsewhere the password alone would not do. */
const wholeUser: Whole<
  UserDocument,
  | ('totp' | 'pending_totp' | 'recovery_codes' | 'trusted_devices' | 'passkeys' | 'identities')
  | ('is_password_void' | 'user_handle' | 'touches' | 'changes' | 'spent_touches')
> = {
  joined_by: 'an invite that brought the user here',
  last_login_at: dateOf(15),
  known_devices: ['a device that logged in before'],
  display_name: 'Anna Example',
  locale: 'ru',
  email_verified_at: dateOf(0),
  pending_email: 'next@example.com',
  pending_email_until: new Date(Date.UTC(2026, 0, 1)),
  former_emails: [
    {
      change_id: '0190a3b4-c5d6-4000-8000-00000000abcd',
      email: 'Former@example.com',
      email_key: 'former@example.com',
      verified_at: dateOf(2),
      until: dateOf(3),
    },
  ],
  new_device_notices: [dateOf(4)],
  password_changed_at: dateOf(5),
  password_warned_at: dateOf(16),
  guesses_warned_at: dateOf(17),
  recovered_at: dateOf(18),
  ways_changed_at: dateOf(19),
  disabled_at: dateOf(6),
  disabled_reason: 'a reason of the operator',
  disabled_by: 'an operator',
  deletes_at: dateOf(7),
  erasure: { lease: 'a lease of a worker', until: dateOf(8) },
  sessions_changed_at: dateOf(9),
};

const wholeSession: Whole<SessionDocument, 'ahead' | 'auth' | 'cnf' | 'is_trusted' | 'is_device_named'> &
  Pick<SessionDocument, 'handed_out_at' | 'absolute_expires_at'> = {
  handed_out_at: dateOf(10),
  claims_changed_at: dateOf(11),
  claims_request_id: 'request-of-claims',
  created_request_id: 'request-of-login',
  opened_by: [{ _id: 'an HMAC of a login’s key', fingerprint: 'an HMAC of a login’s body' }],
  identity_id: '0190a3b4-c5d6-4000-8000-00000000f00d',
  revoked_at: dateOf(12),
  revoked_reason: 'account_disabled',
  revoked_request_id: 'request-of-revocation',
  revoked_notice: 'a security event of a provider',
  revoked_also_close: '0190a3b4-c5d6-7000-8000-00000000beef',
  revoked_by: '0190a3b4-c5d6-7000-8000-00000000feed',
  absolute_expires_at: dateOf(13),
  hold: { by: 'a hold of a change', until: dateOf(14) },
};

/** Returns the stored fields, and whether the export must contain them. */
function promisesOf(collection: 'users' | 'sessions'): Map<string, boolean> {
  const { rows } = storedFields[collection];
  return new Map(
    rows.flatMap(([fields, , isExported]) =>
      fields.map((field) => [field, isExported?.startsWith('yes') === true] as const),
    ),
  );
}

/** Returns the texts and times at a path. Numbers and short words are left out, because any text may contain them. */
function valuesAt(value: unknown, path: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => valuesAt(one, path));
  const [name, ...rest] = path;
  if (name !== undefined) return valuesAt(Object(value)[name], rest);
  if (value instanceof Date) return [value.toISOString()];
  return typeof value === 'string' && value.length > 7 ? [value] : [];
}

describe('an export', () => {
  // guarantees: export-complete
  test('an export has the account, the membership, the sessions and the invites', async () => {
    const phone = await newSession(api, { device_name: 'Pixel 9', platform: 'android' });
    const tablet = await logIn(api, phone.email);
    await logOut(api, tablet);
    const fields = { max_uses: 3, uses: 1 };
    await insertInvite(api, phone.home_group_id, fields);
    await insertInvite(api, phone.home_group_id, { ...fields, revoked_at: new Date() });
    const answer = await exportOf(phone);
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    const account = (await api.findAccount(bearer(phone))).json.data;
    const { timestamp, ...shown } = account;
    const { home_group_id } = phone;
    const session = {
      device_name: null,
      platform: null,
      home_group_id,
      bound: false,
      ended_at: null,
      end_reason: null,
    };
    const times = { created_at: expect.any(String), expires_at: expect.any(String) };
    const used = { ...times, last_used_at: expect.any(String), authenticated_at: expect.any(String), amr: ['pwd'] };
    expect(answer.json.data).toEqual({
      account: { ...shown, email_verified_at: null, pending_email_until: null, last_login_at: expect.any(String) },
      former_emails: [],
      known_devices: ['unnamed'],
      second_factor: { confirmed_at: null, recovery_codes_left: 0, removal_due_at: null, trusted_devices: [] },
      passkeys: [],
      identities: [],
      codes: [],
      group: { home_group_id, name: null, account_type: 'HOME', role: 'owner', joined_at: shown.created_at },
      sessions: [
        {
          ...session,
          ...used,
          session_id: phone.session_id,
          device_id: phone.device_id,
          device_name: 'Pixel 9',
          platform: 'android',
        },
        {
          ...session,
          ...used,
          session_id: tablet.session_id,
          device_id: tablet.device_id,
          ended_at: expect.any(String),
          end_reason: 'logged_out',
        },
      ],
      invites: expect.arrayContaining([
        { ...times, ...fields, home_group_id, revoked_at: null },
        { ...times, ...fields, home_group_id, revoked_at: expect.any(String) },
      ]),
      is_complete: true,
      timestamp: expect.any(String),
    });
    expect(answer.json.data.invites).toHaveLength(2);
  });

  test.each(['users', 'sessions'] as const)(
    'an export has of %s what docs/privacy.md promises, and no other value',
    async (name) => {
      const caller = await newSession(api, { device_name: 'Pixel 9', platform: 'android' });
      const { users, sessions } = api.collections;
      await users.updateOne({ _id: caller.user_id }, { $set: wholeUser as never });
      await sessions.updateOne({ _id: caller.session_id }, { $set: wholeSession as never });
      const [{ text }, promised] = [await exportOf(caller), promisesOf(name)];
      const user = await users.findOne({ _id: caller.user_id });
      const document = name === 'users' ? user : await sessions.findOne({ _id: caller.session_id });
      const wrong = [...promised].filter(([field, isExported]) =>
        valuesAt(document, field.split('.')).some((value) => text.includes(value) !== isExported),
      );
      expect(wrong).toEqual([]);
      expect(promised.size).toBeGreaterThan(20);
    },
  );

  // guarantees: export-complete
  test('an export has no secret, and nothing of anybody else', async () => {
    const [owner, otherUser] = [await newSession(api), await newSession(api)];
    const invite = await insertInvite(api, owner.home_group_id);
    const member = await joinByInvite(api, invite);
    const { text } = await exportOf(owner);
    const user = await api.collections.users.findOne({ _id: owner.user_id });
    const session = await api.collections.sessions.findOne({ _id: owner.session_id });
    const secrets = [user?.password_hash, session?.token, session?.kid, session?.nonce.toString('base64'), invite];
    const others = [member.user_id, member.email, member.session_id, otherUser.user_id, otherUser.home_group_id];
    const known = [...secrets, ...others, owner.access_token, owner.refresh_token, password, '$argon2'];
    for (const each of known) expect(text).not.toContain(each);
  });

  test('an export has invites that were made in a group that was left', async () => {
    const owner = await newSession(api);
    const member = await joinByInvite(api, await insertInvite(api, owner.home_group_id));
    await leave(api, owner);
    const { access_token } = await logIn(api, owner.email);
    const { data } = (await exportOf({ access_token })).json;
    expect(data.invites).toMatchObject([{ home_group_id: owner.home_group_id, revoked_at: null }]);
    expect(data.group.home_group_id).not.toBe(owner.home_group_id);
    expect((await exportOf(member)).json.data.invites).toEqual([]);
  });
});
