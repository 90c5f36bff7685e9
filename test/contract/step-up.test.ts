import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { newEmail, newSession, password } from '../support/api/accounts.ts';
import { bearer, type Caller, withHeaders } from '../support/api/api-driver.ts';
import { changeEmail, codeOf, wrongCodeOf } from '../support/api/codes.ts';
import { refresh } from '../support/api/groups.ts';
import {
  beginLogin,
  codeAt,
  completeLogin,
  type GuardedAccount,
  guardedAccount,
} from '../support/api/second-factor.ts';
import { askStepUp, challengeStepUp, confirmStepUp, stepUp, stepUpByMail } from '../support/api/step-up.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { type Line, recordLog } from '../support/recorded-log.ts';
import { createStoppableClock } from '../support/stoppable-clock.ts';

const log = recordLog('api');
const clock = createStoppableClock();
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ TRUST_PROXY_HOPS: '1' }, { now: clock.now }, log.logger);
});
afterAll(() => api.close());

const gone = { status: 401, json: { error_code: 'IAD_JWT_ACCESS_INVALID' } };
/** Returns what the audit log has of proofs since the last call. */
const proofs = (): Line[] =>
  log.takeEvents().filter(({ event }) => /step|factor|recovery|reauth|confirmed/.test(`${event}`));
const exportBy = (caller: Caller, body: object) => api.exportAccount(body, bearer(caller));
const revokePassword = (_id: string) => api.collections.users.updateOne({ _id }, { $set: { is_password_void: true } });
const refused = (methods = ['password']) => ({
  status: 403,
  json: { error_code: 'ERR-STEP-UP-REQUIRED', details: { methods, max_age: 300 } },
});

