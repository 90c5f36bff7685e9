import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import {
  type Account,
  logIn,
  newDevice,
  newEmail,
  newSession,
  password,
  registerAccount,
} from '../support/api/accounts.ts';
import { bearer, withHeaders } from '../support/api/api-driver.ts';
import {
  codeOf,
  confirmReset,
  expire,
  logInByCode,
  makeResendDue,
  requestLoginCode,
  requestReset,
  requestVerification,
  wrongCodeOf,
} from '../support/api/codes.ts';
import { newDeviceKey } from '../support/api/device-key.ts';
import { insertInvite, refresh } from '../support/api/groups.ts';
import { addPasskey, logInByPasskey } from '../support/api/passkeys.ts';
import { codeAt, completeLogin, guardedAccount, switchOn } from '../support/api/second-factor.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';
import { recordLog } from '../support/recorded-log.ts';
import { withFailPoint } from '../support/stores/fail-point.ts';
import { testEnvironment } from '../support/test-environment.ts';

let api: TestApi;
let shiftMs = 0;
const now = () => Date.now() + shiftMs;
const minute = 60_000;
const path = '/api/v1/auth/login-code';
const log = recordLog('api');

beforeAll(async () => {
  api = await startTestApi({ TRUST_PROXY_HOPS: '1' }, { now }, log.logger);
});
afterAll(() => api.close());

const verify = ({ user_id }: Pick<Account, 'user_id'>) =>
  api.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date(0) } });
const stored = ({ user_id }: Pick<Account, 'user_id'>) => api.collections.users.findOne({ _id: user_id });
const live = ({ user_id }: Pick<Account, 'user_id'>) =>
  api.collections.sessions.countDocuments({ user_id, is_revoked: false });
const statusAndCode = ({ status, json }: Answer) => [status, json.error_code];
const byPassword = async (email: string) => (await api.logIn({ email, password })).status;

/** Registers an account whose email address is verified. */
async function verified(): Promise<Account> {
  const account = await registerAccount(api);
  await verify(account);
  return account;
}

/** Registers an account whose email address is verified and whose second factor is on. */
async function guarded() {
  const account = await guardedAccount(api, now());
  await verify(account);
  return account;
}

describe('POST /auth/login-code', () => {
  test('POST /auth/login-code answers 202 with a challenge of ten minutes, and asks for the mail', async () => {
    const { email, user_id } = await verified();
    const { status, json } = await api.requestLoginCode({ email, ...{ device_id: randomUUID() } });
    const { challenge_id, expires_at, timestamp } = json.data;
    expect([status, Date.parse(expires_at) - Date.parse(timestamp)]).toEqual([202, 10 * minute]);
    const row = await api.collections.outbox.findOne({ 'event.subject': user_id, topic: /code/ });
    expect(row).toMatchObject({ state: 'pending', event: { data: { challenge_id, user_id, purpose: 'login' } } });
  });

  // answers: Ory Kratos 4521, https://github.com/ory/kratos/issues/4521
  // A request for a login code showed whether the email address had an account.
  test('POST /auth/login-code is answered alike for an unknown email address, and nobody gets a mail', async () => {
    const { status, json } = await api.requestLoginCode({ email: newEmail() });
    expect([status, Object.keys(json.data)]).toEqual([202, ['challenge_id', 'expires_at', 'resend_at', 'timestamp']]);
    const decoy = await api.collections.challenges.findOne({ _id: json.data.challenge_id });
    const row = await api.collections.outbox.findOne({ 'event.subject': decoy?.user_id ?? '', topic: /code/ });
    expect(row?.state).toBe('delivered');
    expect(statusAndCode(await logInByCode(api, json.data.challenge_id))).toEqual([403, 'ERR-CODE-INVALID']);
  });

  test('POST /auth/login-code/resend sends the code again, and no sooner than a minute later', async () => {
    const challenge_id = await requestLoginCode(api, (await verified()).email);
    expect((await api.resendLoginCode({ challenge_id })).status).toBe(429);
    await makeResendDue(api, challenge_id);
    expect((await api.resendLoginCode({ challenge_id })).status).toBe(202);
  });
});

