import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { logOut, newSession } from '../support/accounts.ts';
import { startTestApi, type TestApi } from '../support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const refresh = (refresh_token: unknown) => api.post('/api/v1/auth/refresh', { refresh_token });

/** Moves the session's last hand-out into the past, so that its retry window is over. */
async function passWindow(session_id: string): Promise<void> {
  const hourAgo = new Date(Date.now() - 3_600_000);
  await api.collections.sessions.updateOne({ _id: session_id }, { $set: { handed_out_at: hourAgo } });
}

test('POST /auth/refresh answers 200 in the shape of login, with a new pair for the same session', async () => {
  const session = await newSession(api);
  const answer = await refresh(session.refresh_token);
  expect(answer.status).toBe(200);
  expect(answer.headers['cache-control']).toBe('no-store');
  const { data } = answer.json;
  expect(Object.keys(data).sort()).toEqual(
    Object.keys({ ...session, expires_in: 0 })
      .filter((k) => k !== 'email')
      .sort(),
  );
  expect(data).toMatchObject({
    session_id: session.session_id,
    device_id: session.device_id,
    user_id: session.user_id,
  });
  expect(data.refresh_token).not.toBe(session.refresh_token);
  expect(decodeJwt(data.access_token)).toMatchObject({ sid: session.session_id, ver: 1 });
});

test('a refresh token rotates: the new one works, and so does the next', async () => {
  let { refresh_token } = await newSession(api);
  for (let round = 0; round < 5; round += 1) {
    const answer = await refresh(refresh_token);
    expect(answer.status).toBe(200);
    refresh_token = answer.json.data.refresh_token;
  }
});

test('simultaneous refreshes with one token get the same successor', async () => {
  const { refresh_token } = await newSession(api);
  const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(refresh_token)));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(new Set(answers.map(({ json }) => json.data.refresh_token)).size).toBe(1);
});

test('a phone that lost its answer an hour ago gets another successor, and the lost one stays valid until then', async () => {
  const session = await newSession(api);
  const lost = await refresh(session.refresh_token);
  await passWindow(session.session_id);
  const again = await refresh(session.refresh_token);
  expect(again.status).toBe(200);
  expect(again.json.data.refresh_token).not.toBe(lost.json.data.refresh_token);
  expect((await refresh(lost.json.data.refresh_token)).status).toBe(200);
});

describe('a void refresh token', () => {
  test('a void refresh token answers 401 IAD_JWT_REFRESH_STOLEN and revokes the session', async () => {
    const session = await newSession(api);
    const second = (await refresh(session.refresh_token)).json.data.refresh_token;
    const third = (await refresh(second)).json.data.refresh_token;
    const stolen = await refresh(session.refresh_token);
    expect(stolen.status).toBe(401);
    expect(stolen.json.error_code).toBe('IAD_JWT_REFRESH_STOLEN');
    expect(stolen.headers['cache-control']).toBe('no-store');
    expect((await refresh(third)).json.error_code).toBe('IAD_JWT_REFRESH_STOLEN');
    expect(await api.collections.sessions.findOne({ _id: session.session_id })).toMatchObject({
      is_revoked: true,
      revoked_reason: 'refresh_token_reuse',
    });
  });

  test('the other successor of a token is void once one was presented', async () => {
    const session = await newSession(api);
    const elder = (await refresh(session.refresh_token)).json.data.refresh_token;
    await passWindow(session.session_id);
    const younger = (await refresh(session.refresh_token)).json.data.refresh_token;
    expect((await refresh(younger)).status).toBe(200);
    expect((await refresh(elder)).json.error_code).toBe('IAD_JWT_REFRESH_STOLEN');
  });
});

test('the token of a session that was logged out answers 401 IAD_JWT_REFRESH_STOLEN', async () => {
  const session = await newSession(api);
  await logOut(api, session);
  expect((await refresh(session.refresh_token)).json.error_code).toBe('IAD_JWT_REFRESH_STOLEN');
});

test.each([
  ['text', 'not-a-token'],
  ['a token with a bit changed', undefined],
])('a refresh with %s answers 401 IAD_JWT_REFRESH_EXPIRED', async (_, token) => {
  const { refresh_token } = await newSession(api);
  const flipped = refresh_token.slice(0, -3) + (refresh_token.at(-3) === 'A' ? 'B' : 'A') + refresh_token.slice(-2);
  const answer = await refresh(token ?? flipped);
  expect(answer.status).toBe(401);
  expect(answer.json.error_code).toBe('IAD_JWT_REFRESH_EXPIRED');
});

test.each(['expires_at', 'absolute_expires_at'] as const)(
  'a refresh past %s answers 401 IAD_JWT_REFRESH_EXPIRED',
  async (field) => {
    const session = await newSession(api);
    const past = new Date(Date.now() - 1);
    await api.collections.sessions.updateOne(
      { _id: session.session_id },
      { $set: { [field]: past, expires_at: past } },
    );
    expect((await refresh(session.refresh_token)).json.error_code).toBe('IAD_JWT_REFRESH_EXPIRED');
  },
);

test('the idle end of a session never moves past the absolute one', async () => {
  const session = await newSession(api);
  const soon = new Date(Date.now() + 60_000);
  await api.collections.sessions.updateOne({ _id: session.session_id }, { $set: { absolute_expires_at: soon } });
  const answer = await refresh(session.refresh_token);
  expect(answer.json.data.refresh_expires_in).toBeLessThanOrEqual(60);
});

test.each([
  ['no token', undefined, 'missing'],
  ['an empty token', '', 'string_too_short'],
  ['a number', 1, 'string_type'],
])('a refresh with %s answers 422', async (_, token, type) => {
  const answer = await refresh(token);
  expect(answer.status).toBe(422);
  expect(answer.json.details).toEqual([{ loc: ['body', 'refresh_token'], msg: expect.any(String), type }]);
});
