import { randomUUID } from 'node:crypto';
import type { AuthEvent } from '@auth-account/contracts/events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, newSession, password, type TokenPair } from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import {
  beginLogin,
  beginTotp,
  codeAt,
  completeLogin,
  type GuardedAccount,
  guardedAccount,
  orderRemoval,
  stepUpBy,
  wrongCodeFor,
} from '../support/api/second-factor.ts';
import { challengeStepUp, confirmStepUp } from '../support/api/step-up.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';
import { type Line, recordLog } from '../support/recorded-log.ts';

const log = recordLog('api');
let api: TestApi;
let shiftMs = 0;
const now = () => Date.now() + shiftMs;
beforeAll(async () => {
  api = await startTestApi({ TOTP_ISSUER: 'Food storage' }, { now }, log.logger);
});
afterAll(() => api.close());

const recoveryCode = /^([A-Z2-7]{5}-){4}[A-Z2-7]{5}$/;
const isUuid = expect.stringMatching(/^[\da-f]{8}-/);
const isTime = expect.stringMatching(/^\d{4}-.*Z$/);
const proof = { current_password: password };

const factorsOf = async (caller: TokenPair) => (await api.findFactors(bearer(caller))).json.data;
const confirm = (caller: TokenPair, body: object) => api.confirmTotp(body, bearer(caller));
/** Lets the authenticator app show a code that was not used yet. */
const nextCode = (secret: string) => {
  shiftMs += 30_000;
  return codeAt(secret, now());
};
const switchOff = (caller: TokenPair, body: object = proof) => api.deleteTotp(body, bearer(caller));
const newCodes = (caller: TokenPair, body: object = proof) => api.createRecoveryCodes(body, bearer(caller));
/** Returns the body with a step-up token by the next code. */
const tokenOf = async (caller: TokenPair, secret: string, purpose: string) => ({
  step_up_token: await stepUpBy(api, caller, purpose, nextCode(secret)),
});
const isLive = async (caller: TokenPair) => (await factorsOf(caller)) !== undefined;
const stored = async ({ user_id }: { readonly user_id: string }) => api.collections.users.findOne({ _id: user_id });

/** Returns what the audit log has of second factors since the last call. */
const audited = (): Line[] => log.takeEvents().filter(({ event }) => /factor|recovery/.test(`${event}`));

/** Returns the events about the second factor of an account, with the notifications. */
async function eventsOf({ user_id }: { readonly user_id: string }): Promise<AuthEvent['data'][]> {
  const rows = await api.collections.outbox.find({ 'event.data.user_id': user_id }).sort({ _id: 1 }).toArray();
  const events = rows.map(({ event }) => event).filter(({ type }) => /second_factor|notice/.test(type));
  return events.map(({ data }) => data);
}

describe('an account without a second factor', () => {
  test('an account without a second factor has none of its parts', async () => {
    expect(await factorsOf(await newSession(api))).toEqual({
      totp: { confirmed_at: null },
      recovery_codes_left: 0,
      passkeys: 0,
      trusted_devices: [],
      removal: null,
      timestamp: isTime,
    });
  });

  test('an account without a second factor can switch it off and ask for recovery codes: nothing happens', async () => {
    const session = await newSession(api);
    const other = await logIn(api, session.email);
    expect((await switchOff(session)).json.data).toMatchObject({ message: 'TOTP_DELETED', sessions_ended: 0 });
    expect((await newCodes(session)).json.data.recovery_codes).toEqual([]);
    expect([await isLive(other), await eventsOf(session)]).toEqual([true, []]);
  });
});

describe('an authenticator app', () => {
  test('an authenticator app gets a seed of 160 bits, as text and as the content of a QR code', async () => {
    const session = await newSession(api);
    const { status, json, headers } = await api.createTotp(proof, bearer(session));
    const { secret } = json.data;
    expect([status, headers['cache-control']]).toEqual([201, 'no-store']);
    expect(json.data).toEqual({
      factor_id: isUuid,
      secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      otpauth_uri: `otpauth://totp/Food%20storage:${encodeURIComponent(session.email)}?secret=${secret}&issuer=Food%20storage`,
      expires_at: isTime,
      timestamp: isTime,
    });
    expect(Date.parse(json.data.expires_at) - Date.parse(json.data.timestamp)).toBe(3_600_000);
  });

  test('an authenticator app is not needed until it is confirmed', async () => {
    const session = await newSession(api);
    await beginTotp(api, session);
    await logIn(api, session.email);
    expect(await factorsOf(session)).toMatchObject({ totp: { confirmed_at: null }, recovery_codes_left: 0 });
  });

  test('an authenticator app is not added without the password', async () => {
    const session = await newSession(api);
    const { status, json } = await api.createTotp({ current_password: 'wrong' }, bearer(session));
    expect([status, json.error_code]).toEqual([403, 'ERR-REAUTHENTICATION-FAILED']);
    expect((await stored(session))?.pending_totp).toBeUndefined();
  });
});