describe('POST /auth/login-code/confirm', () => {
  test('a login by code opens a session with one factor, which a refresh keeps', async () => {
    const account = await verified();
    const device = { device_id: randomUUID(), device_name: 'Pixel 9', platform: 'android' };
    const { status, json, headers } = await logInByCode(api, await requestLoginCode(api, account.email), device);
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(json.data).toMatchObject({ user_id: account.user_id, device_id: device.device_id });
    expect(decodeJwt(json.data.access_token)).toMatchObject({ amr: ['otp'], acr: '1' });
    expect(decodeJwt((await refresh(api, json.data)).access_token)).toMatchObject({ amr: ['otp'], acr: '1' });
    const session = await api.collections.sessions.findOne({ _id: json.data.session_id });
    expect(session).toMatchObject({ device_name: 'Pixel 9', platform: 'android' });
    expect((await stored(account))?.known_devices).toContain(device.device_id);
  });

  test('a login by code leaves password, passkeys and other sessions of a verified email address alone', async () => {
    const account = await newSession(api);
    await verify(account);
    const { authenticator } = await addPasskey(api, account);
    expect((await logInByCode(api, await requestLoginCode(api, account.email))).status).toBe(200);
    expect([await byPassword(account.email), (await logInByPasskey(api, authenticator)).status]).toEqual([200, 200]);
    expect(await live(account)).toBe(4);
  });

  test('a login by code gives the same request the same session for 60 s, and any other 410', async () => {
    const account = await verified();
    const challenge_id = await requestLoginCode(api, account.email);
    const code = await codeOf(api, challenge_id);
    const body = { challenge_id, code, device_id: randomUUID() };
    const send = (fields: object = {}) => api.logInByCode({ ...body, ...fields });
    const first = await send();
    const consumed = await api.collections.consumedProofs.findOne({ session_id: first.json.data.session_id });
    expect(consumed?.purge_at.getTime()).toBeGreaterThan(now() + 9 * minute);
    await refresh(api, first.json.data);
    const again = await send({ challenge_id: challenge_id.toUpperCase() });
    expect([again.status, again.json.data.session_id]).toEqual([200, first.json.data.session_id]);
    expect((await refresh(api, again.json.data)).session_id).toBe(first.json.data.session_id);
    const others = [{ device_id: randomUUID() }, { code: await wrongCodeOf(api, challenge_id) }];
    for (const fields of others) expect(statusAndCode(await send(fields))).toEqual([410, 'ERR-CODE-EXPIRED']);
    const key = newDeviceKey();
    const proof = { DPoP: key.prove({ path: `${path}/confirm`, at: now() }) };
    expect((await api.logInByCode(body, proof)).status).toBe(410);
    try {
      shiftMs += minute + 1;
      expect(statusAndCode(await send())).toEqual([410, 'ERR-CODE-EXPIRED']);
    } finally {
      shiftMs = 0;
    }
    expect(await live(account)).toBe(1);
  });

  test('a login by code binds the session to the key of its proof', async () => {
    const challenge_id = await requestLoginCode(api, (await verified()).email);
    const key = newDeviceKey();
    const proof = { DPoP: key.prove({ path: `${path}/confirm`, at: now() }) };
    const { json } = await logInByCode(api, challenge_id, {}, proof);
    expect(json.data.bound).toBe(true);
    const session = await api.collections.sessions.findOne({ _id: json.data.session_id });
    expect(session?.cnf).toEqual({ jkt: key.jkt });
  });

  test('a login by code counts five wrong codes, and refuses late ones', async () => {
    const { email } = await verified();
    const challenge_id = await requestLoginCode(api, email);
    const code = await wrongCodeOf(api, challenge_id);
    for (const tries_left of [4, 3, 2, 1, 0, 0]) {
      const { status, json } = await logInByCode(api, challenge_id, { code });
      expect([status, json.details.tries_left]).toEqual([403, tries_left]);
    }
    expect((await logInByCode(api, challenge_id)).status).toBe(403);
    const late = await requestLoginCode(api, email);
    await expire(api, late);
    expect(statusAndCode(await logInByCode(api, late))).toEqual([410, 'ERR-CODE-EXPIRED']);
  });

  test.each([
    ['another purpose', requestReset],
    ['nobody', async () => randomUUID()],
  ] as const)('a login by code refuses the challenge of %s', async (_, request) => {
    const { email } = await verified();
    const code = await codeOf(api, await requestLoginCode(api, email));
    const answer = await api.logInByCode({ challenge_id: await request(api, email), code });
    expect(statusAndCode(answer)).toEqual([403, 'ERR-CODE-INVALID']);
  });

  test('a code to log in is no code to reset the password', async () => {
    const challenge_id = await requestLoginCode(api, (await verified()).email);
    expect(statusAndCode(await confirmReset(api, challenge_id))).toEqual([403, 'ERR-CODE-INVALID']);
    expect((await logInByCode(api, challenge_id)).status).toBe(200);
  });

  test('a code to log in is unusable after a change of the password', async () => {
    const session = await newSession(api);
    await verify(session);
    const challenge_id = await requestLoginCode(api, session.email);
    const code = await codeOf(api, challenge_id);
    await api.changePassword({ current_password: password, new_password: 'four right staples' }, bearer(session));
    expect(statusAndCode(await logInByCode(api, challenge_id, { code }))).toEqual([403, 'ERR-CODE-INVALID']);
  });

  test('only the right code shows that the account is disabled or will be deleted, and it stays valid', async () => {
    const states = [
      [{ disabled_at: new Date() }, 'ERR-ACCOUNT-DISABLED'],
      [{ deletes_at: new Date(now() + 86_400_000) }, 'ERR-ACCOUNT-DELETION-SCHEDULED'],
    ] as const;
    for (const [fields, error_code] of states) {
      const account = await verified();
      await api.collections.users.updateOne({ _id: account.user_id }, { $set: fields });
      const challenge_id = await requestLoginCode(api, account.email);
      const wrong = await logInByCode(api, challenge_id, { code: await wrongCodeOf(api, challenge_id) });
      expect(statusAndCode(wrong)).toEqual([403, 'ERR-CODE-INVALID']);
      expect(statusAndCode(await logInByCode(api, challenge_id))).toEqual([403, error_code]);
      const gone = { disabled_at: true, deletes_at: true } as const;
      await api.collections.users.updateOne({ _id: account.user_id }, { $unset: gone });
      expect((await logInByCode(api, challenge_id)).status).toBe(200);
    }
  });

  test('a login by code mails a notification of an unknown device', async () => {
    const account = await newSession(api, { device_id: randomUUID() });
    await verify(account);
    await logInByCode(api, await requestLoginCode(api, account.email), { device_id: randomUUID() });
    const notification = { 'event.data.user_id': account.user_id, 'event.data.purpose': 'new_device' };
    expect(await api.collections.outbox.countDocuments(notification as never)).toBe(1);
  });
});

