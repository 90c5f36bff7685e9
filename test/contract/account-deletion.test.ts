import {
  DeletionCancelledEvent,
  DeletionScheduledEvent,
  NotificationEvent,
  PasswordChangedEvent,
} from '@auth-account/contracts/events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, newEmail, newSession, password } from '../support/api/accounts.ts';
import { bearer, type Caller } from '../support/api/api-driver.ts';
import {
  changeEmail,
  codeOf,
  confirmChange,
  confirmReset,
  makeResendDue,
  requestChange,
  requestDeletion,
  requestReset,
  requestVerification,
  undoTokenOf,
} from '../support/api/codes.ts';
import { expectSound } from '../support/api/groups.ts';
import { matchesSchema } from '../support/api/matches-schema.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { uniqueName } from '../support/test-environment.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ ACCOUNT_DELETION_GRACE_DAYS: '3' });
});
afterAll(() => api.close());

const dayMs = 86_400_000;
const order = (caller: Caller, body: object = { current_password: password }) =>
  api.scheduleDeletion(body, bearer(caller));
const restore = (email: string, given = password) => api.restoreAccount({ email, password: given });
const login = (email: string) => api.logIn({ email, password });
const stored = (_id: string) => api.collections.users.findOne({ _id });
const live = (user_id: string) => api.collections.sessions.countDocuments({ user_id, is_revoked: false });

async function eventsOf(userId: string, topic: string) {
  const rows = await api.collections.outbox.find({ 'event.subject': userId, topic }).sort({ _id: 1 }).toArray();
  return rows.map(({ event }) => event);
}

describe('an order to delete the account', () => {
  // guarantees: no-login-while-deleted
  test('an order to delete the account answers its time, ends all sessions and refuses logins', async () => {
    const phone = await newSession(api);
    const tablet = await logIn(api, phone.email);
    const answer = await order(phone);
    expect(answer.status).toBe(202);
    const { deletes_at, timestamp } = answer.json.data;
    expect(answer.json).toEqual({ status: 'success', data: { message: 'DELETION_SCHEDULED', deletes_at, timestamp } });
    expect((await stored(phone.user_id))?.deletes_at?.toISOString()).toBe(deletes_at);
    const [scheduled] = await eventsOf(phone.user_id, 'service.auth.events.deletion_scheduled');
    expect(matchesSchema(DeletionScheduledEvent, scheduled)).toBe(true);
    expect(Date.parse(deletes_at) - Date.parse(scheduled?.time ?? '')).toBe(3 * dayMs);
    for (const { refresh_token } of [phone, tablet]) {
      const { status, json } = await api.refreshTokens({ refresh_token });
      expect([status, json.details.reason]).toEqual([401, 'account_deleted']);
    }
    expect(await live(phone.user_id)).toBe(0);
    const refused = await login(phone.email);
    expect([refused.status, refused.json.error_code]).toEqual([403, 'ERR-ACCOUNT-DELETION-SCHEDULED']);
    expect(refused.json.details.deletes_at).toBe(deletes_at);
    await expectSound(api);
  });

  test('simultaneous orders to delete the account are one: one time, one event, one notification', async () => {
    const session = await newSession(api);
    const answers = await Promise.all([1, 2, 3, 4].map(() => order(session)));
    const ordered = answers.filter(({ status }) => status === 202);
    expect(new Set(ordered.map(({ json }) => json.data.deletes_at)).size).toBe(1);
    // A request that comes after the first has ended its session is refused.
    for (const { status } of answers) expect([202, 401]).toContain(status);
    expect(await eventsOf(session.user_id, 'service.auth.events.deletion_scheduled')).toHaveLength(1);
    expect(await eventsOf(session.user_id, 'service.auth.events.notice')).toHaveLength(1);
  });

  // guarantees: no-login-while-deleted
  test('no login survives a simultaneous order to delete the account', async () => {
    const session = await newSession(api);
    const logins = () => Array.from({ length: 4 }, () => login(session.email));
    const [answer] = await Promise.all([order(session), ...logins(), ...logins()]);
    expect(answer?.status).toBe(202);
    expect(await live(session.user_id)).toBe(0);
  });
});