describe('a step-up token', () => {
  test('a step-up token takes the place of the password, once', async () => {
    const session = await newSession(api);
    const step_up_token = await stepUp(api, session, 'export');
    expect(await exportBy(session, { step_up_token })).toMatchObject({ status: 200 });
    expect(await exportBy(session, { step_up_token })).toMatchObject(refused());
  });

  test('20 simultaneous uses of a step-up token count once', async () => {
    const session = await newSession(api);
    const step_up_token = await stepUp(api, session, 'password');
    const change = () => api.changePassword({ step_up_token, new_password: 'three wrong staples' }, bearer(session));
    const answers = await Promise.all(Array.from({ length: 20 }, change));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test('a used step-up token is remembered until no further token of its challenge can come', async () => {
    const session = await newSession(api);
    const asked = (await askStepUp(api, session, 'export')).json.data;
    const { step_up_token } = (await confirmStepUp(api, session, asked.challenge_id)).json.data;
    const before = await api.collections.consumedProofs.find().toArray();
    expect(await exportBy(session, { step_up_token })).toMatchObject({ status: 200 });
    const ids = before.map(({ _id }) => _id);
    const consumed = await api.collections.consumedProofs.findOne({ _id: { $nin: ids } });
    // A token of the challenge's last moment, and clocks that are five minutes behind.
    const last = Date.parse(asked.expires_at) + 600_000;
    expect(consumed?.purge_at.getTime()).toBeGreaterThanOrEqual(last);
  });

  test('a step-up token does not count for another purpose, another session, another user, or as a challenge', async () => {
    const session = await newSession(api);
    const other = await newSession(api);
    const step_up_token = await stepUp(api, session, 'export');
    const internalService = (await api.logIn({ email: session.email, password })).json.data;
    const deletion = { step_up_token: await stepUp(api, session, 'deletion') };
    expect(await exportBy(session, deletion)).toMatchObject(refused());
    expect(await exportBy(internalService, { step_up_token })).toMatchObject(refused());
    expect(await exportBy(other, { step_up_token })).toMatchObject(refused());
    expect(await confirmStepUp(api, session, step_up_token)).toMatchObject({ status: 410 });
    expect(await exportBy(session, { step_up_token: await challengeStepUp(api, session, 'export') })).toMatchObject(
      refused(),
    );
    expect(await exportBy(session, { step_up_token })).toMatchObject({ status: 200 });
  });

  test('a step-up token and its challenge end with a change of the email address', async () => {
    const session = await newSession(api);
    const step_up_token = await stepUp(api, session, 'export');
    const challenge = await challengeStepUp(api, session, 'export');
    await changeEmail(api, session, newEmail());
    expect(await exportBy(session, { step_up_token })).toMatchObject(refused());
    expect(await confirmStepUp(api, session, challenge)).toMatchObject({
      status: 410,
      json: { error_code: 'ERR-CODE-EXPIRED' },
    });
  });

  test.each([
    ['step-up token does not count after five minutes', 300, 'step_up_token'],
    ['challenge for a step-up does not count after ten minutes', 600, 'challenge'],
  ])('a %s', async (_, seconds, which) => {
    let ms = Date.now();
    const timed = await startTestApi({ ACCESS_TOKEN_TTL_SECONDS: '3600' }, { now: () => ms });
    try {
      const session = await newSession(timed);
      const challenge = await challengeStepUp(timed, session, 'export');
      const step_up_token = await stepUp(timed, session, 'export');
      ms += seconds * 1_000;
      const answer = await (which === 'challenge'
        ? confirmStepUp(timed, session, challenge)
        : timed.exportAccount({ step_up_token }, bearer(session)));
      expect(answer.status).toBe(which === 'challenge' ? 410 : 403);
    } finally {
      await timed.close();
    }
  });
});

test('a step-up token that is only looked at can still be used, and must count too', async () => {
  const session = await newSession(api);
  const step_up_token = await stepUp(api, session, 'passkeys');
  const look = (body: object) => api.createPasskeyChallenge(body, bearer(session));
  expect([await look({ step_up_token }), await look({ step_up_token })]).toMatchObject([
    { status: 200 },
    { status: 200 },
  ]);
  expect(await look({ step_up_token: await stepUp(api, session, 'export') })).toMatchObject(refused());
});

describe('an account or a session that is gone', () => {
  test('an account that is gone gets no step-up, and its password opens nothing', async () => {
    const session = await newSession(api);
    const challenge = await challengeStepUp(api, session, 'export');
    await api.collections.users.deleteOne({ _id: session.user_id });
    expect(await askStepUp(api, session, 'export')).toMatchObject(gone);
    expect(await confirmStepUp(api, session, challenge)).toMatchObject(gone);
    expect(await exportBy(session, { current_password: password })).toMatchObject(gone);
  });

  test.each(['ended', 'gone'])('a step-up renews no session that has %s', async (how) => {
    const guarded = await guardedAccount(api);
    const { sessions } = api.collections;
    const _id = guarded.session_id;
    const end = () =>
      how === 'gone' ? sessions.deleteOne({ _id }) : sessions.updateOne({ _id }, { $set: { is_revoked: true } });
    const [used, unused] = [
      await challengeStepUp(api, guarded, 'session'),
      await challengeStepUp(api, guarded, 'session'),
    ];
    const [first = '', second = ''] = guarded.recovery_codes;
    const by = (challenge: string, code: string) =>
      confirmStepUp(api, guarded, challenge, { method: 'recovery_code', code });
    expect(await by(used, first)).toMatchObject({ status: 200 });
    await end();
    expect(await by(used, first)).toMatchObject(gone);
    expect(await by(unused, second)).toMatchObject(gone);
  });
});

describe('a step-up', () => {
  test('the audit log has a step-up with its method, and a wrong password', async () => {
    const session = await newSession(api);
    const { user_id, session_id } = session;
    const challenge = await challengeStepUp(api, session, 'export');
    log.takeEvents();
    await confirmStepUp(api, session, challenge, { password: 'wrong password' });
    await confirmStepUp(api, session, challenge);
    expect(proofs()).toMatchObject([
      { event: 'reauthentication.failed', user_id, session_id },
      { event: 'account.stepped_up', user_id, session_id, method: 'password' },
    ]);
  });

  test('a step-up by a wrong password is refused and counted like any wrong password of the session', async () => {
    const session = await newSession(api);
    const challenge = await challengeStepUp(api, session, 'export');
    const guess = (given: string) => confirmStepUp(api, session, challenge, { password: given });
    await clock.stopped(async () => {
      for (let i = 0; i < 5; i += 1) {
        expect(await guess('wrong password')).toMatchObject({
          status: 403,
          json: { error_code: 'ERR-REAUTHENTICATION-FAILED' },
        });
      }
      expect(await guess(password)).toMatchObject({ status: 429 });
      expect(await exportBy(session, { current_password: password })).toMatchObject({ status: 429 });
    });
  });

  test('a step-up needs the field of its method', async () => {
    const session = await newSession(api);
    const answer = await confirmStepUp(api, session, await challengeStepUp(api, session, 'export'), {
      password: undefined,
    });
    expect(answer).toMatchObject({ status: 422, json: { details: [{ loc: ['body', 'password'] }] } });
    await revokePassword(session.user_id);
    const mailed = await confirmStepUp(api, session, await challengeStepUp(api, session, 'export'), {
      method: 'email_code',
    });
    expect(mailed).toMatchObject({ status: 422, json: { details: [{ loc: ['body', 'code'] }] } });
    const fields = ['current_password', 'step_up_token'];
    const neither = { status: 422, json: { details: fields.map((field) => ({ loc: ['body', field] })) } };
    expect(await exportBy(session, {})).toMatchObject(neither);
  });

  test('a step-up for the session gives a newer proof to its tokens, and refreshes keep it', async () => {
    const session = await newSession(api);
    const earlier = new Date(Date.now() - 3_600_000);
    const proof = { at: earlier, amr: ['pwd'], acr: '1' } as const;
    await api.collections.sessions.updateOne({ _id: session.session_id }, { $set: { auth: proof } });
    const old = await refresh(api, session);
    const claims = decodeJwt(old.access_token);
    expect(claims).toMatchObject({ auth_time: Math.floor(earlier.getTime() / 1_000), amr: ['pwd'], acr: '1' });
    const { data } = (await confirmStepUp(api, old, await challengeStepUp(api, old, 'session'))).json;
    expect(data).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 600,
      timestamp: expect.any(String),
    });
    const renewed = decodeJwt<{ auth_time: number }>(data.access_token);
    expect(renewed.auth_time).toBeGreaterThan(Math.floor(earlier.getTime() / 1_000));
    expect(renewed).toMatchObject({ sid: session.session_id, jti: expect.not.stringMatching(String(claims.jti)) });
    expect(renewed).toMatchObject({ amr: ['pwd'], acr: '1' });
    const later = decodeJwt((await refresh(api, old)).access_token);
    expect(later).toMatchObject({ auth_time: renewed.auth_time });
  });

  test('an account without a usable password steps up by a mailed code', async () => {
    const session = await newSession(api);
    await revokePassword(session.user_id);
    const asked = await askStepUp(api, session, 'password');
    expect(asked.json.data.methods).toEqual(['email_code']);
    const sent = await api.collections.challenges.findOne({ user_id: session.user_id, purpose: 'step_up' });
    const challengeId = String(sent?._id);
    const confirm = (code: string, fields = {}) =>
      confirmStepUp(api, session, asked.json.data.challenge_id, { method: 'email_code', code, ...fields });
    expect(await confirm('00000000', { method: 'password', password })).toMatchObject(refused(['email_code']));
    expect(await confirm(await wrongCodeOf(api, challengeId))).toMatchObject({
      status: 403,
      json: { error_code: 'ERR-CODE-INVALID', details: { tries_left: 4 } },
    });
    const code = await codeOf(api, challengeId);
    log.takeEvents();
    const { step_up_token } = (await confirm(code)).json.data;
    expect(await confirm(code)).toMatchObject({ status: 200 });
    const { user_id } = session;
    expect(proofs()).toMatchObject([
      { event: 'code.confirmed', user_id, purpose: 'step_up' },
      { event: 'account.stepped_up', user_id, method: 'email_code' },
    ]);
    expect(await exportBy(session, { current_password: password })).toMatchObject(refused(['email_code']));
    const body = { step_up_token, new_password: 'three wrong staples' };
    expect(await api.changePassword(body, bearer(session))).toMatchObject({ status: 200 });
    expect((await askStepUp(api, session, 'export')).json.data.methods).toEqual(['password']);
  });

  test('a step-up by a mailed code is one factor', async () => {
    const session = await newSession(api);
    await revokePassword(session.user_id);
    const { access_token } = await stepUpByMail(api, session, 'session');
    expect(decodeJwt(access_token)).toMatchObject({ amr: ['otp'], acr: '1' });
  });

  test('a step-up gets a mailed code even if unknown devices, or other devices of the owner, have used up theirs', async () => {
    const [home, away, unknownDevice] = ['198.51.100.1', '198.51.100.2', '198.51.100.3'];
    const from = (address = '') => withHeaders(api, { 'X-Forwarded-For': address });
    const session = await newSession(from(home));
    await revokePassword(session.user_id);
    const ask = async (address: string | undefined) => (await askStepUp(from(address), session, 'export')).status;
    const consumed: number[] = [];
    while (consumed.at(-1) !== 429)
      consumed.push((await from(unknownDevice).requestPasswordReset({ email: session.email })).status);
    expect(await ask(away)).toBe(200);
    await api.collections.users.updateOne({ _id: session.user_id }, { $set: { email_verified_at: new Date() } });
    for (consumed.splice(0); consumed.at(-1) !== 429; ) consumed.push(await ask(away));
    expect(await ask(home)).toBe(200);
  });
});