describe('a code to log in while the second factor is on', () => {
  test('a code to log in is the first proof, and the second factor uses it up', async () => {
    const account = await guarded();
    const device = { device_id: randomUUID() };
    const challenge_id = await requestLoginCode(api, account.email);
    const [one, two] = [await logInByCode(api, challenge_id, device), await logInByCode(api, challenge_id, device)];
    expect(statusAndCode(one)).toEqual([403, 'ERR-SECOND-FACTOR-REQUIRED']);
    expect([one.json.details.methods, await live(account)]).toEqual([['totp', 'recovery_code'], 1]);
    shiftMs += 30_000;
    const answer = await completeLogin(api, one.json.details.challenge_id, { code: codeAt(account.secret, now()) });
    expect([answer.status, answer.json.data.device_id]).toEqual([200, device.device_id]);
    expect(decodeJwt(answer.json.data.access_token)).toMatchObject({ amr: ['otp', 'mfa'], acr: '2' });
    // The code is used, so no other challenge that came from it opens a session.
    const [code = ''] = account.recovery_codes;
    const other = { method: 'recovery_code', code };
    const refused = await completeLogin(api, two.json.details.challenge_id, other);
    expect(statusAndCode(refused)).toEqual([410, 'ERR-CODE-EXPIRED']);
    expect((await stored(account))?.recovery_codes).toHaveLength(10);
    expect(statusAndCode(await logInByCode(api, challenge_id, device))).toEqual([410, 'ERR-CODE-EXPIRED']);
  });

  test('a code to log in is enough on a trusted device, and only there', async () => {
    const account = await guarded();
    const device = { device_id: randomUUID() };
    const pendingLogin = await logInByCode(api, await requestLoginCode(api, account.email), device);
    const [code = ''] = account.recovery_codes;
    const proof = { method: 'recovery_code', code, trust_device: true };
    const { json } = await completeLogin(api, pendingLogin.json.details.challenge_id, proof);
    const { trusted_device_token } = json.data;
    const log = async (fields: object) => logInByCode(api, await requestLoginCode(api, account.email), fields);
    const trusted = await log({ ...device, trusted_device_token });
    expect(trusted.status).toBe(200);
    expect(decodeJwt(trusted.json.data.access_token)).toMatchObject({ amr: ['otp'], acr: '1' });
    expect(statusAndCode(await log({ device_id: randomUUID(), trusted_device_token }))).toEqual([
      403,
      'ERR-SECOND-FACTOR-REQUIRED',
    ]);
  });
});

