import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, newEmail, password, registerAccount } from '../support/api/accounts.ts';
import { bearer, type Caller } from '../support/api/api-driver.ts';
import { codeOf, confirmReset, requestReset, stopTokenOf } from '../support/api/codes.ts';
import {
  beginLogin,
  beginTotp,
  codeAt,
  completeLogin,
  confirmRemoval,
  guardedAccount,
  orderRemoval,
  requestRemoval,
  stepUpBy,
  stopBySession,
  stopByToken,
} from '../support/api/second-factor.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { createStoppableClock } from '../support/stoppable-clock.ts';

const newPassword = 'three wrong staples';
const hours = 3_600_000;

let api: TestApi;
let shiftMs = 0;
const clock = createStoppableClock();
const now = () => clock.now() + shiftMs;
beforeAll(async () => {
  api = await startTestApi({}, { now });
});
afterAll(() => api.close());

const nextCode = (secret: string) => {
  shiftMs += 30_000;
  return codeAt(secret, now());
};
const stored = (user_id: string) => api.collections.users.findOne({ _id: user_id });
const verify = (user_id: string) =>
  api.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date(now() - 1_000) } });
const notificationsOf = async (user_id: string) => {
  const rows = await api.collections.outbox.find({ 'event.data.user_id': user_id }).sort({ _id: 1 }).toArray();
  return rows.flatMap(({ event }) => (event.type === 'service.auth.events.notice' ? [event.data] : []));
};
const removalsOf = async (user_id: string) =>
  (await notificationsOf(user_id)).filter(({ purpose }) => purpose.startsWith('second_factor_removal'));
const factorsOf = async (caller: Caller) => (await api.findFactors(bearer(caller))).json.data;
const errorOf = ({ status, json }: { readonly status: number; readonly json: { readonly error_code?: string } }) => [
  status,
  json.error_code,
];
/** Lets the removal be due. The clock goes on by 72 hours, so tokens from before are no longer valid. */
const waitForIt = () => {
  shiftMs += 72 * hours;
};

describe('a request for a code', () => {
  test('a request for a removal is answered alike for every email address, and mailed only if there is a second factor', async () => {
    const [guarded, plain] = [await guardedAccount(api, now()), await registerAccount(api)];
    const emails = [guarded.email, plain.email, newEmail()];
    const answers = await Promise.all(emails.map((email) => api.requestSecondFactorRemoval({ email })));
    const shapes = answers.map(({ status, json, headers }) => [status, Object.keys(json.data), Object.keys(headers)]);
    expect(new Set(shapes.map((shape) => JSON.stringify(shape))).size).toBe(1);
    expect(answers[0]?.status).toBe(202);
    const states = answers.map(async ({ json }) => {
      const row = await api.collections.outbox.findOne({ 'event.data.challenge_id': json.data.challenge_id });
      return [row?.state, row?.event.data.user_id === guarded.user_id, row?.event.data.user_id === plain.user_id];
    });
    expect(await Promise.all(states)).toEqual([
      ['pending', true, false],
      ['delivered', false, false],
      ['delivered', false, false],
    ]);
  });
});

