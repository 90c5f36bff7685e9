import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newSession } from '../support/api/accounts.ts';
import { bearer, type Caller } from '../support/api/api-driver.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());
const find = (caller: Caller) => api.findAccount(bearer(caller));
const change = (caller: Caller, body: object) => api.changeAccount(body, bearer(caller));

describe('GET /account', () => {
  test('GET /account shows what was never set as null, false or the time of the registration', async () => {
    const session = await newSession(api);
    const answer = await find(session);
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    const created_at = expect.stringMatching(/^\d{4}-.+Z$/);
    expect(answer.json).toEqual({
      status: 'success',
      data: {
        user_id: session.user_id,
        email: session.email,
        email_verified: false,
        pending_email: null,
        display_name: null,
        locale: null,
        home_group_id: session.home_group_id,
        account_type: 'HOME',
        role: 'owner',
        created_at,
        password_changed_at: answer.json.data.created_at,
        has_password: true,
        timestamp: expect.any(String),
      },
    });
  });

  test('GET /account shows what the document has', async () => {
    const session = await newSession(api);
    const at = new Date('2026-11-22T10:00:00.000Z');
    const set = {
      email_verified_at: at,
      pending_email: 'New@example.com',
      password_changed_at: at,
      is_password_void: true,
      role: 'member',
    } as const;
    const pending_email_until = new Date(Date.now() + 600_000);
    await api.collections.users.updateOne({ _id: session.user_id }, { $set: { ...set, pending_email_until } });
    expect((await find(session)).json.data).toMatchObject({
      email_verified: true,
      pending_email: 'New@example.com',
      password_changed_at: at.toISOString(),
      has_password: false,
      role: 'member',
    });
    const lapsed = { $set: { pending_email_until: new Date() } };
    await api.collections.users.updateOne({ _id: session.user_id }, lapsed);
    expect((await find(session)).json.data.pending_email).toBeNull();
  });

  test('GET and PATCH /account of an account that is gone answer 401, so that the app refreshes', async () => {
    const session = await newSession(api);
    await api.collections.users.deleteOne({ _id: session.user_id });
    for (const answer of [await find(session), await change(session, { locale: 'en' })]) {
      expect([answer.status, answer.json.error_code]).toEqual([401, 'IAD_JWT_ACCESS_INVALID']);
    }
  });
});

describe('PATCH /account', () => {
  test('PATCH /account changes what is sent, keeps the rest, and null removes', async () => {
    const session = await newSession(api);
    const steps: [object, object][] = [
      [{ display_name: 'Анна 👩‍🍳' }, { display_name: 'Анна 👩‍🍳', locale: null }],
      [{ locale: 'ru' }, { display_name: 'Анна 👩‍🍳', locale: 'ru' }],
      [{}, { display_name: 'Анна 👩‍🍳', locale: 'ru' }],
      [{ display_name: null }, { display_name: null, locale: 'ru' }],
      [
        { locale: null, display_name: 'x'.repeat(64) },
        { display_name: 'x'.repeat(64), locale: null },
      ],
    ];
    for (const [body, expected] of steps) {
      const answer = await change(session, body);
      expect(answer.status).toBe(200);
      expect(answer.json.data).toMatchObject(expected);
      const { timestamp: _, ...account } = answer.json.data;
      expect((await find(session)).json.data).toMatchObject(account);
    }
    const stored = await api.collections.users.findOne({ _id: session.user_id });
    expect(stored).not.toHaveProperty('locale');
  });

  test('PATCH /account changes nothing but name and language, whatever else is sent', async () => {
    const session = await newSession(api);
    const before = await api.collections.users.findOne({ _id: session.user_id });
    const body = { role: 'member', email: 'x@example.com', email_verified: true, disabled_at: null, $set: { a: 1 } };
    expect((await change(session, { ...body, display_name: 'Anna' })).status).toBe(200);
    expect(await api.collections.users.findOne({ _id: session.user_id })).toEqual({
      ...before,
      display_name: 'Anna',
      changes: 1,
    });
  });

  test.each([
    ['display_name', 'x'.repeat(65), 'string_too_long'],
    ['display_name', 'Anna\u200f (owner)', 'string_pattern_mismatch'],
    ['locale', 'de', 'enum'],
  ])('PATCH /account refuses %s %j', async (field, value, type) => {
    const answer = await change(await newSession(api), { [field]: value });
    expect(answer.status).toBe(422);
    expect(answer.json.details).toContainEqual({ loc: ['body', field], msg: expect.any(String), type });
  });

  test('the length of a display name counts in characters, not UTF-16 units', async () => {
    const session = await newSession(api);
    expect((await change(session, { display_name: '😀'.repeat(64) })).status).toBe(200);
    expect((await change(session, { display_name: '😀'.repeat(65) })).status).toBe(422);
  });
});
