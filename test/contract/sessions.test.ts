import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedis, waitUntil } from '@auth-account/local-stack';
import { createDenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { redisKeys } from '@auth-account/redis';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { logIn, logOut, newSession, password, type TokenPair } from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { testEnvironment } from '../support/test-environment.ts';
import { untilUnchanged } from '../support/until-unchanged.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const list = (tokens: TokenPair) => api.listSessions(bearer(tokens));
const revoke = (tokens: TokenPair, sessionId: string) => api.revokeSession({ session_id: sessionId }, bearer(tokens));
const stored = (session_id: string) => api.collections.sessions.findOne({ _id: session_id });

// guarantees: own-sessions-only
test('the list of sessions leaves out revoked and expired sessions, and other users’', async () => {
  const phone = await newSession(api);
  const [gone, expired] = [await logIn(api, phone.email), await logIn(api, phone.email)];
  await newSession(api);
  await logOut(api, gone);
  await api.collections.sessions.updateOne({ _id: expired.session_id }, { $set: { expires_at: new Date() } });
  const { sessions } = (await list(phone)).json.data;
  expect(sessions.map(({ session_id }: TokenPair) => session_id)).toEqual([phone.session_id]);
});

// answers: FusionAuth 25, https://github.com/FusionAuth/fusionauth-issues/issues/25
// A signed-out user’s access token could be used until it expired.
test('DELETE of another device’s session revokes it, and its tokens are refused at once', async () => {
  const phone = await newSession(api);
  const tablet = await logIn(api, phone.email);
  const answer = await revoke(phone, tablet.session_id.toUpperCase());
  expect(answer.status).toBe(200);
  expect(answer.json.data).toEqual({
    message: 'SESSION_TERMINATED',
    session_id: tablet.session_id,
    timestamp: expect.any(String),
  });
  expect(await stored(tablet.session_id)).toMatchObject({ is_revoked: true, revoked_reason: 'revoked_by_user' });
  expect((await list(tablet)).json.error_code).toBe('IAD_JWT_ACCESS_INVALID');
  expect((await list(phone)).status).toBe(200);
});

// guarantees: no-login-survives-logout-all
test('after logout-all no session is live but of later logins', async () => {
  const phone = await newSession(api);
  const logins = Array.from({ length: 6 }, () => api.logIn({ email: phone.email, password }));
  const answers = await Promise.all([api.logOutAll({}, bearer(phone)), ...logins]);
  expect(answers[0]?.status).toBe(200);
  const live = await api.collections.sessions.find({ user_id: phone.user_id, is_revoked: false }).toArray();
  const revoked = await api.collections.sessions.find({ user_id: phone.user_id, is_revoked: true }).toArray();
  expect(live.length + revoked.length).toBe(7);
  const at = revoked[0]?.revoked_at?.getTime() ?? 0;
  for (const { revoked_at } of revoked) expect(revoked_at?.getTime()).toBe(at);
});

describe('the deny list', () => {
  const withList = async (run: (redis: Redis) => Promise<void>) => {
    const redis = new Redis(testEnvironment().redisUrl);
    try {
      await run(redis);
    } finally {
      redis.disconnect();
    }
  };

  test('a complete deny list is read: what it denies is refused, whatever MongoDB says', () =>
    withList(async (redis) => {
      const own = await startTestApi();
      try {
        const denyList = createDenyList(redis, redisKeys(own.keyPrefix), denialLifetimeMs(600));
        await (await denyList.beginRebuild()).complete();
        const [phone, moved] = [await newSession(own), await newSession(own)];
        const ask = (tokens: TokenPair) => own.listSessions(bearer(tokens));
        const fallbacks = () => own.metric('auth_deny_list_fallbacks_total');
        expect((await untilUnchanged(fallbacks, () => ask(phone))).status).toBe(200);
        const entry = { requestId: 'test', decidedAt: Date.now() };
        await denyList.denyAndClose([
          {
            ...entry,
            sessionId: phone.session_id,
            denial: { kind: 'revoked', reason: 'SESSION_REVOKED' },
          },
          { ...entry, sessionId: moved.session_id, denial: { kind: 'below', ver: 2 } },
        ]);
        const ofPhone = await untilUnchanged(fallbacks, () => ask(phone));
        const ofMoved = await untilUnchanged(fallbacks, () => ask(moved));
        expect(ofPhone.json.error_code).toBe('IAD_JWT_ACCESS_INVALID');
        expect(ofMoved.json.error_code).toBe('IAD_JWT_ACCESS_INVALID');
      } finally {
        await own.close();
      }
    }));

  test('if the deny list is not complete MongoDB is read: revoked, gone and moved sessions are refused', async () => {
    const [revoked, gone, moved, good] = await Promise.all([1, 2, 3, 4].map(() => newSession(api)));
    if (!revoked || !gone || !moved || !good) throw new Error('no sessions');
    const { sessions } = api.collections;
    await sessions.updateOne({ _id: revoked.session_id }, { $set: { is_revoked: true } });
    await sessions.deleteOne({ _id: gone.session_id });
    await sessions.updateOne({ _id: moved.session_id }, { $set: { 'claims.ver': 2 } });
    const answers = await Promise.all([revoked, gone, moved, good].map(list));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 200]);
    expect(await api.metric('auth_deny_list_fallbacks_total')).toBeGreaterThanOrEqual(4);
  });

  // guarantees: revoked-tokens-refused
  test('the deny list of a Redis that came back with an older state is not believed: MongoDB is asked', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'auth-account-older-'));
    const own = await startRedis({ dir, log: () => undefined });
    const pod = await startTestApi({ REDIS_URL: own.url });
    const redis = new Redis(own.url);
    try {
      const list = createDenyList(redis, redisKeys(pod.keyPrefix), denialLifetimeMs(600));
      await (await list.beginRebuild()).complete();
      const phone = await newSession(pod);
      const ask = () => pod.listSessions(bearer(phone));
      const fallbacks = () => pod.metric('auth_deny_list_fallbacks_total');
      expect((await untilUnchanged(fallbacks, ask)).status).toBe(200);
      const before = await fallbacks();
      const connections = async () =>
        String(await redis.client('LIST'))
          .trim()
          .split('\n').length;
      const all = await connections();
      // The server's files lack every later change. Their sentinel says "complete", but belongs to an earlier run.
      await own.stop();
      await pod.collections.sessions.updateOne({ _id: phone.session_id }, { $set: { is_revoked: true } });
      await own.start();
      await waitUntil(async () => redis.status === 'ready', { what: 'the connection to Redis', timeoutMs: 60_000 });
      expect(await redis.get(redisKeys(pod.keyPrefix).denyListComplete)).toEqual(expect.any(String));
      // The api's own connections come back during these requests; the answer is the same before and after.
      let asked = 0;
      const isRefused = async () => {
        asked += 1;
        return (await ask()).json.error_code === 'IAD_JWT_ACCESS_INVALID';
      };
      const areBack = async () => {
        expect(await isRefused()).toBe(true);
        return (await connections()) >= all;
      };
      await waitUntil(areBack, { what: 'the connections of the api', timeoutMs: 60_000 });
      for (let i = 0; i < 3; i += 1) expect(await isRefused()).toBe(true);
      expect(await fallbacks()).toBe(before + asked);
    } finally {
      redis.disconnect();
      await pod.close();
      await own.kill();
      await rm(dir, { recursive: true, force: true });
    }
  });

  // guarantees: revoked-tokens-refused
  test.each([
    ['is full', 'maxmemory'],
    ['has lost its replicas', 'min-replicas-to-write'],
  ])('the deny list of a Redis that %s, and takes no denials, is not believed by any api', async (_, setting) => {
    const dir = await mkdtemp(join(tmpdir(), 'auth-account-full-'));
    const own = await startRedis({ dir, log: () => undefined });
    const pod = await startTestApi({ REDIS_URL: own.url });
    const other = await pod.beside();
    const redis = new Redis(own.url);
    try {
      const denyList = createDenyList(redis, redisKeys(pod.keyPrefix), denialLifetimeMs(600));
      await (await denyList.beginRebuild()).complete();
      const [phone, tablet] = [await newSession(pod), await newSession(pod)];
      const ask = (on: TestApi, tokens: TokenPair) => on.listSessions(bearer(tokens));
      const fallbacks = () => other.metric('auth_deny_list_fallbacks_total');
      expect((await untilUnchanged(fallbacks, () => ask(other, phone))).status).toBe(200);
      await redis.config('SET', setting, '1');
      expect((await logOut(pod, phone)).status).toBe(200);
      expect((await ask(pod, phone)).status).toBe(401);
      const isRefused = async () => (await ask(other, phone)).status === 401;
      await waitUntil(isRefused, { what: 'the other api to refuse the token', timeoutMs: 60_000 });
      expect((await ask(other, tablet)).status).toBe(200);
      await redis.config('SET', setting, '0');
      // A list that was full is marked as incomplete; the worker rebuilds it.
      await (await denyList.beginRebuild()).complete();
      const isBelievedAgain = async () => {
        const before = await fallbacks();
        await ask(other, tablet);
        return (await fallbacks()) === before;
      };
      await waitUntil(isBelievedAgain, { what: 'the list to be believed again', timeoutMs: 60_000 });
    } finally {
      redis.disconnect();
      await pod.close();
      await own.kill();
      await rm(dir, { recursive: true, force: true });
    }
  });

  // guarantees: revoked-tokens-refused
  test('with Redis away, MongoDB is asked about sessions', async () => {
    const own = await startTestApi({ REDIS_URL: 'redis://127.0.0.1:1' });
    try {
      const phone = await newSession(own);
      const tablet = await logIn(own, phone.email);
      expect((await logOut(own, tablet)).status).toBe(200);
      const ask = (tokens: TokenPair) => own.listSessions(bearer(tokens));
      expect((await ask(tablet)).status).toBe(401);
      expect((await ask(phone)).status).toBe(200);
    } finally {
      await own.close();
    }
  });
});