describe('the first proof of an email address', () => {
  // guarantees: squatter-keeps-nothing
  // answers: better-auth GHSA-qq9h-g4jm-xgf3, https://github.com/advisories/GHSA-qq9h-g4jm-xgf3
  // After the owner’s first login by a mailed code, the password of whoever had registered the email address still
  // worked.
  test('the first proof of an email address takes away what somebody else may have set up, and leaves one session', async () => {
    const squatter = await newSession(api, { device_id: randomUUID() });
    const { authenticator } = await addPasskey(api, squatter);
    await switchOn(api, squatter, now());
    const invite = await insertInvite(api, squatter.home_group_id, { created_by: squatter.user_id });
    const open = [await requestReset(api, squatter.email), await requestLoginCode(api, squatter.email)];
    const device_id = randomUUID();
    const answer = await logInByCode(api, await requestLoginCode(api, squatter.email), { device_id });
    expect(answer.status).toBe(200);
    const user = await stored(squatter);
    expect(user).toMatchObject({ email_verified_at: expect.any(Date), is_password_void: true, passkeys: [] });
    expect([user?.totp, user?.recovery_codes, user?.known_devices]).toEqual([undefined, undefined, [device_id]]);
    expect(await live(squatter)).toBe(1);
    const ended = { event: 'session.revoked', session_id: squatter.session_id, reason: 'password_changed' };
    expect(log.takeEvents()).toContainEqual(expect.objectContaining(ended));
    const { session_id } = answer.json.data;
    expect(await api.collections.sessions.findOne({ _id: session_id })).toMatchObject({ is_revoked: false });
    expect((await api.collections.sessions.findOne({ _id: squatter.session_id }))?.is_revoked).toBe(true);
    expect((await api.findAccount(bearer(squatter))).status).toBe(401);
    expect([await byPassword(squatter.email), (await logInByPasskey(api, authenticator)).status]).toEqual([401, 403]);
    expect((await api.collections.invites.findOne({ _id: invite }))?.revoked_at).toEqual(expect.any(Date));
    for (const challenge_id of open) {
      expect((await api.collections.challenges.findOne({ _id: challenge_id }))?.ended_at).toEqual(expect.any(Date));
    }
  });

  test('the first proof of an email address is announced by events and a notification', async () => {
    const account = await registerAccount(api);
    await logInByCode(api, await requestLoginCode(api, account.email));
    const rows = await api.collections.outbox.find({ 'event.subject': account.user_id }).sort({ _id: 1 }).toArray();
    const announced = rows.map(({ event }) => [event.type.split('.').at(-1), event.data] as const);
    expect(announced).toEqual(
      expect.arrayContaining([
        ['password_changed', expect.objectContaining({ reason: 'login' })],
        ['notice', expect.objectContaining({ purpose: 'password_changed', invites_revoked: 0 })],
        ['email_verified', expect.anything()],
      ]),
    );
  });

  test('an email address is proved for the first time once: the next login leaves the new password alone', async () => {
    const account = await registerAccount(api);
    await logInByCode(api, await requestLoginCode(api, account.email));
    await confirmReset(api, await requestReset(api, account.email), { new_password: password });
    expect((await logInByCode(api, await requestLoginCode(api, account.email))).status).toBe(200);
    expect([await byPassword(account.email), (await stored(account))?.is_password_void]).toEqual([200, false]);
  });

  test('a login by code leaves the password alone if the email address is proved between the check and the session', async () => {
    const account = await registerAccount(api);
    const challenge = await requestLoginCode(api, account.email);
    const appName = 'login-code';
    const uri = new URL(testEnvironment().mongodbUri);
    uri.searchParams.set('appName', appName);
    const other = await api.beside({ MONGODB_URI: uri.href });
    // The other api begins its transaction again and again.
    const command = { failCommands: ['findAndModify', 'update'], namespace: `${api.database}.users`, appName };
    const again = { ...command, errorCode: 112, errorLabels: ['TransientTransactionError'] };
    const { loggingIn } = await withFailPoint(api.mongo, 'alwaysOn', again, async (entered) => {
      const loggingIn = logInByCode(other, challenge);
      await entered();
      await verify(account);
      return { loggingIn };
    });
    expect((await loggingIn).status).toBe(200);
    await other.close();
    expect([await byPassword(account.email), (await stored(account))?.is_password_void ?? false]).toEqual([200, false]);
  });

  test('either a login by code or a simultaneous verification is the first proof; a verified account keeps its password', async () => {
    for (let round = 0; round < 8; round += 1) {
      const session = await newSession(api, { device_id: randomUUID() });
      const proofOf = async (challenge_id: string) => ({ challenge_id, code: await codeOf(api, challenge_id) });
      const confirming = await proofOf(await requestVerification(api, session));
      const loggingIn = await proofOf(await requestLoginCode(api, session.email));
      const [verification] = await Promise.all([api.confirmEmailVerification(confirming), api.logInByCode(loggingIn)]);
      const filter = { 'event.type': 'service.auth.events.email_verified', 'event.data.user_id': session.user_id };
      expect(await api.collections.outbox.countDocuments(filter)).toBe(1);
      expect((await stored(session))?.is_password_void ?? false).toBe(verification.status !== 200);
    }
  });

  test('the first proof of an email address replaces the session of the same device by one with a greater id', async () => {
    const device_id = randomUUID();
    const account = await newSession(api, { device_id });
    const { json } = await logInByCode(api, await requestLoginCode(api, account.email), { device_id });
    expect(json.data.session_id > account.session_id).toBe(true);
    expect(await live(account)).toBe(1);
  });

  test('the first proof of an email address changes nothing if the account may not log in', async () => {
    const account = await newSession(api);
    await api.collections.users.updateOne({ _id: account.user_id }, { $set: { disabled_at: new Date() } });
    const answer = await logInByCode(api, await requestLoginCode(api, account.email));
    expect(statusAndCode(answer)).toEqual([403, 'ERR-ACCOUNT-DISABLED']);
    expect(await stored(account)).not.toHaveProperty('email_verified_at');
    expect(await live(account)).toBe(1);
  });
});

