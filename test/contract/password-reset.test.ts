import { randomUUID } from 'node:crypto';
import { NotificationEvent } from '@auth-account/contracts/events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, newEmail, newSession, password, registerAccount } from '../support/api/accounts.ts';
import { codeOf, confirmReset, expire, makeResendDue, requestReset } from '../support/api/codes.ts';
import { insertInvite, refresh } from '../support/api/groups.ts';
import { matchesSchema } from '../support/api/matches-schema.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';

const newPassword = 'three wrong staples';
const minute = 60_000;

let api: TestApi;
let shiftMs = 0;
beforeAll(async () => {
  api = await startTestApi({}, { now: () => Date.now() + shiftMs });
});
afterAll(() => api.close());

const eventsOf = async (userId: string) =>
  (await api.collections.outbox.find({ 'event.subject': userId }).sort({ _id: 1 }).toArray()).map((row) => row.event);
const typesOf = async (userId: string) => (await eventsOf(userId)).map(({ type }) => type.split('.').at(-1));
const logInWith = (email: string, given: string) => api.logIn({ email, password: given }).then(({ status }) => status);

describe('POST /auth/password-reset', () => {
  test('POST /auth/password-reset answers 202 with a challenge of ten minutes', async () => {
    const { email, user_id } = await registerAccount(api);
    const { status, json } = await api.requestPasswordReset({ email });
    expect(status).toBe(202);
    const { challenge_id, expires_at, resend_at, timestamp } = json.data;
    expect(challenge_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Date.parse(expires_at) - Date.parse(timestamp)).toBe(10 * minute);
    expect(Date.parse(resend_at) - Date.parse(timestamp)).toBe(minute);
    expect(Object.keys(json.data)).toEqual(['challenge_id', 'expires_at', 'resend_at', 'timestamp']);
    const event = (await eventsOf(user_id)).at(-1);
    expect(event).toMatchObject({
      type: 'service.auth.events.code_requested',
      data: { challenge_id, user_id, purpose: 'password_reset', locale: 'en', expires_at },
    });
  });

  // guarantees: reset-tells-nothing
  test('a request for a reset is answered alike for an unknown email address, and nobody gets a mail', async () => {
    const { email, user_id } = await registerAccount(api);
    const [known, unknown] = [
      await api.requestPasswordReset({ email }),
      await api.requestPasswordReset({ email: newEmail() }),
    ];
    const shapeOf = ({ status, json, headers }: typeof known) => [status, Object.keys(json.data), Object.keys(headers)];
    expect(shapeOf(unknown)).toEqual(shapeOf(known));
    const challenges = [known, unknown].map(({ json }) =>
      api.collections.challenges.findOne({ _id: json.data.challenge_id }),
    );
    const [real, decoy] = await Promise.all(challenges);
    expect(Object.keys(decoy ?? {})).toEqual(Object.keys(real ?? {}));
    expect(real?.user_id).toBe(user_id);
    expect(await api.collections.users.findOne({ _id: decoy?.user_id ?? '' })).toBeNull();
    const rows = [real, decoy].map((one) =>
      api.collections.outbox.findOne({ 'event.subject': one?.user_id ?? '', topic: /code/ }),
    );
    expect((await Promise.all(rows)).map((row) => row?.state)).toEqual(['pending', 'delivered']);
  });

  test.each(['not an address', 'cook@localhost', 'x'.repeat(254)])(
    'a request for a reset takes %j as an unknown email address',
    async (email) => {
      expect((await api.requestPasswordReset({ email })).status).toBe(202);
    },
  );
});

