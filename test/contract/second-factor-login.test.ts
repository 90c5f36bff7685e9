import { randomUUID } from 'node:crypto';
import { routes } from '@auth-account/contracts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { logOut, newDevice, newSession, password, type TokenPair } from '../support/api/accounts.ts';
import { type ApiDriver, bearer, withHeaders } from '../support/api/api-driver.ts';
import { codeOf, logInByCode, requestLoginCode, requestReset } from '../support/api/codes.ts';
import { type DeviceKey, newDeviceKey } from '../support/api/device-key.ts';
import { refresh } from '../support/api/groups.ts';
import {
  beginLogin,
  codeAt,
  completeLogin,
  type GuardedAccount,
  guardedAccount,
  orderRemoval,
  switchOn,
  wrongCodeFor,
} from '../support/api/second-factor.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';
import { type Line, recordLog } from '../support/recorded-log.ts';

const log = recordLog('api');
let api: TestApi;
let shiftMs = 0;
const now = () => Date.now() + shiftMs;
const minuteMs = 60_000;
const dayMs = 86_400_000;
beforeAll(async () => {
  api = await startTestApi({ TRUST_PROXY_HOPS: '1' }, { now }, log.logger);
});
afterAll(() => api.close());

const isTime = expect.stringMatching(/^\d{4}-.*Z$/);
const refused = { status: 403, json: { error_code: 'ERR-SECOND-FACTOR-REQUIRED' } };
const over = { status: 410, json: { error_code: 'ERR-CODE-EXPIRED' } };
const invalid = { status: 403, json: { error_code: 'ERR-SECOND-FACTOR-INVALID' } };

const account = () => guardedAccount(api, now());
const login = (email: string, fields: object = {}) => api.logIn({ email, password, ...fields });
const claimsOf = ({ json }: Answer) => decodeJwt(json.data.access_token);
const stored = (user_id: string) => api.collections.users.findOne({ _id: user_id });
const sessionsOf = (user_id: string) => api.collections.sessions.countDocuments({ user_id, is_revoked: false });
/** Lets the authenticator app show a code that was not used yet. */
const nextCode = (secret: string) => {
  shiftMs += 30_000;
  return codeAt(secret, now());
};

/** Returns what the audit log has of an account's proofs since the last call. */
const audited = (user_id: string): Line[] =>
  log
    .takeEvents()
    .filter((line) => /factor|recovery|confirmed|trust/.test(`${line.event}`) && line.user_id === user_id);
let lastAddress = 0;
/** Returns a client from a network that nobody else uses. */
function unknownDevice(device: object = {}): ApiDriver {
  lastAddress += 1;
  return withHeaders(api, { 'X-Forwarded-For': `198.18.0.${lastAddress}`, ...device });
}
/** Completes a login somewhere, on a device with these headers, with a wrong code or with the given fields. */
async function guess({ email, secret }: GuardedAccount, device: object = {}, fields: object = {}): Promise<Answer> {
  const somewhere = unknownDevice(device);
  const challenge_id = await beginLogin(somewhere, email);
  return completeLogin(somewhere, challenge_id, { code: wrongCodeFor(secret, now()), ...fields });
}

/** Logs in with the next code. */
async function logInBy({ email, secret }: GuardedAccount, device: object = {}, fields: object = {}): Promise<Answer> {
  const challenge_id = await beginLogin(api, email, device);
  return completeLogin(api, challenge_id, { code: nextCode(secret), ...fields });
}