describe('an order to remove the second factor', () => {
  // guarantees: factor-removal-in-72-hours
  test('a removal comes 72 hours after its order, and is announced by mail and to every session', async () => {
    const { email, user_id, ...session } = await guardedAccount(api, now());
    const challenge_id = await requestRemoval(api, email);
    const { status, json } = await clock.stopped(() => confirmRemoval(api, challenge_id));
    const { due_at, timestamp } = json.data;
    expect([status, json.data]).toEqual([200, { message: 'REMOVAL_ORDERED', due_at, timestamp }]);
    expect(Date.parse(due_at) - Date.parse(timestamp)).toBe(72 * hours);
    expect(await factorsOf(session)).toMatchObject({ totp: { confirmed_at: expect.any(String) }, removal: { due_at } });
    const { id: removal_id, by } = (await stored(user_id))?.totp?.removal ?? {};
    expect(by).toBe('mail');
    expect(await removalsOf(user_id)).toEqual([
      { user_id, purpose: 'second_factor_removal_ordered', locale: 'en', removal_id, due_at },
    ]);
    const again = await api.confirmSecondFactorRemoval({ challenge_id, code: await codeOf(api, challenge_id) });
    expect(errorOf(again)).toEqual([403, 'ERR-CODE-INVALID']);
  });

  test('simultaneous orders of a removal are one', async () => {
    const { email, user_id } = await guardedAccount(api, now());
    const challenges = [await requestRemoval(api, email), await requestRemoval(api, email)];
    const answers = await Promise.all(challenges.map((challenge) => confirmRemoval(api, challenge)));
    const due_at = (await stored(user_id))?.totp?.removal?.due_at.toISOString();
    expect(answers.map(({ status, json }) => [status, json.data.due_at])).toEqual([
      [200, due_at],
      [200, due_at],
    ]);
  });

  // guarantees: factor-removal-by-owner
  test('a removal and its code outlive a reset, a change of the email address and new recovery codes', async () => {
    const { user_id, secret, ...session } = await guardedAccount(api, now());
    await verify(user_id);
    const challenge_id = await requestRemoval(api, session.email);
    const step_up_token = await stepUpBy(api, session, 'recovery_codes', nextCode(secret));
    const renewed = await api.createRecoveryCodes({ step_up_token }, bearer(session));
    expect(renewed.status).toBe(200);
    expect((await confirmReset(api, await requestReset(api, session.email))).status).toBe(200);
    expect((await confirmRemoval(api, challenge_id)).status).toBe(200);
    const removal = (await stored(user_id))?.totp?.removal;
    const moved = { email: newEmail(), email_key: newEmail(), ways_changed_at: new Date(now()) };
    expect((await confirmReset(api, await requestReset(api, session.email))).status).toBe(200);
    await api.collections.users.updateOne({ _id: user_id }, { $set: moved });
    expect((await stored(user_id))?.totp?.removal).toEqual(removal);
  });

  test('a removal ends with the authenticator app that it is for', async () => {
    const { email, user_id, secret, ...session } = await guardedAccount(api, now());
    await orderRemoval(api, email);
    const step_up_token = await stepUpBy(api, session, 'totp', nextCode(secret));
    const begun = await api.createTotp({ step_up_token }, bearer(session));
    const { factor_id, secret: newer } = begun.json.data;
    const confirmed = { factor_id, code: codeAt(newer, now()) };
    expect((await api.confirmTotp(confirmed, bearer(session))).status).toBe(200);
    expect((await stored(user_id))?.totp).toMatchObject({ factor_id });
    expect((await stored(user_id))?.totp?.removal).toBeUndefined();
  });
});

describe('a stop of a removal', () => {
  // guarantees: factor-removal-in-72-hours
  test('a stop by any live session keeps the factor, and is mailed', async () => {
    const { email, user_id, secret, ...session } = await guardedAccount(api, now());
    await orderRemoval(api, email);
    const stopped = await stopBySession(api, session);
    expect([stopped.status, stopped.json.data]).toEqual([
      200,
      { message: 'REMOVAL_STOPPED', timestamp: expect.any(String) },
    ]);
    expect((await stopBySession(api, session)).status).toBe(200);
    expect(await factorsOf(session)).toMatchObject({ removal: null });
    expect((await removalsOf(user_id)).map(({ purpose }) => purpose)).toEqual([
      'second_factor_removal_ordered',
      'second_factor_removal_stopped',
    ]);
    waitForIt();
    const challenge_id = await beginLogin(api, email);
    expect((await completeLogin(api, challenge_id, { code: nextCode(secret) })).status).toBe(200);
  });

  // guarantees: factor-removal-in-72-hours
  test('a stop by the token of the mail counts once, for its order', async () => {
    const { email, user_id } = await guardedAccount(api, now());
    await orderRemoval(api, email);
    const stop_token = await stopTokenOf(api, user_id);
    expect((await stopByToken(api, stop_token)).status).toBe(200);
    expect((await stored(user_id))?.totp?.removal).toBeUndefined();
    expect(errorOf(await stopByToken(api, stop_token))).toEqual([403, 'ERR-CODE-INVALID']);
    await orderRemoval(api, email);
    expect(errorOf(await stopByToken(api, stop_token))).toEqual([403, 'ERR-CODE-INVALID']);
    expect((await stored(user_id))?.totp?.removal).toBeDefined();
  });
});

