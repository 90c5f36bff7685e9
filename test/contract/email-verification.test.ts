import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, newEmail, newSession, password, registerAccount } from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import { codeOf, expire, makeResendDue, requestReset, requestVerification, wrongCodeOf } from '../support/api/codes.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { uniqueName } from '../support/test-environment.ts';

let api: TestApi;
/** An api that requires verified email addresses. */
let wary: TestApi;
beforeAll(async () => {
  api = await startTestApi({ TRUST_PROXY_HOPS: '1' });
  wary = await api.beside({ REQUIRE_VERIFIED_EMAIL: 'true', KEY_PREFIX: uniqueName() });
});
afterAll(async () => {
  await api.close();
});

const confirm = async (on: TestApi, challenge_id: string, code?: string) =>
  on.confirmEmailVerification({ challenge_id, code: code ?? (await codeOf(on, challenge_id)) });
const verifiedAt = async (on: TestApi, userId: string) =>
  (await on.collections.users.findOne({ _id: userId }))?.email_verified_at;
const typesOf = async (on: TestApi, userId: string) =>
  (await on.collections.outbox.find({ 'event.subject': userId }).sort({ _id: 1 }).toArray()).map(({ topic }) =>
    topic.split('.').at(-1),
  );

describe('POST /account/email-verification', () => {
  test('POST /account/email-verification sends a code that verifies the email address, and ends no session', async () => {
    const session = await newSession(api);
    const challengeId = await requestVerification(api, session);
    const { status, json } = await confirm(api, challengeId);
    expect([status, json.data]).toEqual([200, { message: 'EMAIL_VERIFIED', timestamp: json.data.timestamp }]);
    const account = await api.findAccount(bearer(session));
    expect(account.json.data.email_verified).toBe(true);
    expect(await typesOf(api, session.user_id)).toEqual(['registered', 'code_requested', 'email_verified']);
  });

  test('a code for a verified email address leaves the time of its first verification, and sends no second event', async () => {
    const session = await newSession(api);
    await confirm(api, await requestVerification(api, session));
    const first = await verifiedAt(api, session.user_id);
    expect((await confirm(api, await requestVerification(api, session))).status).toBe(200);
    expect(await verifiedAt(api, session.user_id)).toEqual(first);
    expect((await typesOf(api, session.user_id)).filter((type) => type === 'email_verified')).toHaveLength(1);
  });

  // answers: Keycloak 19234, https://github.com/keycloak/keycloak/issues/19234
  // Anybody could have the mail to verify an email address sent again without limit.
  test('an account gets five verification codes a day, on however many devices and networks', async () => {
    const network = (i: number) => ({ 'X-Forwarded-For': `198.51.100.${i}` });
    const session = await newSession(api);
    const { email } = session;
    const ask = async (i: number) => {
      const body = { email, password, device_id: randomUUID() };
      const { json } = await api.logIn(body, network(i));
      return api.requestEmailVerification({ ...bearer(json.data), ...network(i) });
    };
    const statuses: number[] = [];
    for (let i = 0; i < 6; i += 1) statuses.push((await ask(i)).status);
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429]);
    const { status, headers } = await api.requestEmailVerification(bearer(session));
    expect([status, Number(headers['retry-after']) > 80_000]).toEqual([429, true]);
    // Requests of unknown devices have a separate limit, even for the mailbox's owner.
    expect((await api.requestPasswordReset({ email }, network(99))).status).toBe(202);
  });
});

test('a verified email address has five codes a day at the network of the proof, and five for all other sessions', async () => {
  const session = await newSession(api, { device_id: randomUUID() });
  const proof = { 'X-Forwarded-For': '203.0.113.1' };
  const body = { challenge_id: await requestVerification(api, session), code: '' };
  await api.confirmEmailVerification({ ...body, code: await codeOf(api, body.challenge_id) }, proof);
  const ask = async (caller: Parameters<typeof bearer>[0], network: object) =>
    (await api.requestEmailVerification({ ...bearer(caller), ...network })).status;
  const statuses: number[] = [];
  for (let i = 0; i < 5; i += 1) {
    const other = await logIn(api, session.email, { device_id: randomUUID() });
    statuses.push(await ask(other, { 'X-Forwarded-For': `203.0.113.${10 + i}` }));
  }
  // The code that verified the email address is one of the five.
  expect(statuses).toEqual([202, 202, 202, 202, 429]);
  for (let i = 0; i < 5; i += 1) expect(await ask(session, proof)).toBe(202);
  expect(await ask(session, proof)).toBe(429);
});