describe('a confirmation', () => {
  test('a confirmation switches the second factor on, and gives ten recovery codes', async () => {
    const session = await newSession(api);
    const { factor_id, secret } = await beginTotp(api, session);
    const at = now();
    const { status, json, headers } = await confirm(session, {
      factor_id: factor_id.toUpperCase(),
      code: codeAt(secret, at),
    });
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    const { recovery_codes, ...rest } = json.data;
    expect(rest).toEqual({ message: 'TOTP_CONFIRMED', sessions_ended: 0, timestamp: isTime });
    expect(recovery_codes).toEqual(Array(10).fill(expect.stringMatching(recoveryCode)));
    expect(await factorsOf(session)).toMatchObject({ totp: { confirmed_at: isTime }, recovery_codes_left: 10 });
    const { pending_totp, totp } = (await stored(session)) ?? {};
    expect([pending_totp, totp?.last_step]).toEqual([undefined, Math.floor(at / 30_000)]);
  });

  test('a confirmation ends all other sessions, and sends a notification and an event', async () => {
    const session = await newSession(api);
    const others = [await logIn(api, session.email), await logIn(api, session.email)];
    const { factor_id, secret } = await beginTotp(api, session);
    log.takeEvents();
    const { json } = await confirm(session, { factor_id, code: codeAt(secret, now()) });
    expect(json.data.sessions_ended).toBe(2);
    const { user_id, session_id } = session;
    expect(audited()).toMatchObject([{ event: 'account.second_factor_on', user_id, session_id }]);
    const ended = await api.collections.sessions.find({ user_id, is_revoked: true }).toArray();
    expect(ended.map(({ revoked_reason }) => revoked_reason)).toEqual(['revoked_by_user', 'revoked_by_user']);
    expect([await isLive(session), ...(await Promise.all(others.map(isLive)))]).toEqual([true, false, false]);
    expect(await eventsOf(session)).toEqual([
      { user_id: session.user_id, changed_at: isTime, change: 'switched_on' },
      { user_id: session.user_id, purpose: 'second_factor_on', locale: 'en' },
    ]);
  });

  test('a confirmation with a wrong code changes nothing, and says how many tries are left', async () => {
    const session = await newSession(api, { device_id: randomUUID() });
    const { factor_id, secret } = await beginTotp(api, session);
    const answers: Answer[] = [];
    for (let i = 0; i < 6; i += 1)
      answers.push(await confirm(session, { factor_id, code: wrongCodeFor(secret, now()) }));
    const refusals = answers.map(({ status, json }) => [status, json.error_code, json.details?.tries_left]);
    expect(refusals.slice(0, 5)).toEqual([4, 3, 2, 1, 0].map((left) => [403, 'ERR-SECOND-FACTOR-INVALID', left]));
    expect(refusals[5]).toEqual([429, 'ERR-RATE-LIMITED', undefined]);
    const failed = { event: 'second_factor.failed', user_id: session.user_id, reason: 'totp' };
    expect(audited().slice(-5)).toMatchObject(Array(5).fill(failed));
    expect(await factorsOf(session)).toMatchObject({ totp: { confirmed_at: null } });
  });

  test.each([
    ['another id', async (session: TokenPair) => ({ ...(await beginTotp(api, session)), factor_id: randomUUID() })],
    [
      'an enrolment that was replaced',
      async (session: TokenPair) => {
        const first = await beginTotp(api, session);
        await beginTotp(api, session);
        return first;
      },
    ],
    ["another user's enrolment", async () => beginTotp(api, await newSession(api))],
    ['no enrolment', async () => ({ factor_id: randomUUID(), secret: 'A'.repeat(32) })],
  ])('a confirmation of %s answers 410', async (_, begin) => {
    const session = await newSession(api);
    const { factor_id, secret } = await begin(session);
    const { status, json } = await confirm(session, { factor_id, code: codeAt(secret, now()) });
    expect([status, json.error_code]).toEqual([410, 'ERR-CODE-EXPIRED']);
  });

  test('a confirmation counts once: a second one answers 410, and so does one after an hour', async () => {
    const session = await newSession(api);
    const first = await beginTotp(api, session);
    const body = { factor_id: first.factor_id, code: codeAt(first.secret, now()) };
    const both = await Promise.all([1, 2].map(() => confirm(session, body)));
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 410]);
    const other = await newSession(api);
    const late = await beginTotp(api, other);
    await api.collections.users.updateOne(
      { _id: other.user_id },
      { $set: { 'pending_totp.until': new Date(now() - 1) } },
    );
    const { status } = await confirm(other, { factor_id: late.factor_id, code: codeAt(late.secret, now()) });
    expect(status).toBe(410);
  });

  test('a confirmation answers 410 once the password was changed, as a thief may have begun it', async () => {
    const session = await newSession(api);
    const { factor_id, secret } = await beginTotp(api, session);
    const body = { current_password: password, new_password: 'three wrong staples' };
    expect((await api.changePassword(body, bearer(session))).status).toBe(200);
    const { status } = await confirm(session, { factor_id, code: codeAt(secret, now()) });
    expect(status).toBe(410);
  });

  test('a right confirmation takes no try away, and neither does an outage', async () => {
    const session = await newSession(api);
    const wrong = async () => {
      const { factor_id, secret } = await beginTotp(api, session);
      return confirm(session, { factor_id, code: wrongCodeFor(secret, now()) });
    };
    const { factor_id, secret } = await beginTotp(api, session);
    const body = { factor_id, code: codeAt(secret, now()) };
    const { pending_totp } = (await stored(session)) ?? {};
    const setKey = (kid = '') =>
      api.collections.users.updateOne({ _id: session.user_id }, { $set: { 'pending_totp.kid': kid } });
    // The key has not come to this api yet.
    await setKey('another');
    for (let i = 0; i < 6; i += 1) expect((await confirm(session, body)).status).toBe(503);
    await setKey(pending_totp?.kid);
    expect((await confirm(session, body)).status).toBe(200);
    expect((await switchOff(session, await tokenOf(session, secret, 'totp'))).status).toBe(200);
    expect((await wrong()).json.details.tries_left).toBe(4);
  });

  test.each([{ code: '12345' }, { code: '1234567' }, { code: 'abcdef' }, { code: 123_456 }, { factor_id: 'none' }])(
    'a confirmation with %j answers 422',
    async (change) => {
      const session = await newSession(api);
      const { factor_id, secret } = await beginTotp(api, session);
      const { status } = await confirm(session, { factor_id, code: codeAt(secret, now()), ...change });
      expect(status).toBe(422);
    },
  );
});

