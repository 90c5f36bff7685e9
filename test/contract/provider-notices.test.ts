import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
// Loaded later otherwise, by one of the tests.
import '../../services/api/src/security/providers/verify-notice.ts';
import { newSession } from '../support/accounts.ts';
import { requestLoginCode } from '../support/codes.ts';
import { bearer, cheapHashes } from '../support/groups.ts';
import type { Answer } from '../support/http-client.ts';
import {
  linkIdentity,
  logInByProvider,
  newHome,
  newPerson,
  type Provider,
  postNotice,
  sendNotice,
  signIdToken,
  signNotice,
} from '../support/providers.ts';
import { recordLog } from '../support/recorded-log.ts';
import { codeAt, completeLogin, guardedAccount, stepUpBy } from '../support/second-factor.ts';
import { startTestApi, type TestApi } from '../support/test-api.ts';

let api: TestApi;
let other: TestApi;
let shiftMs = 0;
const log = recordLog('api');
beforeAll(async () => {
  api = await startTestApi(cheapHashes, { now: () => Date.now() + shiftMs }, log.logger);
  const shared = { MONGODB_DATABASE: api.database, KEY_PREFIX: api.keyPrefix };
  other = await startTestApi({ ...cheapHashes, ...shared });
});
afterAll(async () => {
  await other.close({ keepData: true });
  await api.close();
});

const risc = 'https://schemas.openid.net/secevent/risc/event-type';
const oauth = 'https://schemas.openid.net/secevent/oauth/event-type';
const hook = '/api/v1/hooks/partner';
const seconds = () => Math.floor(Date.now() / 1_000);

/** Sends a security event token as Google does, with the issuer that its documentation names. */
async function sendToken(uri: string, sub: string, event: object = {}, claims: object = {}): Promise<Answer> {
  const iss = `${process.env.TEST_PROVIDER_URL}/partner`;
  const events = { [uri]: { subject: { subject_type: 'iss-sub', iss: `${iss}/`, sub }, ...event } };
  const body = await signIdToken('partner', { iss: `${iss}/`, exp: undefined, jti: randomUUID(), events, ...claims });
  const headers = { 'Content-Type': 'application/secevent+jwt', 'X-Request-ID': '' };
  return api.send({ path: hook, body: Buffer.from(body), headers });
}

/** Creates an account that a person has registered by the provider. */
async function registered(provider: Provider = 'office') {
  const person = newPerson();
  const { json } = await logInByProvider(api, person, newHome, provider);
  return { person, ...json.data } as { person: typeof person; user_id: string; access_token: string };
}

const stored = (user_id: string) => api.collections.users.findOne({ _id: user_id });
const liveOf = (user_id: string) => api.collections.sessions.countDocuments({ user_id, is_revoked: false });
const purposesOf = async (user_id: string) =>
  (await api.collections.outbox.find({ 'event.subject': user_id }).sort({ _id: 1 }).toArray()).flatMap(({ event }) =>
    'purpose' in event.data ? [event.data.purpose] : [],
  );
const list = async (caller: { readonly access_token: string }) =>
  (await api.send({ method: 'GET', path: '/api/v1/account/identities', headers: bearer(caller) })).json.data.identities;
const token = { kid: 'k', token: 'sealed', client_id: 'app' };
const keepToken = (user_id: string) =>
  api.collections.users.updateOne({ _id: user_id }, { $set: { 'identities.0.refresh_token': token as never } });