describe('a removal that is due, before any worker has acted', () => {
  // guarantees: factor-removal-by-owner
  test('the password alone logs in once the removal is due', async () => {
    const { email, user_id } = await guardedAccount(api, now());
    await orderRemoval(api, email);
    const due_at = new Date(now() + 60_000);
    await api.collections.users.updateOne({ _id: user_id }, { $set: { 'totp.removal.due_at': due_at } });
    const pendingLogin = await beginLogin(api, email);
    shiftMs += 61_000;
    const session = await logIn(api, email, { device_id: randomUUID() });
    expect(await factorsOf(session)).toMatchObject({
      ...{ totp: { confirmed_at: null }, recovery_codes_left: 0, trusted_devices: [], removal: null },
    });
    const late = await completeLogin(api, pendingLogin, {
      code: codeAt((await guardedAccount(api, now())).secret, now()),
    });
    expect(errorOf(late)).toEqual([410, 'ERR-CODE-EXPIRED']);
  });

  test('once the removal is due, the password counts where the factor did, and there are no recovery codes', async () => {
    const { email } = await guardedAccount(api, now());
    await orderRemoval(api, email);
    waitForIt();
    const session = await logIn(api, email);
    const proof = { current_password: password };
    const codes = await api.createRecoveryCodes(proof, bearer(session));
    expect([codes.status, codes.json.data.recovery_codes]).toEqual([200, []]);
    expect((await api.deleteTotp(proof, bearer(session))).json.data).toMatchObject({ sessions_ended: 0 });
    const exported = await api.exportAccount(proof, bearer(session));
    expect(exported.json.data.second_factor).toMatchObject({ confirmed_at: null, removal_due_at: null });
  });

  test('no new authenticator app can come before the old one is removed', async () => {
    const { email, user_id } = await guardedAccount(api, now());
    await orderRemoval(api, email);
    waitForIt();
    const session = await logIn(api, email);
    const { factor_id, secret } = await beginTotp(api, session);
    const code = codeAt(secret, now());
    const answer = await api.confirmTotp({ factor_id, code }, bearer(session));
    expect(errorOf(answer)).toEqual([410, 'ERR-CODE-EXPIRED']);
    expect((await stored(user_id))?.totp?.removal).toBeDefined();
  });

  test('nobody can ask for another removal once one is due', async () => {
    const { email, user_id } = await guardedAccount(api, now());
    await orderRemoval(api, email);
    waitForIt();
    const challenge_id = await requestRemoval(api, email);
    expect((await api.collections.challenges.findOne({ _id: challenge_id }))?.user_id).not.toBe(user_id);
  });
});

// guarantees: factor-removal-by-owner
test('a thief who has switched a second factor on cannot keep the owner of the mailbox out', async () => {
  const thief = await guardedAccount(api, now());
  const { email, user_id } = thief;
  await verify(user_id);
  // Stops and changes of the thief go on as long as the session lives.
  const code = await requestRemoval(api, email);
  for (let round = 0; round < 3; round += 1) {
    expect((await confirmRemoval(api, round === 0 ? code : await requestRemoval(api, email))).status).toBe(200);
    expect((await stopBySession(api, thief)).status).toBe(200);
  }
  expect((await confirmReset(api, await requestReset(api, email))).status).toBe(200);
  const due = await orderRemoval(api, email);
  const attacks = [
    stopBySession(api, thief),
    api.createRecoveryCodes({ current_password: password }, bearer(thief)),
    api.logIn({ email, password }),
  ];
  expect((await Promise.all(attacks)).map(({ status }) => status)).toEqual([401, 401, 401]);
  expect((await stored(user_id))?.totp?.removal?.due_at).toEqual(due);
  waitForIt();
  const owner = await logIn(api, email, { password: newPassword });
  expect(await factorsOf(owner)).toMatchObject({ totp: { confirmed_at: null } });
});