describe('an account that is gone', () => {
  test('an account that is gone has no factors, and gets none', async () => {
    const session = await newSession(api);
    await api.collections.users.deleteOne({ _id: session.user_id });
    const gone = { status: 401, json: { error_code: 'IAD_JWT_ACCESS_INVALID' } };
    expect(await api.findFactors(bearer(session))).toMatchObject(gone);
    expect(await confirm(session, { factor_id: randomUUID(), code: '000000' })).toMatchObject(gone);
  });
});

describe('a second factor that is on', () => {
  const account = () => guardedAccount(api, now());
  const tokenFor = (guarded: GuardedAccount, purpose: string) => tokenOf(guarded, guarded.secret, purpose);

  test('an outage is no wrong factor: the tries stay', async () => {
    const guarded = await account();
    const challenge = await challengeStepUp(api, guarded, 'export');
    const by = (method: string, code = '') => confirmStepUp(api, guarded, challenge, { method, code });
    const setKey = (kid = '') =>
      api.collections.users.updateOne({ _id: guarded.user_id }, { $set: { 'totp.kid': kid } });
    const { totp } = (await stored(guarded)) ?? {};
    await setKey('another');
    for (let i = 0; i < 3; i += 1) {
      expect((await by('totp', nextCode(guarded.secret))).status).toBe(503);
    }
    await setKey(totp?.kid);
    expect((await by('totp', wrongCodeFor(guarded.secret, now()))).json.details.tries_left).toBe(4);
  });

  test('the ordered removal of a second factor is shown', async () => {
    const guarded = await account();
    const due = await orderRemoval(api, guarded.email);
    expect((await factorsOf(guarded)).removal).toEqual({ due_at: due.toISOString() });
  });

  // guarantees: no-password-alone
  test('the password is not enough while the second factor is on: a step-up by the factor is', async () => {
    const guarded = await account();
    const { status, json } = await switchOff(guarded);
    expect([status, json.error_code]).toEqual([403, 'ERR-STEP-UP-REQUIRED']);
    expect(json.details).toMatchObject({ methods: ['totp', 'recovery_code'], max_age: 300 });
    expect((await switchOff(guarded, await tokenFor(guarded, 'recovery_codes'))).status).toBe(403);
    expect((await switchOff(guarded, await tokenFor(guarded, 'totp'))).status).toBe(200);
  });

  test('a step-up takes a recovery code, and no code twice', async () => {
    const guarded = await account();
    const [code = ''] = guarded.recovery_codes;
    const by = async (method: string, given: string) =>
      confirmStepUp(api, guarded, await challengeStepUp(api, guarded, 'export'), { method, code: given });
    expect((await by('recovery_code', code)).status).toBe(200);
    expect((await by('recovery_code', code)).json.error_code).toBe('ERR-SECOND-FACTOR-INVALID');
    expect((await by('totp', guarded.code)).json.error_code).toBe('ERR-SECOND-FACTOR-INVALID');
    const next = nextCode(guarded.secret);
    expect((await by('totp', next)).status).toBe(200);
    expect((await by('totp', next)).json.error_code).toBe('ERR-SECOND-FACTOR-INVALID');
    expect((await by('password', 'none')).status).toBe(403);
  });

  test('a switch-off of the second factor ends all other sessions, and removes all its parts', async () => {
    const guarded = await account();
    const challenge_id = await beginLogin(api, guarded.email, { device_id: randomUUID() });
    const other = await completeLogin(api, challenge_id, { code: nextCode(guarded.secret), trust_device: true });
    const token = await tokenFor(guarded, 'totp');
    log.takeEvents();
    const { json } = await switchOff(guarded, token);
    expect(json.data).toEqual({ message: 'TOTP_DELETED', sessions_ended: 1, timestamp: isTime });
    const own = { user_id: guarded.user_id, session_id: guarded.session_id };
    expect(audited()).toMatchObject([{ event: 'account.second_factor_off', ...own }]);
    expect([await isLive(guarded), await isLive(other.json.data)]).toEqual([true, false]);
    const { totp, pending_totp, recovery_codes, trusted_devices } = (await stored(guarded)) ?? {};
    expect([totp, pending_totp, recovery_codes, trusted_devices]).toEqual([undefined, undefined, undefined, undefined]);
    expect((await eventsOf(guarded)).slice(-2)).toEqual([
      { user_id: guarded.user_id, changed_at: isTime, change: 'switched_off' },
      { user_id: guarded.user_id, purpose: 'second_factor_off', locale: 'en' },
    ]);
    await logIn(api, guarded.email);
  });

  test('new recovery codes replace the earlier ones', async () => {
    const guarded = await account();
    const token = await tokenFor(guarded, 'recovery_codes');
    const other = await completeLogin(api, await beginLogin(api, guarded.email), { code: nextCode(guarded.secret) });
    log.takeEvents();
    const { status, json, headers } = await newCodes(guarded, token);
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    const own = { user_id: guarded.user_id, session_id: guarded.session_id };
    expect(audited()).toMatchObject([{ event: 'account.recovery_codes_created', ...own }]);
    expect(await isLive(other.json.data)).toBe(true);
    const codes: string[] = json.data.recovery_codes;
    expect(codes).toEqual(Array(10).fill(expect.stringMatching(recoveryCode)));
    const by = async (code = '') =>
      completeLogin(api, await beginLogin(api, guarded.email), { method: 'recovery_code', code });
    expect([(await by(guarded.recovery_codes[0])).status, (await by(codes[0])).status]).toEqual([403, 200]);
    expect((await eventsOf(guarded)).slice(-2)).toEqual([
      { user_id: guarded.user_id, changed_at: isTime, change: 'recovery_codes' },
      { user_id: guarded.user_id, purpose: 'recovery_codes', locale: 'en', recovery_codes_left: 10 },
    ]);
  });

  test('another authenticator app takes the place of the first when it is confirmed', async () => {
    const guarded = await account();
    const body = await tokenFor(guarded, 'totp');
    const { json } = await api.createTotp(body, bearer(guarded));
    const { factor_id, secret } = json.data;
    const logInWith = async (code: string) => completeLogin(api, await beginLogin(api, guarded.email), { code });
    expect((await logInWith(nextCode(guarded.secret))).status).toBe(200);
    expect((await confirm(guarded, { factor_id, code: nextCode(secret) })).status).toBe(200);
    expect((await logInWith(nextCode(guarded.secret))).status).toBe(403);
    expect((await logInWith(nextCode(secret))).status).toBe(200);
    expect(await eventsOf(guarded)).toContainEqual({
      user_id: guarded.user_id,
      changed_at: isTime,
      change: 'replaced',
    });
  });
});