describe('a notice of Apple', () => {
  test('that the consent is withdrawn ends all sessions, and the person may come again', async () => {
    const { person, user_id, access_token } = await registered();
    await keepToken(user_id);
    const { status, json, headers } = await sendNotice(api, { type: 'consent-revoked', sub: person.sub });
    expect([status, json.data.message, headers['x-request-id']]).toEqual([200, 'NOTICE_RECEIVED', expect.any(String)]);
    expect(await liveOf(user_id)).toBe(0);
    const refused = await api.send({ method: 'GET', path: '/api/v1/account', headers: bearer({ access_token }) });
    expect(refused.status).toBe(401);
    expect((await stored(user_id))?.identities).toEqual([expect.not.objectContaining({ refresh_token: token })]);
    expect(await purposesOf(user_id)).toContain('provider_notice');
    expect((await logInByProvider(api, person)).json.data.user_id).toBe(user_id);
    expect(await api.metric('auth_provider_notices_total', { notice: 'consent_revoked' })).toBeGreaterThan(0);
  });

  test.each(['account-delete', 'account-deleted'])('of the type %s takes even the last way in away', async (type) => {
    const { person, user_id } = await registered();
    await requestLoginCode(api, person.email);
    expect((await sendNotice(api, { type, sub: person.sub })).status).toBe(200);
    expect([(await stored(user_id))?.identities, await liveOf(user_id)]).toEqual([[], 0]);
    expect(await purposesOf(user_id)).toContain('identity_unlinked');
    expect(await api.collections.challenges.countDocuments({ user_id, ended_at: { $exists: false } })).toBe(0);
    expect((await logInByProvider(api, person, newHome)).json.error_code).toBe('ERR-ACCOUNT-LINK-REQUIRED');
  });

  test.each(['true', true])('about its relay shows its owner whether mail arrives, as %j', async (is_private_email) => {
    const session = await newSession(api);
    const person = newPerson();
    await linkIdentity(api, session, person);
    const event = { sub: person.sub, email: person.email, is_private_email };
    await sendNotice(api, { type: 'email-disabled', ...event });
    expect(await list(session)).toMatchObject([{ relay_off: true, disabled: false }]);
    expect(await liveOf(session.user_id)).toBe(1);
    await sendNotice(api, { type: 'email-enabled', ...event });
    expect(await list(session)).toMatchObject([{ relay_off: false }]);
  });

  test('about an address that is no relay changes nothing', async () => {
    const { person, user_id } = await registered();
    await sendNotice(api, { type: 'email-disabled', sub: person.sub, email: person.email, is_private_email: 'false' });
    expect((await stored(user_id))?.identities).toEqual([
      expect.not.objectContaining({ relay_off_at: expect.anything() }),
    ]);
  });

  test('about the relay of an address that the provider has not given out changes nothing', async () => {
    const session = await newSession(api);
    const person = newPerson({ email: session.email });
    await linkIdentity(api, session, person);
    await sendNotice(api, { type: 'email-disabled', sub: person.sub, email: person.email, is_private_email: true });
    expect(await list(session)).toMatchObject([{ relay_off: false }]);
  });

  test('may have several events, and types that nobody knows', async () => {
    const { person, user_id } = await registered();
    const events = [
      { type: 'constructor', sub: person.sub },
      { type: 'consent-revoked', sub: person.sub },
      'none',
      null,
    ];
    expect((await sendNotice(api, events)).status).toBe(200);
    expect(await liveOf(user_id)).toBe(0);
  });

  test('that is repeated, also on other pods at once, takes effect once', async () => {
    const { person, user_id } = await registered();
    const payload = await signNotice({ type: 'consent-revoked', sub: person.sub });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => postNotice(at % 2 ? api : other, payload)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect((await purposesOf(user_id)).filter((purpose) => purpose === 'provider_notice')).toHaveLength(1);
    await logInByProvider(api, person);
    expect((await postNotice(api, payload)).status).toBe(200);
    expect(await liveOf(user_id)).toBe(1);
  });

  test('of a person whom no account has is answered like any other', async () => {
    const known = await registered();
    const answers = await Promise.all(
      [known.person.sub, randomUUID(), undefined].map((sub) => sendNotice(api, { type: 'consent-revoked', sub })),
    );
    const shown = answers.map(({ status, json }) => [status, Object.keys(json.data), json.data.message]);
    expect(shown).toEqual(Array(3).fill([200, ['message', 'timestamp'], 'NOTICE_RECEIVED']));
  });

  test.each([
    ['it is of another app', async (sub: string) => signNotice({ type: 'consent-revoked', sub }, { aud: 'other' })],
    [
      'it is of another provider',
      async (sub: string) => signNotice({ type: 'consent-revoked', sub }, { iss: 'https://other.example' }),
    ],
    [
      'it is old',
      async (sub: string) => {
        const iat = seconds() - 8 * 86_400;
        return signNotice({ type: 'consent-revoked', sub }, { iat, exp: seconds() + 600 });
      },
    ],
    ['it has no id', async (sub: string) => signNotice({ type: 'consent-revoked', sub }, { jti: undefined })],
    ['it is an ID token', async (sub: string) => signIdToken('office', { sub, jti: randomUUID() })],
    [
      'its signature is wrong',
      async (sub: string) => `${(await signNotice({ type: 'consent-revoked', sub })).slice(0, -6)}AAAAAA`,
    ],
    ['it is no token', async () => 'none'],
  ])('is refused if %s', async (_, forge) => {
    const { person, user_id } = await registered();
    const answer = await postNotice(api, await forge(person.sub));
    expect([answer.status, answer.json.error_code]).toEqual([401, 'ERR-IDENTITY-TOKEN-INVALID']);
    expect(await liveOf(user_id)).toBe(1);
  });
});