test('an account that has only its mailbox steps up by a mailed code', async () => {
  const { email } = await registerAccount(api);
  const { json } = await logInByCode(api, await requestLoginCode(api, email));
  const caller = bearer(json.data);
  const asked = await api.createStepUpChallenge({ purpose: 'export' }, caller);
  expect(asked.json.data.methods).toEqual(['email_code']);
});

test('a login by code verifies the email address where a verified one is needed', async () => {
  const strict = await startTestApi({ REQUIRE_VERIFIED_EMAIL: 'true' });
  try {
    const { email } = await registerAccount(strict);
    expect((await logInByCode(strict, await requestLoginCode(strict, email))).status).toBe(200);
  } finally {
    await strict.close();
  }
});

test('a code makes its network known only without a second factor', async () => {
  const network = { 'X-Forwarded-For': '203.0.113.7' };
  const account = await guarded();
  const pendingLogin = await logInByCode(api, await requestLoginCode(api, account.email), {}, network);
  expect(pendingLogin.json.error_code).toBe('ERR-SECOND-FACTOR-REQUIRED');
  // Five wrong factors from this network use up the tries of unknown devices, because it is not known.
  const wrong = { method: 'recovery_code', code: 'WRONG'.repeat(5) };
  const there = withHeaders(api, network);
  for (let sent = 0; sent < 5; sent += 1) await completeLogin(there, pendingLogin.json.details.challenge_id, wrong);
  const unknown = withHeaders(api, { 'X-Forwarded-For': '203.0.113.8' });
  expect((await completeLogin(unknown, pendingLogin.json.details.challenge_id, wrong)).status).toBe(429);
});