describe('a login to an account whose second factor is on', () => {
  // answers: better-auth GHSA-xg6x-h9c9-2m83, https://github.com/advisories/GHSA-xg6x-h9c9-2m83
  // A cached session counted before the second factor.
  test('a login with the right password gets a challenge and no session while the second factor is on', async () => {
    const { email, user_id } = await account();
    const { status, json, headers } = await login(email);
    expect([status, headers['cache-control']]).toEqual([403, 'no-store']);
    expect(json).toMatchObject({
      error_code: 'ERR-SECOND-FACTOR-REQUIRED',
      details: { challenge_id: expect.any(String), methods: ['totp', 'recovery_code'], expires_at: isTime },
    });
    expect(Date.parse(json.details.expires_at) - now()).toBeLessThanOrEqual(10 * minuteMs);
    expect(await sessionsOf(user_id)).toBe(1);
  });

  test('a login completed by a code of the app opens a session with both factors, and a refresh keeps them', async () => {
    const guarded = await account();
    const device = { device_id: randomUUID(), device_name: 'Pixel 9', platform: 'android' };
    const answer = await logInBy(guarded, device);
    expect([answer.status, answer.json.data.device_id]).toEqual([200, device.device_id]);
    expect(claimsOf(answer)).toMatchObject({ amr: ['pwd', 'otp', 'mfa'], acr: '2', device_id: device.device_id });
    expect(answer.json.data.trusted_device_token).toBeUndefined();
    expect((await stored(guarded.user_id))?.trusted_devices ?? []).toEqual([]);
    const { access_token } = await refresh(api, answer.json.data);
    expect(decodeJwt(access_token)).toMatchObject({ amr: ['pwd', 'otp', 'mfa'], acr: '2' });
    const session = await api.collections.sessions.findOne({ _id: answer.json.data.session_id });
    expect(session).toMatchObject({ device_name: 'Pixel 9', platform: 'android' });
  });

  test('the audit log has the factor of a login, and a code from the mailbox only if that came first', async () => {
    const guarded = await account();
    const { email, user_id, secret } = guarded;
    await api.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date(0) } });
    audited(user_id);
    await logInBy(guarded);
    await guess(guarded);
    expect(audited(user_id)).toMatchObject([
      { event: 'second_factor.succeeded', method: 'totp' },
      { event: 'second_factor.failed', reason: 'totp' },
    ]);
    const pendingLogin = await logInByCode(api, await requestLoginCode(api, email));
    audited(user_id);
    const answer = await completeLogin(api, pendingLogin.json.details.challenge_id, { code: nextCode(secret) });
    expect(claimsOf(answer)).toMatchObject({ amr: ['otp', 'mfa'], acr: '2' });
    expect(audited(user_id)).toMatchObject([
      { event: 'code.confirmed', purpose: 'login' },
      { event: 'second_factor.succeeded', method: 'totp' },
    ]);
  });

  test('logins with a second factor and without a device_id are those of one device', async () => {
    const guarded = await account();
    const { email, user_id } = guarded;
    const notifications = () =>
      api.collections.outbox.countDocuments({ 'event.data.user_id': user_id, 'event.data.purpose': 'new_device' });
    const ids = [(await logInBy(guarded)).json.data.device_id];
    const before = await notifications();
    for (let login = 0; login < 2; login += 1) ids.push((await logInBy(guarded)).json.data.device_id);
    const byRecoveryCode = { method: 'recovery_code', code: guarded.recovery_codes[0] };
    ids.push((await completeLogin(api, await beginLogin(api, email), byRecoveryCode)).json.data.device_id);
    expect([new Set(ids).size, await notifications()]).toEqual([4, before]);
    const { known_devices = [] } = (await stored(user_id)) ?? {};
    expect(known_devices.filter((name) => ids.includes(name) || name === 'unnamed')).toEqual(['unnamed']);
  });

  test('a login with a second factor needs the code of its method', async () => {
    const { email } = await account();
    const answer = await completeLogin(api, await beginLogin(api, email), {});
    expect(answer).toMatchObject({ status: 422, json: { details: [{ loc: ['body', 'code'] }] } });
  });

  test('one recovery code completes one login, in however many challenges it comes at once', async () => {
    const { email, user_id, recovery_codes } = await account();
    const challenges = [await beginLogin(api, email), await beginLogin(api, email), await beginLogin(api, email)];
    const fields = { method: 'recovery_code', code: recovery_codes[0] };
    const answers = await Promise.all(challenges.map((each) => completeLogin(api, each, fields)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403, 403]);
    expect(await sessionsOf(user_id)).toBe(2);
  });

  test('a recovery code completes a login, however it is typed, and each counts once', async () => {
    const { email, user_id, recovery_codes } = await account();
    const [first = '', second = ''] = recovery_codes;
    const by = async (code: string) =>
      completeLogin(api, await beginLogin(api, email), { method: 'recovery_code', code });
    expect(claimsOf(await by(first))).toMatchObject({ amr: ['pwd', 'otp', 'mfa'], acr: '2' });
    expect(await by(first)).toMatchObject(invalid);
    expect(await by(second.toLowerCase().replaceAll('-', ' \u2013\u00ad'))).toMatchObject({ status: 200 });
    expect((await stored(user_id))?.recovery_codes).toHaveLength(8);
  });

  test('a login takes a code as its app shows it, and what cannot be a code uses up no try', async () => {
    const { email, secret } = await account();
    const challenge_id = await beginLogin(api, email);
    for (const code of ['12345', '1234567', '12345x', '-']) {
      const answer = await completeLogin(api, challenge_id, { code });
      expect(answer).toMatchObject({ status: 422, json: { details: [{ loc: ['body', 'code'] }] } });
    }
    const wrong = await completeLogin(api, challenge_id, { code: wrongCodeFor(secret, now()) });
    expect(wrong.json.details).toMatchObject({ tries_left: 4 });
    const code = nextCode(secret).replace(/^\d{3}/, '$&\u00a0');
    expect((await completeLogin(api, challenge_id, { code })).status).toBe(200);
  });

  test('a notification is sent for each used recovery code once fewer than three are left', async () => {
    const { email, user_id, recovery_codes } = await account();
    const four = { recovery_codes: { $each: [], $slice: 4 } };
    await api.collections.users.updateOne({ _id: user_id }, { $push: four });
    for (const code of recovery_codes.slice(0, 4)) {
      const answer = await completeLogin(api, await beginLogin(api, email), { method: 'recovery_code', code });
      expect(answer.status).toBe(200);
    }
    const rows = await api.collections.outbox.find({ 'event.data.user_id': user_id }).sort({ _id: 1 }).toArray();
    const notifications = rows.flatMap(({ event }) =>
      event.type === 'service.auth.events.notice' && event.data.purpose === 'recovery_codes' ? [event.data] : [],
    );
    const expected = { user_id, purpose: 'recovery_codes', locale: 'en' };
    expect(notifications).toEqual([2, 1, 0].map((recovery_codes_left) => ({ ...expected, recovery_codes_left })));
    const lines = audited(user_id);
    const used = lines.filter(({ event }) => event === 'recovery_code.used');
    expect(used.map(({ recovery_codes_left }) => recovery_codes_left)).toEqual([3, 2, 1, 0]);
    const methods = lines.flatMap(({ event, method }) => (event === 'second_factor.succeeded' ? [method] : []));
    expect(methods.slice(-4)).toEqual(Array(4).fill('recovery_code'));
    expect((await login(email)).json.details.methods).toEqual(['totp']);
  });

  test('a login refuses a wrong code, and the code that has switched the second factor on', async () => {
    const session = await newSession(api);
    const { secret, code } = await switchOn(api, session, now());
    const challenge_id = await beginLogin(api, session.email);
    const wrong = await completeLogin(api, challenge_id, { code: wrongCodeFor(secret, now()) });
    expect(wrong).toMatchObject({ ...invalid, json: { ...invalid.json, details: { tries_left: 4 } } });
    expect(await completeLogin(api, challenge_id, { code })).toMatchObject(invalid);
    expect(await completeLogin(api, challenge_id, { code: nextCode(secret) })).toMatchObject({ status: 200 });
  });

  // answers: Keycloak CVE-2026-90997, https://github.com/keycloak/keycloak/issues/52834
  // The row count of a database let used TOTP codes and proofs pass as new.
  test('a login refuses a code that was used, and any earlier code', async () => {
    const { email, secret } = await account();
    const [one, other] = [await beginLogin(api, email), await beginLogin(api, email)];
    const code = codeAt(secret, now(), 1);
    expect(await completeLogin(api, one, { code })).toMatchObject({ status: 200 });
    expect(await completeLogin(api, other, { code })).toMatchObject(invalid);
    expect(await completeLogin(api, other, { code: codeAt(secret, now()) })).toMatchObject(invalid);
  });

  test.each([
    ['disabled', { disabled_at: new Date() }, 'ERR-ACCOUNT-DISABLED'],
    ['about to be deleted', { deletes_at: new Date(Date.now() + 400 * dayMs) }, 'ERR-ACCOUNT-DELETION-SCHEDULED'],
  ])('a login says after the right password that the account is %s', async (_, set, code) => {
    const { email, user_id, secret } = await account();
    const challenge_id = await beginLogin(api, email);
    await api.collections.users.updateOne({ _id: user_id }, { $set: set });
    expect((await login(email)).json.error_code).toBe(code);
    // A right code is no try, even if it opens no session.
    for (let i = 0; i < 6; i += 1) {
      const answer = await completeLogin(api, challenge_id, { code: nextCode(secret) });
      expect([answer.status, answer.json.error_code]).toEqual([403, code]);
    }
  });

  test('a login makes a device known by what it holds and not by its id: unknown devices do not use up its tries', async () => {
    const guarded = await account();
    const [bySecret, key] = [newDevice(), newDeviceKey()];
    const from = unknownDevice();
    const named = { device_id: guarded.device_id };
    const byName = async () =>
      completeLogin(from, await beginLogin(from, guarded.email, named), { code: wrongCodeFor(guarded.secret, now()) });
    const byKey = async (code: string) => {
      const somewhere = unknownDevice();
      const keyed = withHeaders(somewhere, { DPoP: key.prove({ path: routes.logIn.path, at: now() }) });
      return completeLogin(somewhere, await beginLogin(keyed, guarded.email), { code });
    };
    expect(await guess(guarded, bySecret, { code: nextCode(guarded.secret) })).toMatchObject({ status: 200 });
    expect(await byKey(nextCode(guarded.secret))).toMatchObject({ status: 200 });
    for (let i = 0; i < 5; i += 1) expect((await guess(guarded)).status).toBe(403);
    expect([(await guess(guarded)).status, (await byName()).status]).toEqual([429, 429]);
    expect((await guess(guarded, bySecret)).json.details.tries_left).toBe(4);
    expect((await byKey(wrongCodeFor(guarded.secret, now()))).json.details.tries_left).toBe(4);
  });
});

