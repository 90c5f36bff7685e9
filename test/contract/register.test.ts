import { randomUUID } from 'node:crypto';
import type { InviteDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newEmail, password, registerAccount } from '../support/api/accounts.ts';
import { insertInvite } from '../support/api/groups.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { usualHashes } from '../support/test-environment.ts';

const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const isoUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi(usualHashes);
});
afterAll(() => api.close());

const household = () => ({ email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME' });

const invite = (groupId: string, fields: Partial<InviteDocument> = {}) =>
  insertInvite(api, groupId, { account_type: 'OFFICE', ...fields });

async function counts(): Promise<number[]> {
  const { users, groups, outbox } = api.collections;
  return Promise.all([users.countDocuments(), groups.countDocuments(), outbox.countDocuments()]);
}

describe('a new space', () => {
  // guarantees: registration-all-or-nothing
  test.each([
    ['CREATE_NEW_HOME', 'HOME'],
    ['CREATE_NEW_OFFICE', 'OFFICE'],
  ])(
    'a registration in mode %s answers 201 and stores an account of type %s with its group',
    async (space_creation_mode, type) => {
      const email = `Mixed.Case-${randomUUID()}@Example.com`;
      const answer = await api.registerAccount({ email, password, space_creation_mode, invite_token: null });

      expect(answer.status).toBe(201);
      expect(answer.headers['content-type']).toBe('application/json');
      expect(answer.headers['x-request-id']).toBe('test-request-1');
      expect(answer.json).toEqual({
        status: 'success',
        data: {
          user_id: expect.stringMatching(uuidV7),
          home_group_id: expect.stringMatching(uuidV4),
          account_type: type,
          timestamp: expect.stringMatching(isoUtc),
        },
      });
      const { user_id, home_group_id } = answer.json.data;
      const user = await api.collections.users.findOne({ _id: user_id });
      expect(user).toMatchObject({
        email,
        email_key: email.toLowerCase(),
        home_group_id,
        account_type: type,
        role: 'owner',
      });
      expect(user?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
      expect(await api.collections.groups.findOne({ _id: home_group_id })).toMatchObject({
        account_type: type,
        owner_id: user_id,
        member_count: 1,
        closed_at: null,
      });
    },
  );

  test('a new space ignores the value of invite_token and stores no unknown field', async () => {
    const answer = await api.registerAccount({ ...household(), invite_token: 'whatever', ...{ is_admin: true } });
    expect(answer.status).toBe(201);
    const user = await api.collections.users.findOne({ _id: answer.json.data.user_id });
    expect(Object.keys(user ?? {})).not.toContain('is_admin');
  });

  // guarantees: events-without-personal-data
  test('a registration writes one outbox row with the CloudEvent, without personal data', async () => {
    const body = household();
    const answer = await api.registerAccount(body, { 'X-Request-ID': 'phone-7:42' });
    const { user_id, home_group_id } = answer.json.data;
    const rows = await api.collections.outbox.find({ 'event.subject': user_id }).sort({ _id: 1 }).toArray();
    expect(rows).toHaveLength(1);
    expect(rows[0]?.event).toEqual({
      specversion: '1.0',
      id: rows[0]?._id,
      source: '/services/auth',
      type: 'service.auth.events.registered',
      subject: user_id,
      time: expect.stringMatching(isoUtc),
      datacontenttype: 'application/json',
      requestid: 'phone-7:42',
      data: {
        user_id,
        home_group_id,
        account_type: 'HOME',
        space_creation_mode: 'CREATE_NEW_HOME',
        is_new_group: true,
        registered_at: expect.stringMatching(isoUtc),
      },
    });
    expect(JSON.stringify(rows[0])).not.toContain(body.email);
  });
});

describe('an email address that is taken', () => {
  test.each([
    ['as it was', (email: string) => email],
    ['in capitals between spaces', (email: string) => `\u00a0${email.toUpperCase()} `],
  ])('a taken email address, %s, answers 409 with what was sent, and stores nothing', async (_, spell) => {
    const { email } = await registerAccount(api);
    const before = await counts();
    const answer = await api.registerAccount({ ...household(), email: spell(email) });
    expect(answer.status).toBe(409);
    expect(answer.json).toEqual({
      error_code: 'ERR-EMAIL-ALREADY-EXISTS',
      message: expect.any(String),
      details: { rejected_email: spell(email).trim(), action: expect.any(String) },
    });
    expect(answer.headers['x-error-code']).toBe('IAD_AUTH_EMAIL_DUPLICATE');
    expect(await counts()).toEqual(before);
  });

  test('a taken email address is answered before an invite is read', async () => {
    const { email } = await registerAccount(api);
    const answer = await api.registerAccount({
      email,
      password,
      space_creation_mode: 'JOIN_EXISTING',
      invite_token: 'none',
    });
    expect(answer.status).toBe(409);
  });
});

describe('joining by invite', () => {
  const join = (invite_token?: string | null) =>
    api.registerAccount({ email: newEmail(), password, space_creation_mode: 'JOIN_EXISTING', invite_token });

  // guarantees: registration-all-or-nothing
  test('a registration by invite takes group and account type from it and counts use and member', async () => {
    const { home_group_id } = await registerAccount(api);
    const token = await invite(home_group_id);
    const answer = await join(token);
    expect(answer.status).toBe(201);
    expect(answer.json.data).toMatchObject({ home_group_id, account_type: 'OFFICE' });
    const { users, groups, invites, outbox } = api.collections;
    expect(await users.findOne({ _id: answer.json.data.user_id })).toMatchObject({ home_group_id, role: 'member' });
    expect(await groups.findOne({ _id: home_group_id })).toMatchObject({ member_count: 2 });
    expect(await invites.findOne({ _id: token })).toMatchObject({ uses: 1 });
    const row = await outbox.findOne({ 'event.subject': answer.json.data.user_id });
    expect(row?.event.data).toMatchObject({ is_new_group: false, space_creation_mode: 'JOIN_EXISTING', home_group_id });
  });

  test('a registration takes the invite token in capitals too', async () => {
    const { home_group_id } = await registerAccount(api);
    expect((await join((await invite(home_group_id)).toUpperCase())).status).toBe(201);
  });

  test.each([
    ['an unknown UUID', '7d1f0c1e-0000-4000-8000-000000000000'],
    ['a string that is no UUID', 'summer-party'],
    ['the empty string', ''],
  ])('a registration by invite answers 404 for %s', async (_, token) => {
    const answer = await join(token);
    expect(answer.status).toBe(404);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.json).toEqual({
      error_code: 'ERR-INVITE-TOKEN-INVALID',
      message: expect.any(String),
      details: { provided_token: token, action: expect.any(String) },
    });
    expect(answer.headers['x-error-code']).toBeUndefined();
  });

  test.each([
    ['null', null],
    ['an absent token', undefined],
  ])('a registration by invite answers 404 for %s, with an empty provided_token', async (_, token) => {
    const answer = await join(token);
    expect(answer.status).toBe(404);
    expect(answer.json.details.provided_token).toBe('');
  });

  test.each<[string, Partial<InviteDocument>, string | undefined]>([
    ['expired', { expires_at: new Date(Date.now() - 1) }, 'IAD_GROUP_INVITE_EXPIRED'],
    ['revoked', { revoked_at: new Date() }, undefined],
    ['used up', { max_uses: 3, uses: 3 }, undefined],
  ])('a registration answers 410 for an invite that is %s, and stores nothing', async (_, fields, canonical) => {
    const { home_group_id } = await registerAccount(api);
    const token = await invite(home_group_id, fields);
    const before = await counts();
    const answer = await join(token);
    expect(answer.status).toBe(410);
    expect(answer.json).toEqual({
      error_code: 'ERR-INVITE-TOKEN-INVALID',
      message: expect.any(String),
      details: { provided_token: token, action: expect.any(String) },
    });
    expect(answer.headers['x-error-code']).toBe(canonical);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(await counts()).toEqual(before);
  });

  test('a registration by invite answers 410 if the group has been closed in between, and gives the use back', async () => {
    const { home_group_id } = await registerAccount(api);
    const token = await invite(home_group_id);
    await api.collections.groups.updateOne({ _id: home_group_id }, { $set: { closed_at: new Date() } });
    expect((await join(token)).status).toBe(410);
    expect(await api.collections.invites.findOne({ _id: token })).toMatchObject({ uses: 0 });
  });
});

describe('a body that breaks the schema', () => {
  const good = { email: 'a@example.com', password: '12345678', space_creation_mode: 'CREATE_NEW_HOME' };

  test.each<[string, object, string[], string]>([
    ['no e-mail', { ...good, email: undefined }, ['body', 'email'], 'missing'],
    ['a number as e-mail', { ...good, email: 1 }, ['body', 'email'], 'string_type'],
    ['an operator as e-mail', { ...good, email: { $gt: '' } }, ['body', 'email'], 'string_type'],
    ['an e-mail without @', { ...good, email: 'cook.example.com' }, ['body', 'email'], 'string_pattern_mismatch'],
    [
      'an e-mail with white space in it',
      { ...good, email: 'a cook@example.com' },
      ['body', 'email'],
      'string_pattern_mismatch',
    ],
    [
      'an e-mail that is not ASCII',
      { ...good, email: 'köchin@example.com' },
      ['body', 'email'],
      'string_pattern_mismatch',
    ],
    ['an IPv4 address as host', { ...good, email: 'a@1.2.3.4' }, ['body', 'email'], 'string_pattern_mismatch'],
    [
      'an e-mail of 65 characters before the @',
      { ...good, email: `${'a'.repeat(65)}@example.com` },
      ['body', 'email'],
      'string_pattern_mismatch',
    ],
    [
      'an e-mail of 255 characters',
      { ...good, email: `a@${'b.'.repeat(125)}com` },
      ['body', 'email'],
      'string_too_long',
    ],
    ['a password of 7', { ...good, password: '1234567' }, ['body', 'password'], 'string_too_short'],
    ['a password of 7 after NFKC', { ...good, password: 'e\u0301234567' }, ['body', 'password'], 'string_too_short'],
    ['a password of 129', { ...good, password: 'x'.repeat(129) }, ['body', 'password'], 'string_too_long'],
    ['a password with NUL', { ...good, password: '1234\u00005678' }, ['body', 'password'], 'value_error'],
    ['a password with a lone surrogate', { ...good, password: '12345678\ud800' }, ['body', 'password'], 'value_error'],
    ['an unknown mode', { ...good, space_creation_mode: 'HOME' }, ['body', 'space_creation_mode'], 'enum'],
    ['a number as invite', { ...good, invite_token: 1 }, ['body', 'invite_token'], 'string_type'],
    ['an invite of 129', { ...good, invite_token: 'x'.repeat(129) }, ['body', 'invite_token'], 'string_too_long'],
    ['an array', [], ['body'], 'model_type'],
  ])('a registration with %s answers 422', async (_, body, loc, type) => {
    const answer = await api.registerAccount(body);
    expect(answer.status).toBe(422);
    expect(answer.json).toEqual({
      error_code: 'ERR-VALIDATION-FAILED',
      message: expect.any(String),
      details: [{ loc, msg: expect.any(String), type }],
    });
  });

  // guarantees: all-violations
  test('a registration reports every violation at once', async () => {
    const answer = await api.registerAccount({ email: 'x', ...({ invite_token: false } as object) });
    expect(
      answer.json.details.map(({ loc, type }: { loc: string[]; type: string }) => [loc.at(-1), type]).sort(),
    ).toEqual([
      ['email', 'string_pattern_mismatch'],
      ['invite_token', 'string_type'],
      ['password', 'missing'],
      ['space_creation_mode', 'missing'],
    ]);
  });
});
