import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, newEmail, newSession, password } from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import {
  changeEmail,
  codeOf,
  confirmChange,
  confirmReset,
  requestChange,
  requestReset,
  undoTokenOf,
} from '../support/api/codes.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

type Session = Awaited<ReturnType<typeof newSession>>;

const userOf = async ({ user_id }: Pick<Session, 'user_id'>) => api.collections.users.findOne({ _id: user_id });
const accountOf = async (session: Session) => (await api.findAccount(bearer(session))).json.data;
const rowsOf = (userId: string) => api.collections.outbox.find({ 'event.subject': userId }).sort({ _id: 1 }).toArray();
const typesOf = async (userId: string) => (await rowsOf(userId)).map(({ topic }) => topic.split('.').at(-1));
const logInStatus = async (email: string, given = password) => (await api.logIn({ email, password: given })).status;
const register = (email: string) => api.registerAccount({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
const undo = (undo_token: string) => api.undoEmailChange({ undo_token });
const liveOf = async ({ user_id }: Pick<Session, 'user_id'>) =>
  (await api.collections.sessions.find({ user_id, is_revoked: false }).toArray()).map(({ _id }) => _id);

describe('POST /account/email-change', () => {
  // answers: better-auth 7196, https://github.com/better-auth/better-auth/issues/7196
  // A new email address with a typing error counted before its owner had proved it.
  test('a request to change the email address sends a code to the new email address, and changes nothing yet', async () => {
    const session = await newSession(api);
    const new_email = newEmail();
    const challengeId = await requestChange(api, session, new_email);
    expect(await accountOf(session)).toMatchObject({ email: session.email, pending_email: new_email });
    const event = (await rowsOf(session.user_id)).at(-1)?.event;
    expect(event?.data).toMatchObject({ challenge_id: challengeId, user_id: session.user_id, purpose: 'email_change' });
    expect(await logInStatus(new_email)).toBe(401);
  });
});

describe('POST /account/email-change/confirm', () => {
  test('a confirmation changes the address, ends all other sessions, and sends a notification to the old email address', async () => {
    const session = await newSession(api);
    await logIn(api, session.email);
    const new_email = newEmail().replace('cook', 'Chef');
    const other = await requestReset(api, session.email);
    const { status, json } = await confirmChange(api, session, await requestChange(api, session, new_email));
    const data = { message: 'EMAIL_CHANGED', email: new_email, sessions_ended: 1, timestamp: json.data.timestamp };
    expect([status, json.data]).toEqual([200, data]);
    expect(await accountOf(session)).toMatchObject({ email: new_email, email_verified: true, pending_email: null });
    expect(await liveOf(session)).toEqual([session.session_id]);
    expect([await logInStatus(session.email), await logInStatus(new_email.toLowerCase())]).toEqual([401, 200]);
    expect((await confirmReset(api, other)).status).toBe(403);
    const [changed, notification] = (await rowsOf(session.user_id)).slice(-2).map(({ event }) => event);
    expect(changed?.data).toMatchObject({ user_id: session.user_id, is_undone: false });
    const [former] = (await userOf(session))?.former_emails ?? [];
    expect(former).toMatchObject({ email: session.email, email_key: session.email });
    const expected = {
      user_id: session.user_id,
      purpose: 'email_changed',
      locale: 'en',
      email_change_id: former?.change_id,
    };
    expect(notification?.data).toEqual(expected);
  });

  test('of two accounts that want the same email address, one gets it', async () => {
    const sessions = [await newSession(api), await newSession(api)];
    const new_email = newEmail();
    const challenges: string[] = [];
    for (const session of sessions) challenges.push(await requestChange(api, session, new_email));
    const codes = await Promise.all(challenges.map((id) => codeOf(api, id)));
    const answers = await Promise.all(
      sessions.map((session, i) => confirmChange(api, session, String(challenges[i]), codes[i])),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(await api.collections.users.countDocuments({ email_key: new_email })).toBe(1);
  });
});

describe('an email address that was left', () => {
  // guarantees: address-undo
  test('a former email address can be had by nobody else for 72 hours, then by anybody', async () => {
    const [session, other] = [await newSession(api), await newSession(api)];
    await changeEmail(api, session, newEmail());
    expect((await register(session.email)).status).toBe(409);
    const challengeId = await requestChange(api, other, session.email);
    expect(await typesOf(other.user_id)).toEqual(['registered', 'code_requested']);
    expect((await rowsOf(other.user_id)).at(-1)?.state).toBe('delivered');
    expect((await confirmChange(api, other, challengeId)).status).toBe(409);
    const lapsed = { $set: { 'former_emails.$[].until': new Date() } };
    await api.collections.users.updateOne({ _id: session.user_id }, lapsed);
    expect((await register(session.email)).status).toBe(201);
  });

  test('a former email address can be had again by its own account', async () => {
    const session = await newSession(api);
    await changeEmail(api, session, newEmail());
    await changeEmail(api, session, session.email);
    expect((await accountOf(session)).email).toBe(session.email);
  });
});

describe('POST /auth/email-change/undo', () => {
  test('an undo gives the old email address back, ends every session, and makes the password unusable', async () => {
    const session = await newSession(api);
    const new_email = newEmail();
    await changeEmail(api, session, new_email);
    const reset = await requestReset(api, new_email);
    const { status, json } = await undo(await undoTokenOf(api, session.user_id));
    const { timestamp } = json.data;
    expect([status, json.data]).toEqual([200, { message: 'EMAIL_CHANGE_UNDONE', invites_revoked: 0, timestamp }]);
    const lost = [expect.objectContaining({ email: new_email, until: expect.any(Date) })];
    const given = { email: session.email, email_key: session.email, former_emails: lost };
    expect(await userOf(session)).toMatchObject(given);
    expect(await liveOf(session)).toEqual([]);
    expect([await logInStatus(session.email), await logInStatus(new_email)]).toEqual([401, 401]);
    expect((await confirmReset(api, reset)).status).toBe(403);
    const events = (await rowsOf(session.user_id)).slice(-3).map(({ event }) => event.data);
    const expected = { purpose: 'password_changed', invites_revoked: 0 };
    expect(events).toMatchObject([{ is_undone: true }, { reason: 'undone' }, expected]);
    expect((await confirmReset(api, await requestReset(api, session.email))).status).toBe(200);
    expect(await logInStatus(session.email, 'three wrong staples')).toBe(200);
    expect((await register(new_email)).status).toBe(201);
  });

  // guarantees: recovery-ends-invites
  test('an undo ends what a thief may have left: invites, and a deletion without a notification to the old email address', async () => {
    const session = await newSession(api);
    await api.createInvite({}, bearer(session));
    await changeEmail(api, session, newEmail());
    const undoToken = await undoTokenOf(api, session.user_id);
    const ordered = await api.scheduleDeletion({ current_password: password }, bearer(session));
    expect(ordered.status).toBe(202);
    const { status, json } = await undo(undoToken);
    expect([status, json.data.invites_revoked]).toEqual([200, 1]);
    expect(await userOf(session)).not.toHaveProperty('deletes_at');
    const events = (await rowsOf(session.user_id)).map(({ event }) => event.data).slice(-5);
    expect(events).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ cancelled_at: expect.any(String) }),
        expect.objectContaining({ purpose: 'deletion_cancelled', locale: 'en' }),
        expect.objectContaining({ purpose: 'password_changed', invites_revoked: 1 }),
      ]),
    );
    const invites = await api.collections.invites.find({ created_by: session.user_id }).toArray();
    expect(invites.map(({ revoked_at }) => revoked_at)).toEqual([expect.any(Date)]);
  });

  // guarantees: address-undo
  test('an undo of a change of the email address undoes every later change too', async () => {
    const session = await newSession(api);
    await changeEmail(api, session, newEmail());
    const first = await undoTokenOf(api, session.user_id);
    await changeEmail(api, session, newEmail());
    const second = await undoTokenOf(api, session.user_id);
    expect((await undo(first)).status).toBe(200);
    expect((await userOf(session))?.email).toBe(session.email);
    const { status, json } = await undo(second);
    expect([status, json.details.tries_left]).toEqual([403, 0]);
  });

  test('simultaneous undos of a change of the email address succeed once', async () => {
    const session = await newSession(api);
    await changeEmail(api, session, newEmail());
    const token = await undoTokenOf(api, session.user_id);
    const all = await Promise.all(Array.from({ length: 4 }, () => undo(token)));
    expect(all.map(({ status }) => status).toSorted()).toEqual([200, 403, 403, 403]);
  });
});