// guarantees: used-up-factors-are-mailed
test('the owner is mailed once in 24 hours when unknown devices have used up their tries', async () => {
  const guarded = await account();
  const { user_id } = guarded;
  const warnings = async () => {
    const { outbox } = api.collections;
    const rows = await outbox
      .find({ 'event.data.purpose': 'second_factor_guessed', 'event.subject': user_id })
      .toArray();
    for (const { event } of rows) {
      expect([event.type, event.data]).toEqual([
        'service.auth.events.notice',
        { user_id, purpose: 'second_factor_guessed', locale: 'en' },
      ]);
    }
    const lines = audited(user_id).filter(({ event }) => event === 'account.second_factor_guessed');
    return [rows.length, lines.length];
  };
  const guessAll = async () => {
    for (let i = 0; i < 5; i += 1) expect((await guess(guarded)).status).toBe(403);
  };
  for (let i = 0; i < 4; i += 1) await guess(guarded);
  expect(await warnings()).toEqual([0, 0]);
  await guess(guarded);
  expect(await warnings()).toEqual([1, 1]);
  shiftMs += dayMs - minuteMs;
  await guessAll();
  expect(await warnings()).toEqual([1, 0]);
  shiftMs += 15 * minuteMs;
  await guessAll();
  expect(await warnings()).toEqual([2, 1]);
});

