import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createAccessTokenSigner, loadKeyFile } from '@auth-account/tokens';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { logIn, logOut, newSession, type TokenPair } from '../support/accounts.ts';
import { patiently } from '../support/http-client.ts';
import { startTestApi, type TestApi, testEnvironment } from '../support/test-api.ts';

const path = '/api/v1/auth/logout';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const stored = (session_id: string) => api.collections.sessions.findOne({ _id: session_id });

/** Signs a token that the service could have created; `fields` overrides its claims. */
async function signed(
  fields: object,
  { issuer = 'https://auth.local', audience = 'food-storage', ageSeconds = 0 } = {},
) {
  const keys = await loadKeyFile(join(testEnvironment().keysDir, 'access-token-keys.json'));
  const now = () => Date.now() - ageSeconds * 1_000;
  const sign = createAccessTokenSigner({ keys, algorithm: 'EdDSA', issuer, audience, ttlSeconds: 600, now });
  const claims = {
    user_id: randomUUID(),
    home_group_id: randomUUID(),
    account_type: 'HOME',
    sid: randomUUID(),
    ver: 1,
  } as const;
  return sign({ ...claims, device_id: randomUUID(), ...fields });
}

test('POST /auth/logout answers 200 and revokes the session', async () => {
  const session = await newSession(api);
  const answer = await logOut(api, session);
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.json).toEqual({
    status: 'success',
    data: {
      message: 'SESSION_TERMINATED',
      details: expect.stringMatching(/revoked.*WebSocket.*closed/),
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    },
  });
  expect(await stored(session.session_id)).toMatchObject({ is_revoked: true, revoked_reason: 'logout' });
});

test('a logout repeated with the same tokens answers 404, not 401', async () => {
  const session = await newSession(api);
  await logOut(api, session);
  const answer = await logOut(api, session);
  expect(answer.status).toBe(404);
  expect(answer.json).toEqual({
    error_code: 'ERR-LOGOUT-TARGET-NOT-FOUND',
    message: expect.any(String),
    details: { action: expect.any(String) },
  });
});

test('of twenty simultaneous logouts one answers 200, the rest 404', async () => {
  const session = await newSession(api);
  const answers = await Promise.all(Array.from({ length: 20 }, () => patiently(() => logOut(api, session))));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([200, ...Array(19).fill(404)]);
});

test('a logout takes any genuine token of the session, whatever its generation', async () => {
  const session = await newSession(api);
  await api.post('/api/v1/auth/refresh', { refresh_token: session.refresh_token });
  expect((await logOut(api, session)).status).toBe(200);
  expect(await stored(session.session_id)).toMatchObject({ is_revoked: true });
});

test('a logout ends another session of the user by its refresh token, and remembers whose push stream to close', async () => {
  const phone = await newSession(api);
  const tablet = await logIn(api, phone.email);
  const answer = await logOut(api, { access_token: phone.access_token, refresh_token: tablet.refresh_token });
  expect(answer.status).toBe(200);
  expect(await stored(tablet.session_id)).toMatchObject({ is_revoked: true, revoked_also_close: phone.session_id });
  expect(await stored(phone.session_id)).toMatchObject({ is_revoked: false });
});

describe('a session that is not the caller’s to end answers 404 and stays', () => {
  test('a logout with the refresh token of another user answers 404 and ends nothing', async () => {
    const [mine, theirs] = await Promise.all([newSession(api), newSession(api)]);
    const answer = await logOut(api, { access_token: mine.access_token, refresh_token: theirs.refresh_token });
    expect(answer.status).toBe(404);
    expect(await stored(theirs.session_id)).toMatchObject({ is_revoked: false });
  });

  test.each([
    ['text', () => 'x'],
    ['odd characters', () => '\u0000\ud83d\ude00 $where'],
    ['12,000 characters', () => 'A'.repeat(12_000)],
    [
      'its last byte changed',
      ({ refresh_token: t }: TokenPair) => t.slice(0, -4) + (t.endsWith('AAAA') ? 'BBBB' : 'AAAA'),
    ],
  ])('a logout with %s as refresh token answers 404 and ends nothing', async (_, token) => {
    const session = await newSession(api);
    const answer = await logOut(api, { ...session, refresh_token: token(session) });
    expect(answer.status).toBe(404);
    expect(await stored(session.session_id)).toMatchObject({ is_revoked: false });
  });

  test('a logout of an expired session answers 404', async () => {
    const session = await newSession(api);
    await api.collections.sessions.updateOne({ _id: session.session_id }, { $set: { expires_at: new Date() } });
    expect((await logOut(api, session)).status).toBe(404);
  });
});