describe('a security event token', () => {
  test.each([
    ['sessions are ended', `${risc}/sessions-revoked`],
    ['all tokens are revoked', `${oauth}/tokens-revoked`],
    ['all tokens are revoked, by an older name', 'https://accounts.google.com/risc/event/all-token-revoked'],
  ])('that %s there ends them here', async (_, uri) => {
    const { person, user_id } = await registered('partner');
    const { status } = await sendToken(uri, person.sub);
    expect([status, await liveOf(user_id)]).toEqual([202, 0]);
    expect((await logInByProvider(api, person, {}, 'partner')).status).toBe(200);
  });

  test('that the account was taken over keeps its holder out until it is enabled', async () => {
    const { person, user_id } = await registered('partner');
    await sendToken(`${risc}/account-disabled`, person.sub, { reason: 'hijacking' });
    expect(await liveOf(user_id)).toBe(0);
    const refused = await logInByProvider(api, person, {}, 'partner');
    expect([refused.status, refused.json.error_code]).toEqual([401, 'ERR-IDENTITY-TOKEN-INVALID']);
    expect(log.takeEvents()).toContainEqual(
      expect.objectContaining({ event: 'login.refused', user_id, reason: 'identity_disabled' }),
    );
    await sendToken(`${risc}/account-enabled`, person.sub);
    expect((await logInByProvider(api, person, {}, 'partner')).status).toBe(200);
  });

  test('that the account was taken over ends logins that wait for the second factor', async () => {
    const { secret, ...caller } = await guardedAccount(api);
    const person = newPerson();
    shiftMs = 30_000;
    const step_up_token = await stepUpBy(api, caller, 'identities', codeAt(secret, Date.now(), 1));
    expect((await linkIdentity(api, caller, person, { step_up_token }, 'partner')).status).toBe(201);
    const half = await logInByProvider(api, person, {}, 'partner');
    await sendToken(`${risc}/account-disabled`, person.sub, { reason: 'hijacking' });
    shiftMs = 60_000;
    const code = codeAt(secret, Date.now(), 2);
    expect((await completeLogin(api, half.json.details.challenge_id, { code })).status).toBe(410);
    expect(await liveOf(caller.user_id)).toBe(0);
    shiftMs = 0;
  });

  test('that an account made in bulk is disabled ends no session', async () => {
    const { person, user_id } = await registered('partner');
    await sendToken(`${risc}/account-disabled`, person.sub, { reason: 'bulk-account' });
    expect(await liveOf(user_id)).toBe(1);
    expect((await logInByProvider(api, person, {}, 'partner')).status).toBe(401);
  });

  test('that was signed before the latest one of the same state changes no state', async () => {
    const { person, user_id } = await registered('partner');
    await sendToken(`${risc}/account-enabled`, person.sub);
    await sendToken(`${risc}/account-disabled`, person.sub, { reason: 'bulk-account' }, { iat: seconds() - 10 });
    expect(await liveOf(user_id)).toBe(1);
    await sendToken(`${risc}/account-disabled`, person.sub, { reason: 'hijacking' }, { iat: seconds() - 10 });
    expect(await liveOf(user_id)).toBe(0);
    expect((await logInByProvider(api, person, {}, 'partner')).status).toBe(200);
    await sendToken(`${risc}/account-disabled`, person.sub, {}, { iat: seconds() + 20 });
    await sendToken(`${risc}/account-enabled`, person.sub, {}, { iat: seconds() + 10 });
    expect((await logInByProvider(api, person, {}, 'partner')).status).toBe(401);
  });

  test.each([
    ['proves that the way is open', `${risc}/verification`, {}],
    ['asks for a new password', `${risc}/account-credential-change-required`, {}],
    ['nobody knows', 'https://example.com/event', {}],
    ['is about a person of another provider', `${risc}/sessions-revoked`, { subject: { iss: 'other', sub: 'x' } }],
  ])('that %s changes nothing', async (_, uri, event) => {
    const { person, user_id } = await registered('partner');
    expect((await sendToken(uri, person.sub, event)).status).toBe(202);
    expect(await liveOf(user_id)).toBe(1);
  });

  test('is no notice of Apple, and none of another media type', async () => {
    const { person } = await registered('partner');
    const wrong = await api.send({ path: hook, body: 'x', headers: { 'Content-Type': 'text/plain' } });
    expect([wrong.status, wrong.json.error_code]).toEqual([415, 'ERR-UNSUPPORTED-MEDIA-TYPE']);
    expect((await sendToken(`${risc}/sessions-revoked`, person.sub, {}, { aud: 'other' })).status).toBe(401);
  });
});

test('the audit log has what was told, and not of whom the provider knows', async () => {
  const { person, user_id } = await registered();
  log.takeEvents();
  await sendNotice(api, { type: 'consent-revoked', sub: person.sub });
  await postNotice(api, 'none');
  const events = log.takeEvents();
  expect(events).toContainEqual(
    expect.objectContaining({ event: 'provider_notice.received', notice: 'consent_revoked', user_id }),
  );
  expect(events).toContainEqual(expect.objectContaining({ event: 'session.revoked', user_id }));
  expect(events).toContainEqual(expect.objectContaining({ event: 'provider_notice.refused', reason: 'forged' }));
  expect(JSON.stringify(events)).not.toContain(person.sub);
});