describe('a challenge for the second factor', () => {
  // guarantees: one-session-per-proof
  test('a challenge answers the same request again for a minute, and no other', async () => {
    const { email, secret, recovery_codes } = await account();
    const challenge_id = await beginLogin(api, email, { device_id: randomUUID() });
    const request = { code: nextCode(secret), trust_device: true };
    const first = await completeLogin(api, challenge_id, request);
    const again = await completeLogin(api, challenge_id, request);
    expect([first.status, again.status]).toEqual([200, 200]);
    const { session_id, refresh_token, trusted_device_token } = first.json.data;
    expect(again.json.data).toMatchObject({ session_id, refresh_token, trusted_device_token });
    const [other = ''] = recovery_codes;
    const others = [
      { ...request, trust_device: false },
      { ...request, code: other, method: 'recovery_code' },
    ];
    for (const fields of others) expect(await completeLogin(api, challenge_id, fields)).toMatchObject(over);
    shiftMs += minuteMs;
    expect(await completeLogin(api, challenge_id, request)).toMatchObject(over);
  });

  test('a challenge is over once the factor is due to be removed, or its account is gone', async () => {
    const { email, user_id, secret } = await account();
    await orderRemoval(api, email);
    shiftMs += 72 * 60 * minuteMs - minuteMs;
    const [due, gone] = [await beginLogin(api, email), await beginLogin(api, email)];
    shiftMs += minuteMs;
    expect(await completeLogin(api, due, { code: nextCode(secret) })).toMatchObject(over);
    await api.collections.users.deleteOne({ _id: user_id });
    expect(await completeLogin(api, gone, { code: nextCode(secret) })).toMatchObject(over);
  });

  test('a challenge is over after ten minutes', async () => {
    const { email, secret } = await account();
    const challenge_id = await beginLogin(api, email);
    shiftMs += 10 * minuteMs;
    expect(await completeLogin(api, challenge_id, { code: nextCode(secret) })).toMatchObject(over);
  });

  test('a challenge that the service has not made answers 410', async () => {
    expect(await completeLogin(api, 'none', { code: '000000' })).toMatchObject(over);
  });

  test('a challenge ends when the sign-in methods change', async () => {
    const guarded = await account();
    const { email, secret } = guarded;
    const [one, other] = [await beginLogin(api, email), await beginLogin(api, email)];
    await api.collections.users.updateOne({ email }, { $set: { ways_changed_at: new Date(now()) } });
    expect(await completeLogin(api, one, { code: nextCode(secret) })).toMatchObject(over);
    await resetPassword(guarded);
    expect(await completeLogin(api, other, { code: nextCode(secret) })).toMatchObject(over);
  });
});