describe('POST /auth/password-reset/confirm', () => {
  test('a reset sets the password, and ends every session', async () => {
    const session = await newSession(api);
    const other = await logIn(api, session.email);
    const challengeId = await requestReset(api, session.email);
    const { status, json } = await confirmReset(api, challengeId);
    const { timestamp } = json.data;
    expect([status, json.data]).toEqual([200, { message: 'PASSWORD_RESET', invites_revoked: 0, timestamp }]);
    expect(await logInWith(session.email, password)).toBe(401);
    expect(await logInWith(session.email, newPassword)).toBe(200);
    for (const { refresh_token } of [session, other]) {
      const refused = await refresh(api, { refresh_token }).catch((error: Error) => error.message);
      expect(refused).toContain('password_changed');
    }
    expect(await api.collections.sessions.countDocuments({ user_id: session.user_id, is_revoked: false })).toBe(1);
    // The last event is of the login.
    const types = ['registered', 'code_requested', 'password_changed', 'notice', 'email_verified', 'notice'];
    expect(await typesOf(session.user_id)).toEqual(types);
    const [changed, notification] = (await eventsOf(session.user_id)).slice(2);
    expect(changed?.data).toMatchObject({ user_id: session.user_id, reason: 'reset' });
    const expected = { user_id: session.user_id, purpose: 'password_changed', locale: 'en', invites_revoked: 0 };
    expect([notification?.data, matchesSchema(NotificationEvent, notification)]).toEqual([expected, true]);
  });

  test('the ten minutes of a code count by the api’s clock', async () => {
    const { email } = await registerAccount(api);
    const challengeId = await requestReset(api, email);
    try {
      shiftMs += 11 * minute;
      expect((await confirmReset(api, challengeId)).status).toBe(410);
    } finally {
      shiftMs = 0;
    }
  });

  // guarantees: reset-tells-nothing
  test('a reset refuses every code of an email address without an account, and counts its tries', async () => {
    const challengeId = await requestReset(api, newEmail());
    const code = await codeOf(api, challengeId);
    for (const tries_left of [4, 3, 2, 1, 0, 0]) {
      const { status, json } = await confirmReset(api, challengeId, { code });
      expect([status, json.details.tries_left]).toEqual([403, tries_left]);
    }
    const late = await requestReset(api, newEmail());
    await expire(api, late);
    expect((await confirmReset(api, late)).status).toBe(410);
  });

  test.each(['1234567', '123456789', '１２３４５６７', ' 1234567', 12_345_678])(
    'a reset refuses %j as no code',
    async (code) => {
      const challengeId = await requestReset(api, newEmail());
      expect((await confirmReset(api, challengeId, { code })).status).toBe(422);
      expect((await api.collections.challenges.findOne({ _id: challengeId }))?.tries_left).toBe(5);
    },
  );
});

// guarantees: recovery-ends-invites
test.each([
  ['was never verified', {}],
  ['is verified', { email_verified_at: new Date() }],
])(
  'a reset of an account whose email address %s revokes its open invites, in whatever group, and says how many',
  async (_, fields) => {
    const thief = await newSession(api);
    const { user_id } = thief;
    await api.collections.users.updateOne({ _id: user_id }, { $set: { account_type: 'HOME', ...fields } });
    const [created_by, past] = [user_id, new Date(Date.now() - 1_000)];
    const invite = (of: { home_group_id: string }, more: object) => insertInvite(api, of.home_group_id, more);
    const open = [
      await invite(thief, { created_by }),
      await invite(await registerAccount(api), { created_by, max_uses: 2, uses: 1 }),
    ];
    const others = [
      await invite(thief, { created_by: randomUUID() }),
      await invite(thief, { created_by, max_uses: 1, uses: 1 }),
      await invite(thief, { created_by, expires_at: past }),
    ];
    const over = await invite(thief, { created_by, revoked_at: past });
    const { json } = await confirmReset(api, await requestReset(api, thief.email));
    expect(json.data.invites_revoked).toBe(2);
    const notification = (await eventsOf(user_id)).find(({ type }) => type === 'service.auth.events.notice');
    expect(notification?.data).toMatchObject({ purpose: 'password_changed', invites_revoked: 2 });
    const ids = [...open, ...others, over];
    const found = await Promise.all(ids.map((_id) => api.collections.invites.findOne({ _id })));
    expect(found.map((one) => one?.revoked_at)).toEqual([...Array(2).fill(expect.any(Date)), null, null, null, past]);
  },
);

describe('POST /auth/password-reset/resend', () => {
  const resend = (challenge_id: string) => api.resendPasswordReset({ challenge_id });

  test('a resend sends the same code again, three times and a minute apart', async () => {
    const { email, user_id } = await registerAccount(api);
    const challengeId = await requestReset(api, email);
    const code = await codeOf(api, challengeId);
    const early = await resend(challengeId);
    expect([early.status, early.json.error_code]).toEqual([429, 'ERR-RATE-LIMITED']);
    expect(Number(early.headers['retry-after'])).toBeGreaterThan(0);
    for (const isLast of [false, false, true]) {
      await makeResendDue(api, challengeId);
      const { status, json } = await resend(challengeId);
      expect([status, json.data.challenge_id, json.data.resend_at === null]).toEqual([202, challengeId, isLast]);
    }
    await makeResendDue(api, challengeId);
    expect((await resend(challengeId)).status).toBe(429);
    expect(await typesOf(user_id)).toEqual(['registered', ...Array(4).fill('code_requested')]);
    expect((await confirmReset(api, challengeId, { code })).status).toBe(200);
  });

  test('simultaneous resends send one mail', async () => {
    const { email, user_id } = await registerAccount(api);
    const challengeId = await requestReset(api, email);
    await makeResendDue(api, challengeId);
    const all = await Promise.all(Array.from({ length: 8 }, () => resend(challengeId)));
    expect(all.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(all.filter(({ status }) => status === 429)).toHaveLength(7);
    expect(await typesOf(user_id)).toEqual(['registered', 'code_requested', 'code_requested']);
  });
});