describe('a step-up while the second factor is on', () => {
  const byTotp = async (account: GuardedAccount, purpose: string, fields = {}) =>
    confirmStepUp(api, account, await challengeStepUp(api, account, purpose), {
      method: 'totp',
      code: codeAt(account.secret, Date.now(), 1),
      ...fields,
    });

  test('a password is not enough while the second factor is on, and is not even compared', async () => {
    const account = await guardedAccount(api);
    const both = ['totp', 'recovery_code'];
    for (const current_password of [password, 'wrong password']) {
      expect(await exportBy(account, { current_password })).toMatchObject(refused(both));
    }
    const challenge = await challengeStepUp(api, account, 'export');
    expect(await confirmStepUp(api, account, challenge)).toMatchObject(refused(both));
  });

  test('a code of the app steps up once, and logs nobody in afterwards', async () => {
    const account = await guardedAccount(api);
    const code = codeAt(account.secret, Date.now(), 1);
    log.takeEvents();
    const { step_up_token } = (await byTotp(account, 'export', { code })).json.data;
    expect(await exportBy(account, { step_up_token })).toMatchObject({ status: 200 });
    const again = { status: 403, json: { error_code: 'ERR-SECOND-FACTOR-INVALID' } };
    expect(await byTotp(account, 'export', { code })).toMatchObject(again);
    const { user_id } = account;
    expect(proofs()).toMatchObject([
      { event: 'second_factor.succeeded', user_id, method: 'totp' },
      { event: 'account.stepped_up', user_id, method: 'totp' },
      { event: 'second_factor.failed', user_id, reason: 'totp' },
    ]);
    const challenge = await beginLogin(api, account.email);
    expect(await completeLogin(api, challenge, { code })).toMatchObject(again);
  });

  test('a repeated step-up gets the token of the same id again for a minute, and no other request does', async () => {
    let ms = Date.now();
    const timed = await startTestApi({}, { now: () => ms });
    try {
      const account = await guardedAccount(timed, ms);
      const challenge = await challengeStepUp(timed, account, 'export');
      const [code, other = ''] = [codeAt(account.secret, ms, 1), ...account.recovery_codes];
      const confirm = (fields: object) => confirmStepUp(timed, account, challenge, { method: 'totp', ...fields });
      const answers = await Promise.all(Array.from({ length: 5 }, () => confirm({ code })));
      ms += 59_000;
      answers.push(await confirm({ code }));
      expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
      const used: number[] = [];
      for (const { json } of answers) {
        const { step_up_token } = json.data;
        used.push((await timed.exportAccount({ step_up_token }, bearer(account))).status);
      }
      expect(used).toEqual([200, ...Array(5).fill(403)]);
      expect(await confirm({ method: 'recovery_code', code: other })).toMatchObject({ status: 410 });
      ms += 1_000;
      expect(await confirm({ code })).toMatchObject({ status: 410 });
    } finally {
      await timed.close();
    }
  });

  test('of different proofs that answer one challenge at once, one counts', async () => {
    const account = await guardedAccount(api);
    const challenge = await challengeStepUp(api, account, 'export');
    const confirm = (code: string) => confirmStepUp(api, account, challenge, { method: 'recovery_code', code });
    const answers = await Promise.all(account.recovery_codes.slice(0, 5).map((code) => confirm(code)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 410, 410, 410, 410]);
    expect((await api.collections.users.findOne({ _id: account.user_id }))?.recovery_codes).toHaveLength(9);
  });

  test('a repeated step-up for the session renews nothing a second time', async () => {
    const account = await guardedAccount(api);
    const challenge = await challengeStepUp(api, account, 'session');
    const fields = { method: 'totp', code: codeAt(account.secret, Date.now(), 1) };
    const confirm = () => confirmStepUp(api, account, challenge, fields);
    const proofOf = async () => (await api.collections.sessions.findOne({ _id: account.session_id }))?.auth;
    const first = await confirm();
    const proof = await proofOf();
    const again = await confirm();
    expect([first.status, again.status, await proofOf()]).toEqual([200, 200, proof]);
    const { auth_time, acr } = decodeJwt(first.json.data.access_token);
    expect(decodeJwt(again.json.data.access_token)).toMatchObject({ auth_time, acr });
  });

  test('a step-up for the session gives its tokens two factors', async () => {
    const account = await guardedAccount(api);
    expect(decodeJwt(account.access_token)).toMatchObject({ amr: ['pwd'], acr: '1' });
    const { access_token } = (await byTotp(account, 'session')).json.data;
    expect(decodeJwt(access_token)).toMatchObject({ sid: account.session_id, amr: ['otp', 'mfa'], acr: '2' });
  });
});
