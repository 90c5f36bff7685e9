import { randomUUID } from 'node:crypto';
import { NoticeEvent } from '@auth-account/contracts/events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logIn, newEmail, newSession, password, registerAccount } from '../support/accounts.ts';
import {
  codeOf,
  confirmReset,
  expire,
  makeResendDue,
  requestReset,
  unknownChallenge,
  wrongCodeOf,
} from '../support/codes.ts';
import { bearer, insertInvite, refresh } from '../support/groups.ts';
import { patiently } from '../support/http-client.ts';
import { matchesSchema } from '../support/matches-schema.ts';
import { startTestApi, type TestApi } from '../support/test-api.ts';

const path = '/api/v1/auth/password-reset';
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
const logInWith = (email: string, given: string) =>
  api.post('/api/v1/auth/login', { email, password: given }).then(({ status }) => status);

describe('POST /auth/password-reset', () => {
  test('POST /auth/password-reset answers 202 with a challenge of ten minutes', async () => {
    const { email, user_id } = await registerAccount(api);
    const { status, json } = await api.post(path, { email });
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

  test('a request for a reset is answered alike for an unknown address, and nobody gets a mail', async () => {
    const { email, user_id } = await registerAccount(api);
    const [known, unknown] = [await api.post(path, { email }), await api.post(path, { email: newEmail() })];
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
    'a request for a reset takes %j as an unknown address',
    async (email) => {
      expect((await api.post(path, { email })).status).toBe(202);
    },
  );

  test('a request for a reset finds the account in whatever case the address is written', async () => {
    const { email, user_id } = await registerAccount(api);
    const challengeId = await requestReset(api, email.toUpperCase());
    expect((await api.collections.challenges.findOne({ _id: challengeId }))?.user_id).toBe(user_id);
  });

  test('the mail of a reset is in the user’s language, or else in that of the request', async () => {
    const session = await newSession(api);
    const localeOf = async () => {
      await api.post(path, { email: session.email }, { 'Accept-Language': 'ru' });
      return (await eventsOf(session.user_id)).at(-1)?.data;
    };
    expect(await localeOf()).toMatchObject({ locale: 'ru' });
    await api.send({ method: 'PATCH', path: '/api/v1/account', headers: bearer(session), body: { locale: 'en' } });
    expect(await localeOf()).toMatchObject({ locale: 'en' });
  });
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
    // The last event tells of the login.
    const types = ['registered', 'code_requested', 'password_changed', 'notice', 'email_verified', 'notice'];
    expect(await typesOf(session.user_id)).toEqual(types);
    const [changed, notice] = (await eventsOf(session.user_id)).slice(2);
    expect(changed?.data).toMatchObject({ user_id: session.user_id, reason: 'reset' });
    const told = { user_id: session.user_id, purpose: 'password_changed', locale: 'en', invites_revoked: 0 };
    expect([notice?.data, matchesSchema(NoticeEvent, notice)]).toEqual([told, true]);
  });

  test('a reset refuses a wrong code five times, then every code', async () => {
    const { email } = await registerAccount(api);
    const challengeId = await requestReset(api, email);
    for (const tries_left of [4, 3, 2, 1, 0]) {
      const { status, json } = await confirmReset(api, challengeId, { code: await wrongCodeOf(api, challengeId) });
      expect([status, json.error_code, json.details.tries_left]).toEqual([403, 'ERR-CODE-INVALID', tries_left]);
    }
    const { status, json } = await confirmReset(api, challengeId);
    expect([status, json.details.tries_left]).toEqual([403, 0]);
    expect(await logInWith(email, password)).toBe(200);
  });

  test('a reset takes the right code at the fifth try', async () => {
    const { email } = await registerAccount(api);
    const challengeId = await requestReset(api, email);
    const wrong = await wrongCodeOf(api, challengeId);
    for (let i = 0; i < 4; i += 1) await confirmReset(api, challengeId, { code: wrong });
    expect((await confirmReset(api, challengeId)).status).toBe(200);
  });

  test('a reset takes a code once', async () => {
    const { email } = await registerAccount(api);
    const challengeId = await requestReset(api, email);
    const code = await codeOf(api, challengeId);
    const all = await Promise.all(
      Array.from({ length: 5 }, () => patiently(() => confirmReset(api, challengeId, { code }))),
    );
    expect(all.map(({ status }) => status).toSorted()).toEqual([200, 403, 403, 403, 403]);
    const { status, json } = await confirmReset(api, challengeId, { code });
    expect([status, json.details.tries_left]).toEqual([403, 0]);
  });

  test('a code that comes too late, right or wrong, answers 410', async () => {
    const { email } = await registerAccount(api);
    const challengeId = await requestReset(api, email);
    const wrong = await wrongCodeOf(api, challengeId);
    await expire(api, challengeId);
    for (const fields of [{}, { code: wrong }]) {
      const { status, json } = await confirmReset(api, challengeId, fields);
      expect([status, json.error_code]).toEqual([410, 'ERR-CODE-EXPIRED']);
    }
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

  test('a reset refuses an unknown challenge like a dead one', async () => {
    const body = { challenge_id: unknownChallenge(), code: '00000000', new_password: newPassword };
    const { status, json } = await api.post(`${path}/confirm`, body);
    expect([status, json.error_code, json.details.tries_left]).toEqual([403, 'ERR-CODE-INVALID', 0]);
  });

  test('a reset refuses every code of an address without an account, and counts its tries', async () => {
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

  test('a reset makes the other open codes of the account void', async () => {
    const { email } = await registerAccount(api);
    const [one, other] = [await requestReset(api, email), await requestReset(api, email)];
    expect((await confirmReset(api, one)).status).toBe(200);
    const { status, json } = await confirmReset(api, other);
    expect([status, json.details.tries_left]).toEqual([403, 0]);
  });

  test('a code for a reset is void after the password was changed', async () => {
    const session = await newSession(api);
    const challengeId = await requestReset(api, session.email);
    const body = { current_password: password, new_password: 'four right staples' };
    expect((await api.post('/api/v1/account/password', body, bearer(session))).status).toBe(200);
    expect((await confirmReset(api, challengeId)).status).toBe(403);
    expect(await logInWith(session.email, 'four right staples')).toBe(200);
  });

  test('a reset takes neither the code nor the challenge of another account', async () => {
    const [mine, theirs] = [await registerAccount(api), await registerAccount(api)];
    const [own, foreign] = [await requestReset(api, mine.email), await requestReset(api, theirs.email)];
    const { status } = await confirmReset(api, foreign, { code: await codeOf(api, own) });
    expect(status).toBe(403);
  });

  test.each(['1234567', '123456789', '１２３４５６７８', ' 1234567', 12_345_678])(
    'a reset refuses %j as no code',
    async (code) => {
      const challengeId = await requestReset(api, newEmail());
      expect((await confirmReset(api, challengeId, { code })).status).toBe(422);
      expect((await api.collections.challenges.findOne({ _id: challengeId }))?.tries_left).toBe(5);
    },
  );

  test('a reset finds a challenge in whatever case its id is written', async () => {
    const { email } = await registerAccount(api);
    const challengeId = await requestReset(api, email);
    const code = await codeOf(api, challengeId);
    const body = { challenge_id: challengeId.toUpperCase(), code, new_password: newPassword };
    expect((await api.post(`${path}/confirm`, body)).status).toBe(200);
  });
});

describe('an account that a reset takes back', () => {
  const stored = ({ user_id }: { readonly user_id: string }) => api.collections.users.findOne({ _id: user_id });

  test('a reset verifies an address that was never verified', async () => {
    const squatter = await newSession(api);
    await confirmReset(api, await requestReset(api, squatter.email));
    const proved = await stored(squatter);
    expect(proved).toMatchObject({ email_verified_at: expect.any(Date), known_devices: [] });
    await confirmReset(api, await requestReset(api, squatter.email), { new_password: 'four right staples' });
    expect((await stored(squatter))?.email_verified_at).toEqual(proved?.email_verified_at);
    expect((await typesOf(squatter.user_id)).filter((type) => type === 'email_verified')).toHaveLength(1);
  });

  test.each([
    ['was never verified', {}],
    ['is verified', { email_verified_at: new Date() }],
  ])(
    'a reset of an account whose address %s revokes its open invites, in whatever group, and says how many',
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
      const notice = (await eventsOf(user_id)).find(({ type }) => type === 'service.auth.events.notice');
      expect(notice?.data).toMatchObject({ purpose: 'password_changed', invites_revoked: 2 });
      const ids = [...open, ...others, over];
      const found = await Promise.all(ids.map((_id) => api.collections.invites.findOne({ _id })));
      expect(found.map((one) => one?.revoked_at)).toEqual([...Array(2).fill(expect.any(Date)), null, null, null, past]);
    },
  );
});

describe('POST /auth/password-reset/resend', () => {
  const resend = (challenge_id: string) => api.post(`${path}/resend`, { challenge_id });

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

  test('a resend is answered alike for an unknown address, and nobody gets a mail', async () => {
    const challengeId = await requestReset(api, newEmail());
    expect((await resend(challengeId)).status).toBe(429);
    await makeResendDue(api, challengeId);
    expect((await resend(challengeId)).status).toBe(202);
    const challenge = await api.collections.challenges.findOne({ _id: challengeId });
    const rows = await api.collections.outbox.find({ 'event.subject': challenge?.user_id ?? '' }).toArray();
    expect(rows.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
  });

  test('simultaneous resends send one mail', async () => {
    const { email, user_id } = await registerAccount(api);
    const challengeId = await requestReset(api, email);
    await makeResendDue(api, challengeId);
    const all = await Promise.all(Array.from({ length: 8 }, () => patiently(() => resend(challengeId))));
    expect(all.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(all.filter(({ status }) => status === 429)).toHaveLength(7);
    expect(await typesOf(user_id)).toEqual(['registered', 'code_requested', 'code_requested']);
  });

  test('a resend refuses a challenge that is dead, too old or unknown', async () => {
    const { email } = await registerAccount(api);
    const [dead, late] = [await requestReset(api, email), await requestReset(api, email)];
    await expire(api, late);
    await api.collections.challenges.updateOne({ _id: dead }, { $set: { tries_left: 0 } });
    const answers = await Promise.all([dead, late, unknownChallenge()].map(resend));
    expect(answers.map(({ status, json }) => [status, json.error_code])).toEqual([
      [403, 'ERR-CODE-INVALID'],
      [410, 'ERR-CODE-EXPIRED'],
      [403, 'ERR-CODE-INVALID'],
    ]);
  });
});