describe('a restore', () => {
  // guarantees: no-login-while-deleted
  test('a restore cancels the deletion: the app logs in', async () => {
    const session = await newSession(api);
    await order(session);
    const answer = await restore(session.email.toUpperCase());
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      status: 'success',
      data: { message: 'ACCOUNT_RESTORED', timestamp: expect.any(String) },
    });
    expect(await stored(session.user_id)).not.toHaveProperty('deletes_at');
    expect(await live(session.user_id)).toBe(0);
    expect((await login(session.email)).status).toBe(200);
    const [event] = await eventsOf(session.user_id, 'service.auth.events.deletion_cancelled');
    expect(matchesSchema(DeletionCancelledEvent, event)).toBe(true);
  });

  // guarantees: restore-is-noticed
  test('a restore is mailed to the account’s email address, in the language of the account or else of the request', async () => {
    const session = await newSession(api);
    const { email, user_id } = session;
    const localeOf = async (caller: Caller, language: string) => {
      await order(caller);
      const headers = { 'Accept-Language': language };
      expect((await api.restoreAccount({ email, password }, headers)).status).toBe(200);
      const notifications = (await eventsOf(user_id, 'service.auth.events.notice')).filter((event) =>
        matchesSchema(NotificationEvent, event),
      );
      return notifications.at(-1)?.data;
    };
    const expected = { user_id, purpose: 'deletion_cancelled' };
    expect(await localeOf(session, 'ru')).toEqual({ ...expected, locale: 'ru' });
    await api.collections.users.updateOne({ _id: user_id }, { $set: { locale: 'en' } });
    expect(await localeOf(await logIn(api, email), 'ru')).toEqual({ ...expected, locale: 'en' });
  });
});

describe('a deletion by a code from the mailbox', () => {
  const confirm = (challenge_id: string, code: string) => api.confirmDeletion({ challenge_id, code });

  test('a deletion by a mailed code has the effect of one with the password', async () => {
    const { email, user_id, refresh_token } = await newSession(api);
    const challenge_id = await requestDeletion(api, email);
    const code = await codeOf(api, challenge_id);
    const answer = await confirm(challenge_id, code);
    expect(answer.status).toBe(202);
    expect(answer.json.data).toMatchObject({ message: 'DELETION_SCHEDULED', deletes_at: expect.any(String) });
    expect((await stored(user_id))?.deletes_at?.toISOString()).toBe(answer.json.data.deletes_at);
    expect((await api.refreshTokens({ refresh_token })).json.details.reason).toBe('account_deleted');
    expect(await eventsOf(user_id, 'service.auth.events.deletion_scheduled')).toHaveLength(1);
    expect(await eventsOf(user_id, 'service.auth.events.notice')).toHaveLength(1);
    const again = await confirm(challenge_id, code);
    expect([again.status, again.json.error_code]).toEqual([403, 'ERR-CODE-INVALID']);
  });

  // guarantees: restore-is-noticed
  test.each([
    ['not ordered', false],
    ['ordered by a squatter', true],
  ])(
    'a deletion by a mailed code (%s before) takes an email address that was never verified from whoever knows the password',
    async (_, isOrdered) => {
      const squatter = await newSession(api);
      const challenge_id = await requestDeletion(api, squatter.email);
      const other = await requestReset(api, squatter.email);
      if (isOrdered) await order(squatter);
      const before = await stored(squatter.user_id);
      expect((await confirm(challenge_id, await codeOf(api, challenge_id))).status).toBe(202);
      const after = await stored(squatter.user_id);
      expect(after?.password_hash.split('$').slice(0, -1)).toEqual(before?.password_hash.split('$').slice(0, -1));
      expect(after?.password_changed_at).toEqual(expect.any(Date));
      const [changed] = await eventsOf(squatter.user_id, 'service.auth.events.password_changed');
      expect(matchesSchema(PasswordChangedEvent, changed)).toBe(true);
      expect(changed?.data).toMatchObject({ user_id: squatter.user_id, reason: 'deletion' });
      expect([(await login(squatter.email)).status, (await restore(squatter.email)).status]).toEqual([401, 401]);
      // Other codes are unusable, as after every change of the password.
      expect((await confirmReset(api, other)).status).toBe(403);

      expect((await confirmReset(api, await requestReset(api, squatter.email))).status).toBe(200);
      const given = 'three wrong staples';
      const waiting = await api.logIn({ email: squatter.email, password: given });
      expect([waiting.status, waiting.json.error_code]).toEqual([403, 'ERR-ACCOUNT-DELETION-SCHEDULED']);
      expect((await restore(squatter.email)).status).toBe(401);
      expect((await restore(squatter.email, given)).status).toBe(200);
      expect((await api.logIn({ email: squatter.email, password: given })).status).toBe(200);
    },
  );
});