/** Resets the password to what it was. */
async function resetPassword({ email }: GuardedAccount): Promise<void> {
  const challenge_id = await requestReset(api, email);
  const body = { challenge_id, code: await codeOf(api, challenge_id), new_password: password };
  const { status } = await api.confirmPasswordReset(body);
  expect(status).toBe(200);
}

describe('a trusted device', () => {
  const trusted = async () => {
    const guarded = await account();
    const device = { device_id: randomUUID() };
    const answer = await logInBy(guarded, device, { trust_device: true });
    const { trusted_device_token } = answer.json.data;
    return { ...guarded, device, token: { ...device, trusted_device_token }, session: answer.json.data as TokenPair };
  };

  test('a trusted device logs in with its token and the password: one factor', async () => {
    const { email, token, session } = await trusted();
    const answer = await login(email, token);
    expect([answer.status, claimsOf(answer).amr, claimsOf(answer).acr]).toEqual([200, ['pwd'], '1']);
    const factors = await api.findFactors(bearer(answer.json.data));
    expect(factors.json.data.trusted_devices).toEqual([
      { device_id: session.device_id, trusted_at: isTime, trusted_until: isTime },
    ]);
  });

  test('a trusted device is shown with its session, as long as it is trusted', async () => {
    const { email, token, session, device, access_token } = await trusted();
    const shown = async () => {
      const list = await api.listSessions(bearer({ access_token }));
      const sessions: { readonly device_id: string; readonly trusted: boolean }[] = list.json.data.sessions;
      return sessions.map(({ device_id, trusted }) => [device_id === device.device_id, trusted]).toSorted();
    };
    const both = [
      [false, false],
      [true, true],
    ];
    expect(await shown()).toEqual(both);
    await login(email, token);
    expect(await shown()).toEqual(both);
    await api.deleteTrustedDevice({ device_id: session.device_id }, bearer({ access_token }));
    expect(await shown()).toEqual([
      [false, false],
      [true, false],
    ]);
  });

  test('a device is trusted no longer once its session was ended from another device', async () => {
    const { email, token, session, access_token } = await trusted();
    expect((await api.revokeSession({ session_id: session.session_id }, bearer({ access_token }))).status).toBe(200);
    expect(await login(email, token)).toMatchObject(refused);
  });

  test('a device is trusted no longer once another device has ended all sessions', async () => {
    const { email, token, access_token } = await trusted();
    const others = { except_current: true };
    expect((await api.logOutAll(others, bearer({ access_token }))).status).toBe(200);
    expect(await login(email, token)).toMatchObject(refused);
  });

  // guarantees: trust-ends-with-session
  test('a device is trusted no longer once an outdated refresh token of its session was used', async () => {
    const { email, token, session } = await trusted();
    await refresh(api, await refresh(api, session));
    shiftMs += 5 * minuteMs;
    const { json } = await api.refreshTokens({ refresh_token: session.refresh_token });
    expect(json.error_code).toBe('IAD_JWT_REFRESH_STOLEN');
    expect(await login(email, token)).toMatchObject(refused);
  });

  test('a device is trusted as before after a logout on it, of this session or of all', async () => {
    const { email, token, session } = await trusted();
    expect((await logOut(api, session)).status).toBe(200);
    const again = await login(email, token);
    expect(again.status).toBe(200);
    expect((await api.logOutAll({}, bearer(again.json.data))).status).toBe(200);
    expect((await login(email, token)).status).toBe(200);
  });

  test('a trusted device needs its token and its id, of this account', async () => {
    const [{ email, device, token }, other] = [await trusted(), await trusted()];
    const { trusted_device_token } = token;
    const wrong = [
      device,
      { trusted_device_token },
      { device_id: randomUUID(), trusted_device_token },
      { ...device, trusted_device_token: `${trusted_device_token}A` },
      other.token,
      { ...device, trusted_device_token: other.token.trusted_device_token },
    ];
    for (const fields of wrong) expect(await login(email, fields)).toMatchObject(refused);
    expect((await login(email, { ...token, password: 'wrong' })).status).toBe(401);
  });

  test('a trusted device needs the proof of its key too, if the login was bound to it', async () => {
    const { email, secret } = await account();
    const [key, other] = [newDeviceKey(), newDeviceKey()];
    const device = { device_id: randomUUID() };
    const logInWith = (proof: DeviceKey | undefined, fields: object) =>
      api.logIn(
        { email, password, ...device, ...fields },
        proof && { DPoP: proof.prove({ path: routes.logIn.path, at: now() }) },
      );
    const { challenge_id } = (await logInWith(key, {})).json.details;
    const { json } = await completeLogin(api, challenge_id, { code: nextCode(secret), trust_device: true });
    const { trusted_device_token } = json.data;
    for (const copied of [undefined, other])
      expect(await logInWith(copied, { trusted_device_token })).toMatchObject(refused);
    expect(await logInWith(key, { trusted_device_token })).toMatchObject({
      status: 200,
      json: { data: { bound: true } },
    });
  });

  test('a device is trusted also if its id was made up', async () => {
    const guarded = await account();
    const { json } = await logInBy(guarded, {}, { trust_device: true });
    const { device_id, trusted_device_token } = json.data;
    expect((await login(guarded.email, { device_id, trusted_device_token })).status).toBe(200);
  });

  test('a device is trusted for 30 days, whether it logs in or not', async () => {
    const { email, token } = await trusted();
    shiftMs += 29 * dayMs;
    expect((await login(email, token)).status).toBe(200);
    shiftMs += dayMs;
    expect(await login(email, token)).toMatchObject(refused);
  });

  test('a device is trusted no longer after a reset of the password', async () => {
    const guarded = await trusted();
    const verified = { $set: { email_verified_at: new Date(now()) } };
    await api.collections.users.updateOne({ _id: guarded.user_id }, verified);
    await resetPassword(guarded);
    expect(await login(guarded.email, guarded.token)).toMatchObject(refused);
  });

  test('a device is trusted no longer once its user says so', async () => {
    const { email, user_id, token, session } = await trusted();
    const end = (device_id: string) => api.deleteTrustedDevice({ device_id }, bearer(session));
    expect((await end(randomUUID())).status).toBe(200);
    expect(audited(user_id).at(-1)).toMatchObject({
      event: 'account.trust_ended',
      session_id: session.session_id,
    });
    const { status, json } = await end(session.device_id.toUpperCase());
    expect([status, json.data]).toEqual([
      200,
      { message: 'TRUST_ENDED', device_id: session.device_id, timestamp: isTime },
    ]);
    expect(await login(email, token)).toMatchObject(refused);
  });

  test('an account has 20 trusted devices at most: the first is forgotten', async () => {
    const { user_id, device, ...guarded } = await trusted();
    const [entry] = (await stored(user_id))?.trusted_devices ?? [];
    if (entry === undefined) throw new Error('no device is trusted');
    const others = Array.from({ length: 19 }, () => ({ ...entry, device_id: randomUUID() }));
    await api.collections.users.updateOne({ _id: user_id }, { $set: { trusted_devices: [entry, ...others] } });
    await logInBy({ ...guarded, user_id }, { device_id: others[0]?.device_id }, { trust_device: true });
    expect((await stored(user_id))?.trusted_devices).toHaveLength(20);
    await logInBy({ ...guarded, user_id }, { device_id: randomUUID() }, { trust_device: true });
    const devices = (await stored(user_id))?.trusted_devices?.map(({ device_id }) => device_id);
    expect([devices?.length, devices?.includes(device.device_id)]).toEqual([20, false]);
  });
});

describe('the known devices of an account with a second factor', () => {
  test('a device is known after the second factor, not after the password', async () => {
    const guarded = await account();
    const device = { device_id: randomUUID() };
    await beginLogin(api, guarded.email, device);
    expect((await stored(guarded.user_id))?.known_devices).not.toContain(device.device_id);
    await logInBy(guarded, device);
    expect((await stored(guarded.user_id))?.known_devices).toContain(device.device_id);
  });

  test('a device is not known after a restore', async () => {
    const { email, user_id, access_token } = await account();
    const device = { device_id: randomUUID() };
    await api.collections.users.updateOne({ _id: user_id }, { $set: { deletes_at: new Date(now() + dayMs) } });
    const { status } = await api.restoreAccount({ email, password, ...device }, bearer({ access_token }));
    expect(status).toBe(200);
    const user = await stored(user_id);
    expect(user?.known_devices).not.toContain(device.device_id);
    expect(user?.new_device_notices).toHaveLength(1);
    expect(await login(email, device)).toMatchObject(refused);
  });
});