describe('the body of a logout', () => {
  test.each<[string, object, string]>([
    ['an empty refresh_token', { refresh_token: '' }, 'string_too_short'],
    ['no refresh_token', {}, 'missing'],
    ['null', { refresh_token: null }, 'string_type'],
    ['an operator', { refresh_token: { $gt: '' } }, 'string_type'],
  ])('a logout with %s answers 422', async (_, body, type) => {
    const { access_token } = await newSession(api);
    const answer = await api.post(path, body, { Authorization: `Bearer ${access_token}` });
    expect(answer.status).toBe(422);
    expect(answer.json).toEqual({
      error_code: 'ERR-VALIDATION-FAILED',
      message: expect.any(String),
      details: [{ loc: ['body', 'refresh_token'], msg: expect.any(String), type }],
    });
  });
});

describe('the authorization of a logout', () => {
  const withHeader = (value: string) => api.post(path, { refresh_token: '' }, { Authorization: value });

  test('a logout without credentials answers 401 IAD_JWT_ACCESS_INVALID with a bare challenge, before its body is checked', async () => {
    const answer = await api.post(path, { refresh_token: '' });
    expect(answer.status).toBe(401);
    expect(answer.json.error_code).toBe('IAD_JWT_ACCESS_INVALID');
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  test.each<[string, () => Promise<string> | string]>([
    ['another scheme', () => 'Basic Y29vazpwdw=='],
    ['no JWT', () => 'Bearer x'],
    ['another issuer', async () => `Bearer ${await signed({}, { issuer: 'https://evil.example' })}`],
    ['another audience', async () => `Bearer ${await signed({}, { audience: 'bank' })}`],
    [
      'another issuer and expired',
      async () => `Bearer ${await signed({}, { issuer: 'https://evil.example', ageSeconds: 9_999 })}`,
    ],
    ['no session', async () => `Bearer ${await signed({ sid: '' })}`],
    ['an iat that lies ahead', async () => `Bearer ${await signed({}, { ageSeconds: -3_600 })}`],
    [
      'claims changed after signing',
      async () => {
        const [head, , signature] = (await signed({})).split('.');
        const claims = { ...decodeJwt(await signed({})), user_id: randomUUID() };
        return `Bearer ${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
      },
    ],
  ])('a logout with %s answers 401 IAD_JWT_ACCESS_INVALID', async (_, header) => {
    const answer = await withHeader(await header());
    expect(answer.status).toBe(401);
    expect(answer.json.error_code).toBe('IAD_JWT_ACCESS_INVALID');
    expect(answer.headers['x-error-code']).toBe('IAD_JWT_ACCESS_INVALID');
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer error="invalid_token"/);
  });

  test('a logout with an expired access token answers 401 IAD_JWT_ACCESS_EXPIRED', async () => {
    const answer = await withHeader(`Bearer ${await signed({}, { ageSeconds: 606 })}`);
    expect(answer.status).toBe(401);
    expect(answer.json.error_code).toBe('IAD_JWT_ACCESS_EXPIRED');
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer error="invalid_token"/);
  });

  test('five seconds past its end an access token is still taken', async () => {
    expect((await withHeader(`Bearer ${await signed({}, { ageSeconds: 602 })}`)).status).toBe(422);
  });
});
