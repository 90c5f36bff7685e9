import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { logOut, newSession } from '../support/api/accounts.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const stored = (session_id: string) => api.collections.sessions.findOne({ _id: session_id });

// guarantees: logout-is-final
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

test('of twenty simultaneous logouts one answers 200, the rest 404', async () => {
  const session = await newSession(api);
  const answers = await Promise.all(Array.from({ length: 20 }, () => logOut(api, session)));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([200, ...Array(19).fill(404)]);
});

// guarantees: own-sessions-only
test('a logout with the refresh token of another user answers 404 and ends nothing', async () => {
  const [mine, theirs] = await Promise.all([newSession(api), newSession(api)]);
  const answer = await logOut(api, { access_token: mine.access_token, refresh_token: theirs.refresh_token });
  expect(answer.status).toBe(404);
  expect(await stored(theirs.session_id)).toMatchObject({ is_revoked: false });
});

test.each([
  ['odd characters', '\u0000\ud83d\ude00 $where'],
  ['12,000 characters', 'A'.repeat(12_000)],
])('a logout with %s as refresh token answers 404 and ends nothing', async (_, refresh_token) => {
  const session = await newSession(api);
  expect((await logOut(api, { ...session, refresh_token })).status).toBe(404);
  expect(await stored(session.session_id)).toMatchObject({ is_revoked: false });
});

test('a logout without credentials answers 401 IAD_JWT_ACCESS_INVALID with a bare challenge, before its body is checked', async () => {
  const answer = await api.logOut({ refresh_token: '' });
  expect(answer.status).toBe(401);
  expect(answer.json.error_code).toBe('IAD_JWT_ACCESS_INVALID');
  expect(answer.headers['www-authenticate']).toBe('Bearer');
});