describe('an account whose time of erasure has come', () => {
  const setDue = (_id: string) => api.collections.users.updateOne({ _id }, { $set: { deletes_at: new Date() } });
  const shapeOf = ({ status, json }: Awaited<ReturnType<typeof order>>) => [
    status,
    json.error_code,
    json.details.tries_left,
  ];

  // guarantees: due-account-is-gone
  test('an account whose time of erasure has come is refused to an access token, like one that is gone', async () => {
    const session = await newSession(api);
    await setDue(session.user_id);
    const before = await stored(session.user_id);
    const [own, headers] = [{ current_password: password }, bearer(session)];
    const answers = {
      findAccount: await api.findAccount(headers),
      changeAccount: await api.changeAccount({ display_name: 'Anna' }, headers),
      exportAccount: await api.exportAccount(own, headers),
      changePassword: await api.changePassword({ ...own, new_password: 'three wrong staples' }, headers),
      scheduleDeletion: await api.scheduleDeletion(own, headers),
      requestEmailVerification: await api.requestEmailVerification(headers),
      requestEmailChange: await api.requestEmailChange({ ...own, new_email: newEmail() }, headers),
    };
    for (const [name, { status, json }] of Object.entries(answers)) {
      expect([name, status, json.error_code]).toEqual([name, 401, 'IAD_JWT_ACCESS_INVALID']);
    }
    expect(await stored(session.user_id)).toEqual(before);
  });

  // guarantees: due-account-is-gone
  test('an account whose time of erasure has come takes no earlier code, like an email address without an account', async () => {
    const session = await newSession(api);
    const asked = {
      confirmPasswordReset: await requestReset(api, session.email),
      confirmDeletion: await requestDeletion(api, session.email),
      confirmEmailVerification: await requestVerification(api, session),
    };
    const changing = await requestChange(api, session, newEmail());
    const codes = await Promise.all(Object.values(asked).map((id) => codeOf(api, id)));
    await setDue(session.user_id);
    const before = await stored(session.user_id);
    const unknown = shapeOf(await confirmReset(api, await requestReset(api, newEmail())));
    expect(unknown).toEqual([403, 'ERR-CODE-INVALID', 4]);
    for (const [i, name] of (Object.keys(asked) as (keyof typeof asked)[]).entries()) {
      const more = name === 'confirmPasswordReset' && { new_password: 'three wrong staples' };
      const body = { challenge_id: asked[name], code: codes[i], ...more };
      expect([name, ...shapeOf(await api[name](body))]).toEqual([name, ...unknown]);
    }
    expect(shapeOf(await confirmChange(api, session, changing))).toEqual(unknown);
    expect(await stored(session.user_id)).toEqual(before);
    const challenge_id = asked.confirmPasswordReset;
    await makeResendDue(api, challenge_id);
    const { status } = await api.resendPasswordReset({ challenge_id });
    const rows = await api.collections.outbox
      .find({ 'event.data.challenge_id': challenge_id })
      .sort({ _id: 1 })
      .toArray();
    expect([status, rows.map(({ state }) => state)]).toEqual([202, ['pending', 'delivered']]);
  });

  test('an account whose time of erasure has come gets no former email address back', async () => {
    const session = await newSession(api);
    await changeEmail(api, session, newEmail());
    const undo_token = await undoTokenOf(api, session.user_id);
    await setDue(session.user_id);
    const before = await stored(session.user_id);
    const answer = await api.undoEmailChange({ undo_token });
    expect(shapeOf(answer)).toEqual([403, 'ERR-CODE-INVALID', 0]);
    expect(await stored(session.user_id)).toEqual(before);
  });
});

describe('the orders to delete an account', () => {
  let limited: TestApi;
  beforeAll(async () => {
    limited = await api.beside({ DELETION_LIMIT_PER_USER: '2', KEY_PREFIX: uniqueName() });
  });

  const orderBy = (caller: Caller) => limited.scheduleDeletion({ current_password: password }, bearer(caller));
  const confirmOn = async (challenge_id: string) => {
    const code = await codeOf(limited, challenge_id);
    return limited.confirmDeletion({ challenge_id, code });
  };
  const restoreOn = (email: string) => limited.restoreAccount({ email, password });

  // guarantees: mails-per-mailbox
  test('orders past the limit of a day are refused, and send no mail; one that repeats an order is not', async () => {
    const { email, user_id, ...session } = await newSession(limited);
    await limited.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date() } });
    expect((await orderBy(session)).status).toBe(202);
    expect((await restoreOn(email)).status).toBe(200);
    const [first, second, third] = [
      await requestDeletion(limited, email),
      await requestDeletion(limited, email),
      await requestDeletion(limited, email),
    ];
    for (const challengeId of [first, second]) expect((await confirmOn(challengeId)).status).toBe(202);
    expect((await restoreOn(email)).status).toBe(200);
    for (const refused of [await orderBy(await logIn(limited, email)), await confirmOn(third)]) {
      expect([refused.status, refused.json.error_code]).toEqual([429, 'ERR-RATE-LIMITED']);
      const wait = Number(refused.headers['retry-after']);
      expect([wait >= 1, wait <= 86_400]).toEqual([true, true]);
    }
    expect(await limited.metric('auth_rate_limited_total', { rule: 'deletion_account' })).toBe(2);
    const topic = 'service.auth.events.notice';
    const rows = await limited.collections.outbox.find({ 'event.subject': user_id, topic }).sort({ _id: 1 }).toArray();
    const sent = rows.map(({ event }) => 'purpose' in event.data && event.data.purpose);
    expect(sent.filter((purpose) => purpose === 'deletion_scheduled')).toHaveLength(2);
    expect((await orderBy(await newSession(limited))).status).toBe(202);
  });
});