describe('POST /account/email-verification/confirm', () => {
  test('a verification refuses wrong codes, late ones, and those of another purpose', async () => {
    const session = await newSession(api);
    const [one, late] = [await requestVerification(api, session), await requestVerification(api, session)];
    const wrong = await confirm(api, one, await wrongCodeOf(api, one));
    expect([wrong.status, wrong.json.details.tries_left]).toEqual([403, 4]);
    await expire(api, late);
    expect((await confirm(api, late)).status).toBe(410);
    const reset = await requestReset(api, session.email);
    const foreign = await confirm(api, reset);
    expect([foreign.status, foreign.json.details.tries_left]).toEqual([403, 0]);
    expect(await verifiedAt(api, session.user_id)).toBeUndefined();
    expect((await confirm(api, one)).status).toBe(200);
  });

  test('a verification takes a code that was sent again', async () => {
    const challengeId = await requestVerification(api, await newSession(api));
    await makeResendDue(api, challengeId);
    expect((await api.resendEmailVerification({ challenge_id: challengeId })).status).toBe(202);
    expect((await confirm(api, challengeId)).status).toBe(200);
  });
});

describe('a login, if verified email addresses are required', () => {
  const logIn = (email: string, given = password) => wary.logIn({ email, password: given });

  test('a login to an unverified account gets a challenge with the right password, whose code lets it in', async () => {
    const { email, user_id } = await registerAccount(wary);
    const refused = await logIn(email);
    expect([refused.status, refused.json.error_code]).toEqual([403, 'ERR-EMAIL-NOT-VERIFIED']);
    const { challenge_id, expires_at, resend_at } = refused.json.details;
    expect(Date.parse(expires_at)).toBeGreaterThan(Date.parse(resend_at));
    expect((await confirm(wary, challenge_id)).status).toBe(200);
    expect((await logIn(email)).status).toBe(200);
    expect(await typesOf(wary, user_id)).toEqual(['registered', 'code_requested', 'email_verified']);
  });

  test('a login to an unverified account gets the same challenge again while it is open, and no further mail', async () => {
    const { email, user_id } = await registerAccount(wary);
    const first = (await logIn(email)).json.details.challenge_id;
    for (let i = 0; i < 6; i += 1) expect((await logIn(email)).json.details.challenge_id).toBe(first);
    expect(await typesOf(wary, user_id)).toEqual(['registered', 'code_requested']);
    await expire(wary, first);
    const next = (await logIn(email)).json.details.challenge_id;
    expect(next).not.toBe(first);
    expect((await confirm(wary, next)).status).toBe(200);
  });

  test('logins to an unverified account send five codes a day at most, on however many devices', async () => {
    const { email } = await registerAccount(wary);
    const ask = () => wary.logIn({ email, password, device_id: randomUUID() });
    for (let i = 0; i < 5; i += 1) {
      const { status, json } = await ask();
      expect(status).toBe(403);
      await expire(wary, json.details.challenge_id);
    }
    expect((await ask()).status).toBe(429);
  });

  test('a login with a wrong password, or of an unknown email address, does not learn whether the email address is verified', async () => {
    const { email, user_id } = await registerAccount(wary);
    for (const answer of [await logIn(email, 'wrong password'), await logIn(newEmail())]) {
      expect([answer.status, answer.json.error_code]).toEqual([401, 'ERR-INVALID-CREDENTIALS']);
    }
    expect(await typesOf(wary, user_id)).toEqual(['registered']);
  });

  test('a login to a disabled account is refused before the email address is looked at', async () => {
    const { email, user_id } = await registerAccount(wary);
    await wary.collections.users.updateOne({ _id: user_id }, { $set: { disabled_at: new Date() } });
    expect((await logIn(email)).json.error_code).toBe('ERR-ACCOUNT-DISABLED');
    expect(await typesOf(wary, user_id)).toEqual(['registered']);
  });

  test('a login to an unverified account succeeds after a reset, which verifies the email address too', async () => {
    const { email } = await registerAccount(wary);
    const challenge_id = await requestReset(wary, email);
    const code = await codeOf(wary, challenge_id);
    await wary.confirmPasswordReset({ challenge_id, code, new_password: 'three wrong staples' });
    expect((await logIn(email, 'three wrong staples')).status).toBe(200);
  });
});
