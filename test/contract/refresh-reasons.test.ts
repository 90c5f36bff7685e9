import { catalogue } from '@auth-account/errors';
import { awaitForceLogout, openForceLogoutQueue, requestForceLogout } from '@auth-account/messaging';
import { failFastOptions, redisKeys } from '@auth-account/redis';
import type { RevocationReason } from '@auth-account/stores/documents';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { logIn, logOut, newSession, password } from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import { insertSessionsBeside } from '../support/api/session-document.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { authctl } from '../support/processes/authctl.ts';
import { storesOf } from '../support/stores/stores-of.ts';
import { testEnvironment } from '../support/test-environment.ts';
import { startTestWorker, type TestWorker } from '../support/worker/worker-service.ts';

let api: TestApi;
let worker: TestWorker;
beforeAll(async () => {
  api = await startTestApi();
  worker = await startTestWorker(api.env);
});
afterAll(async () => {
  await worker.close();
  await api.close();
});

const refresh = (refresh_token: string) => api.refreshTokens({ refresh_token });

/** Creates a session whose refresh token was rotated twice, so its first token is outdated. */
async function rotatedSession() {
  const session = await newSession(api);
  const second = (await refresh(session.refresh_token)).json.data.refresh_token;
  const third = (await refresh(second)).json.data.refresh_token;
  return { ...session, newest: third };
}

async function force(user_id: string): Promise<void> {
  const redis = new Redis(testEnvironment().redisUrl, { ...failFastOptions(), enableOfflineQueue: true });
  const queue = openForceLogoutQueue(redis, redisKeys(api.keyPrefix));
  const id = await requestForceLogout(queue, { user_id, reason: 'incident' });
  expect(await awaitForceLogout(queue, id, 60_000)).toMatchObject({ state: 'done' });
  await queue.close();
  redis.disconnect();
}

/** Ends a session in the store as an operation that ends all sessions of an account would, with this reason. */
async function endAs(reason: RevocationReason): Promise<string> {
  const session = await newSession(api);
  const revocation = { reason, at: new Date(), requestId: 'test-request-1' };
  await storesOf(api.collections).sessions.revokeAll([session.session_id], revocation);
  return session.refresh_token;
}

/** Functions by the reason in the answer. Each ends a session, and returns its last refresh token. */
const endings: Readonly<Record<string, () => Promise<string>>> = {
  async logged_out() {
    const session = await newSession(api);
    expect((await logOut(api, session)).status).toBe(200);
    return session.refresh_token;
  },
  async revoked() {
    const phone = await newSession(api);
    const tablet = await logIn(api, phone.email);
    expect((await api.revokeSession({ session_id: phone.session_id }, bearer(tablet))).status).toBe(200);
    return phone.refresh_token;
  },
  async replaced() {
    const before = await newSession(api);
    await logIn(api, before.email, { device_id: before.device_id });
    return before.refresh_token;
  },
  async session_limit() {
    const oldest = await newSession(api);
    await insertSessionsBeside(api.collections, oldest.session_id, 49);
    await logIn(api, oldest.email);
    return oldest.refresh_token;
  },
  async forced() {
    const session = await newSession(api);
    await force(session.user_id);
    return session.refresh_token;
  },
  async password_changed() {
    const phone = await newSession(api);
    const tablet = await logIn(api, phone.email);
    const body = { current_password: password, new_password: 'three wrong staples' };
    expect((await api.changePassword(body, bearer(phone))).status).toBe(200);
    return tablet.refresh_token;
  },
  async account_disabled() {
    const session = await newSession(api);
    const { env } = api;
    const run = await authctl(['user', 'disable', session.user_id, '--reason', 'spam'], { env });
    expect(run.exitCode).toBe(0);
    return session.refresh_token;
  },
  account_deleted: () => endAs('account_deleted'),
  async reused() {
    const session = await rotatedSession();
    await refresh(session.refresh_token);
    return session.newest;
  },
};

test('every reason of the catalogue is provoked', () => {
  expect(Object.keys(endings)).toEqual(catalogue.IAD_JWT_REFRESH_STOLEN.details.reason);
});

// guarantees: reasons-for-holders-only, logout-is-final
test.each(Object.keys(endings))('the refresh token of an ended session says %s', async (reason) => {
  const answer = await refresh((await endings[reason]?.()) ?? '');
  expect([answer.status, answer.json.error_code]).toEqual([401, 'IAD_JWT_REFRESH_STOLEN']);
  expect(answer.json.details).toEqual({ reason, action: expect.any(String) });
  // A user whose account is disabled cannot log in.
  const advice = reason === 'account_disabled' ? /^Contact support/ : /^Log in again\./;
  expect(answer.json.details.action).toMatch(advice);
});

test('the outdated token that ends the session gets the same reason as every later token', async () => {
  const session = await rotatedSession();
  const caught = await refresh(session.refresh_token);
  const then = await refresh(session.newest);
  expect(caught.json.details.reason).toBe('reused');
  expect(then.json).toEqual(caught.json);
});

test('a logout of all devices is reported as a revocation on the others and as a logout on its own', async () => {
  const phone = await newSession(api);
  const tablet = await logIn(api, phone.email);
  expect((await api.logOutAll({}, bearer(phone))).status).toBe(200);
  const answers = await Promise.all([phone, tablet].map(async ({ refresh_token }) => refresh(refresh_token)));
  expect(answers.map(({ json }) => json.details.reason)).toEqual(['logged_out', 'revoked']);
});

// guarantees: reasons-for-holders-only
test('a forged token of a session does not learn how it ended', async () => {
  const session = await newSession(api);
  await logOut(api, session);
  const token = session.refresh_token;
  const forged = token.slice(0, -3) + (token.at(-3) === 'A' ? 'B' : 'A') + token.slice(-2);
  const { json } = await refresh(forged);
  expect(json.error_code).toBe('IAD_JWT_REFRESH_EXPIRED');
  expect(json.details).toEqual({ action: expect.any(String) });
});
