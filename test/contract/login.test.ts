import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { logIn, newEmail, newSession, password, registerAccount } from '../support/api/accounts.ts';
import { insertSessionsBeside } from '../support/api/session-document.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ ARGON2_MEMORY_KIB: '64', PUSH_PUBLIC_URL: 'wss://push.example.com/' });
});
afterAll(() => api.close());

test('POST /auth/login answers 200 with the token pair, the URL of the push stream, and no-store', async () => {
  const account = await registerAccount(api);
  const answer = await api.logIn({ email: account.email, password });
  expect(answer.status).toBe(200);
  expect(answer.headers['cache-control']).toBe('no-store');
  const { data } = answer.json;
  expect(answer.json).toEqual({
    status: 'success',
    data: {
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 600,
      refresh_token: expect.stringMatching(/^[A-Za-z0-9_-]+$/),
      refresh_expires_in: expect.any(Number),
      user_id: account.user_id,
      home_group_id: account.home_group_id,
      account_type: 'HOME',
      session_id: expect.stringMatching(uuid),
      device_id: expect.stringMatching(uuid),
      push_stream_path: `/ws/push-stream/${data.session_id}`,
      push_stream_url: `wss://push.example.com/ws/push-stream/${data.session_id}`,
      timestamp: expect.any(String),
    },
  });
  expect(data.refresh_expires_in).toBeGreaterThan(30 * 86_400 - 60);
  expect(data.refresh_expires_in).toBeLessThanOrEqual(30 * 86_400);
});

test('an access token has the shape of RFC 9068 with the claims of the session', async () => {
  const session = await newSession(api);
  expect(decodeProtectedHeader(session.access_token)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
  const { user_id, home_group_id, session_id: sid, device_id } = session;
  const claims = decodeJwt(session.access_token);
  expect(claims).toEqual({
    auth_time: expect.any(Number),
    amr: ['pwd'],
    acr: '1',
    iss: 'https://auth.local',
    aud: 'food-storage',
    client_id: 'food-storage',
    sub: user_id,
    user_id,
    home_group_id,
    account_type: 'HOME',
    sid,
    ver: 1,
    device_id,
    jti: expect.any(String),
    iat: expect.any(Number),
    exp: (claims.iat ?? 0) + 600,
  });
});

test('a login takes no other letter for one of the email address, such as the sign of the kelvin for k', async () => {
  const { email, user_id } = await registerAccount(api);
  const kelvin = email.replace('k', '\u212A');
  expect(kelvin.toLowerCase()).toBe(email);
  const { status, json } = await api.logIn({ email: kelvin, password });
  expect([status, json.error_code]).toEqual([401, 'ERR-INVALID-CREDENTIALS']);
  expect((await api.requestPasswordReset({ email: kelvin })).status).toBe(202);
  expect(await api.collections.challenges.countDocuments({ user_id })).toBe(0);
});

test('a login takes the email address in any case', async () => {
  const { email } = await registerAccount(api);
  expect((await api.logIn({ email: email.toUpperCase(), password })).status).toBe(200);
});

test('a login takes a password however a keyboard composes it', async () => {
  const email = newEmail();
  await api.registerAccount({ email, password: 'Käsekuchen', space_creation_mode: 'CREATE_NEW_HOME' });
  expect((await api.logIn({ email, password: 'Ka\u0308sekuchen' })).status).toBe(200);
});

describe('wrong credentials', () => {
  test.each([
    ['an email address of bad syntax', { email: 'cook', password }],
    ['a short password', { email: 'cook@example.com', password: 'x' }],
  ])('%s at a login answers 401, not 422', async (_, body) => {
    expect((await api.logIn(body)).status).toBe(401);
  });
});

test.each<[string, object, string, string]>([
  ['no password', { email: 'a@example.com' }, 'password', 'missing'],
  [
    'a device_id that is no UUID',
    { email: 'a@example.com', password, device_id: 'phone' },
    'device_id',
    'uuid_parsing',
  ],
  ['a platform that is unknown', { email: 'a@example.com', password, platform: 'tv' }, 'platform', 'enum'],
  [
    'a device_name with a lone surrogate',
    { email: 'a@example.com', password, device_name: 'x\ud800' },
    'device_name',
    'string_pattern_mismatch',
  ],
  [
    'a long device_name',
    { email: 'a@example.com', password, device_name: 'x'.repeat(129) },
    'device_name',
    'string_too_long',
  ],
])('a login with %s answers 422', async (_, body, field, type) => {
  const answer = await api.logIn(body);
  expect(answer.status).toBe(422);
  expect(answer.json.details).toEqual([{ loc: ['body', field], msg: expect.any(String), type }]);
});

describe('one session per user and device', () => {
  // guarantees: session-limits
  test('ten logins at once on one device leave one live session', async () => {
    const device_id = randomUUID();
    const { email, user_id } = await registerAccount(api);
    const answers = await Promise.all(Array.from({ length: 10 }, () => api.logIn({ email, password, device_id })));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(await api.collections.sessions.countDocuments({ user_id, is_revoked: false })).toBe(1);
    expect(await api.collections.sessions.countDocuments({ user_id })).toBe(10);
  });

  test('simultaneous logins leave no more than 50 live sessions, and end as many as they must', async () => {
    const { email, user_id } = await registerAccount(api);
    const first = await logIn(api, email);
    await insertSessionsBeside(api.collections, first.session_id, 46);
    const answers = await Promise.all(Array.from({ length: 10 }, () => api.logIn({ email, password })));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    const { sessions } = api.collections;
    expect(await sessions.countDocuments({ user_id, is_revoked: false })).toBe(50);
    expect(await sessions.countDocuments({ user_id, revoked_reason: 'session_limit' })).toBe(7);
  });
});
