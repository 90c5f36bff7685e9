import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, newSession, password } from '../support/api/accounts.ts';
import { bearer, type Caller } from '../support/api/api-driver.ts';
import { confirmReset, requestReset } from '../support/api/codes.ts';
import { newInvite } from '../support/api/invites.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { uniqueName } from '../support/test-environment.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ PASSWORD_BLOCKLIST: 'common' });
});
afterAll(() => api.close());

const next = 'three wrong staples';
const change = (caller: Caller, body: object = {}) =>
  api.changePassword({ current_password: password, new_password: next, ...body }, bearer(caller));
const login = (email: string, given: string) => api.logIn({ email, password: given });
const live = (user_id: string) => api.collections.sessions.find({ user_id, is_revoked: false }).toArray();

describe('a change of the password', () => {
  test('after a change of the password the new one logs in, and the old one does not', async () => {
    const { email, ...session } = await newSession(api);
    const answer = await change(session);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      status: 'success',
      data: { message: 'PASSWORD_CHANGED', sessions_ended: 0, timestamp: expect.any(String) },
    });
    expect((await login(email, password)).status).toBe(401);
    expect((await login(email, next)).status).toBe(200);
  });

  test('a change of the password leaves the invites that the account has made', async () => {
    const session = await newSession(api);
    const token = await newInvite(api, session);
    expect((await change(session)).status).toBe(200);
    expect((await api.collections.invites.findOne({ _id: token }))?.revoked_at).toBeNull();
  });

  test.each([
    [{ new_password: 'short' }, 'new_password', 'string_too_short'],
    [{ new_password: 'x'.repeat(129) }, 'new_password', 'string_too_long'],
    [{ new_password: 'password1' }, 'new_password', 'value_error'],
    [{ new_password: undefined }, 'new_password', 'missing'],
    [{ current_password: undefined }, ['current_password', 'step_up_token'], 'missing'],
    [{ current_password: '' }, 'current_password', 'string_too_short'],
  ])('a change of the password refuses %j', async (body, fields, type) => {
    const answer = await change(await newSession(api), body);
    expect(answer.status).toBe(422);
    const refusals = [fields].flat().map((field) => ({ loc: ['body', field], msg: expect.any(String), type }));
    expect(answer.json.details).toEqual(refusals);
  });

  // guarantees: password-change
  test('no login with the old password survives a simultaneous change of the password', async () => {
    const phone = await newSession(api);
    const logins = () => Array.from({ length: 4 }, () => login(phone.email, password));
    const [answer] = await Promise.all([change(phone), ...logins(), ...logins()]);
    expect(answer?.status).toBe(200);
    expect((await live(phone.user_id)).map(({ _id }) => _id)).toEqual([phone.session_id]);
  });

  // guarantees: password-change
  test('simultaneous changes of the password happen once', async () => {
    const phone = await newSession(api);
    const tablet = await logIn(api, phone.email);
    const wanted = [1, 2, 3, 4].map((i) => ({ caller: i % 2 ? phone : tablet, new_password: `${next} ${i}` }));
    const answers = await Promise.all(wanted.map(({ caller, ...body }) => change(caller, body)));
    const winners = answers.flatMap(({ status }, i) => (status === 200 ? [wanted[i]] : []));
    expect(winners).toHaveLength(1);
    expect((await live(phone.user_id)).map(({ _id }) => _id)).toEqual([winners[0]?.caller.session_id]);
    expect((await login(phone.email, winners[0]?.new_password ?? '')).status).toBe(200);
    for (const { status, json } of answers.filter((one) => one.status !== 200)) {
      expect([status, json.error_code]).toEqual([
        expect.any(Number),
        expect.stringMatching(/^(ERR-REAUTHENTICATION-FAILED|IAD_JWT_ACCESS_INVALID)$/),
      ]);
    }
  });
});

describe('the changes of an account’s password', () => {
  let limited: TestApi;
  beforeAll(async () => {
    limited = await api.beside({ PASSWORD_CHANGE_LIMIT_PER_USER: '3', KEY_PREFIX: uniqueName() });
  });

  const changeTo = (new_password: string, current_password: string, caller: Caller) =>
    limited.changePassword({ current_password, new_password }, bearer(caller));

  // guarantees: thief-cannot-stop-recovery
  test('changes of the password past the limit of a day leave the owner of the mailbox a reset', async () => {
    const thief = await newSession(limited);
    for (const [to, from] of [
      [next, password],
      [password, next],
      [next, password],
    ] as const) {
      expect((await changeTo(to, from, thief)).status).toBe(200);
    }
    const challengeId = await requestReset(limited, thief.email);
    const { status, json, headers } = await changeTo(password, next, thief);
    expect([status, json.error_code]).toEqual([429, 'ERR-RATE-LIMITED']);
    const wait = Number(headers['retry-after']);
    expect([wait >= 1, wait <= 86_400]).toEqual([true, true]);
    expect(await limited.metric('auth_rate_limited_total', { rule: 'password_account' })).toBe(1);
    expect((await confirmReset(limited, challengeId, { new_password: 'four right staples' })).status).toBe(200);
    expect((await changeTo(next, password, await newSession(limited))).status).toBe(200);
  });
});