test('a code makes its device and network known to the limits of logins, and a first proof forgets all others', async () => {
  const aDay = { LOGIN_ACCOUNT_FREE_FAILURES: '1000', LOGIN_ACCOUNT_FAILURES_PER_DAY: '5' };
  const strict = await startTestApi({ ...aDay, TRUST_PROXY_HOPS: '1' });
  try {
    for (const email_verified_at of [new Date(0), undefined]) {
      const at = (address: string): Record<string, string> => ({ 'X-Forwarded-For': address });
      const registrar = at(email_verified_at ? '192.0.2.5' : '192.0.2.6');
      const { email, user_id } = await registerAccount(withHeaders(strict, registrar));
      if (email_verified_at)
        await strict.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at } });
      const device = newDevice();
      const [home, elsewhere] = [at('203.0.113.9'), at('198.51.100.7')];
      await logInByCode(strict, await requestLoginCode(strict, email), {}, { ...home, ...device });
      const guess = async (headers = elsewhere) =>
        (await strict.logIn({ email, password: 'a wrong password' }, headers)).status;
      for (let sent = 0; sent < 5; sent += 1) expect(await guess()).toBe(401);
      expect([await guess(), await guess({ ...elsewhere, ...device }), await guess(home)]).toEqual([429, 401, 401]);
      // Whoever registered the email address may be somebody else, until it is proved.
      expect(await guess(registrar)).toBe(email_verified_at ? 401 : 429);
    }
    const { email, user_id, recovery_codes } = await guardedAccount(strict, Date.now());
    await strict.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date(0) } });
    const device_id = randomUUID();
    const pendingLogin = await logInByCode(strict, await requestLoginCode(strict, email), { device_id });
    const proof = { method: 'recovery_code', code: recovery_codes[0], trust_device: true };
    const { json } = await completeLogin(strict, pendingLogin.json.details.challenge_id, proof);
    const { trusted_device_token } = json.data;
    const cafe = { 'X-Forwarded-For': '203.0.113.10' };
    const trusted = { device_id, trusted_device_token };
    expect((await logInByCode(strict, await requestLoginCode(strict, email), trusted, cafe)).status).toBe(200);
    const guess = async (address: string) =>
      (await strict.logIn({ email, password: 'a wrong password' }, { 'X-Forwarded-For': address })).status;
    for (let sent = 0; sent < 5; sent += 1) await guess('198.51.100.7');
    // The trust in the device has replaced the second factor, and trust is not of a network.
    expect(await guess(cafe['X-Forwarded-For'])).toBe(429);
  } finally {
    await strict.close();
  }
});

test('the audit log has each step of a login by code, and no code', async () => {
  const account = await registerAccount(api);
  const challenge_id = await requestLoginCode(api, account.email);
  const [wrong, code] = [await wrongCodeOf(api, challenge_id), await codeOf(api, challenge_id)];
  await logInByCode(api, challenge_id, { code: wrong });
  const { json } = await logInByCode(api, challenge_id, { code, device_id: randomUUID() });
  const { session_id } = json.data;
  const { user_id } = account;
  const lines = log.takeEvents().filter((line) => line.user_id === user_id);
  expect(lines.slice(1)).toMatchObject([
    { event: 'code.requested', purpose: 'login' },
    { event: 'code.failed', purpose: 'login', reason: 'wrong' },
    { event: 'login.succeeded', session_id, method: 'email_code' },
    { event: 'code.confirmed', purpose: 'login' },
    { event: 'account.address_proved', invites_revoked: 0 },
  ]);
  expect(JSON.stringify(lines)).not.toContain(code);
  await expect(logIn(api, account.email)).rejects.toThrow('401');
});

test('without EMAIL_CODE_LOGIN the paths of logins by code answer 404', async () => {
  const off = await startTestApi({ EMAIL_CODE_LOGIN: 'false' });
  try {
    const { email } = await registerAccount(off);
    const body = { challenge_id: randomUUID(), code: '00000000' };
    const sent = [
      await off.requestLoginCode({ email }),
      await off.resendLoginCode({ challenge_id: randomUUID() }),
      await off.logInByCode(body),
      // There is no path whose body could be wrong.
      await off.requestLoginCode({}),
    ];
    expect(sent.map(statusAndCode)).toEqual(Array(4).fill([404, 'ERR-ROUTE-NOT-FOUND']));
    expect(await requestVerification(off, await logIn(off, email))).toEqual(expect.any(String));
  } finally {
    await off.close();
  }
});
