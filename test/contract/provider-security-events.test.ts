import { hash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
// Loaded later otherwise, by one of the tests.
import '../../services/api/src/security/providers/verify-security-event-token.ts';
import { newEmail, newSession, password, type TokenPair } from '../support/api/accounts.ts';
import { bearer, dataOf } from '../support/api/api-driver.ts';
import {
  changeEmail,
  confirmReset,
  logInByCode,
  requestChange,
  requestLoginCode,
  requestReset,
  undoTokenOf,
} from '../support/api/codes.ts';
import {
  demandLink,
  linkByProof,
  linkIdentity,
  logInByProvider,
  newHome,
  newPerson,
  type Provider,
  postSecurityEventToken,
  sendSecurityEvent,
  signIdToken,
  signSecurityEventToken,
} from '../support/api/providers.ts';
import { beginLogin, codeAt, completeLogin, guardedAccount, stepUpBy } from '../support/api/second-factor.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';
import { authctl } from '../support/processes/authctl.ts';
import { recordLog } from '../support/recorded-log.ts';
import { withFailPoint } from '../support/stores/fail-point.ts';
import { patienceMs, testEnvironment } from '../support/test-environment.ts';

/** Name of the other pod's connections, whose commands can be held back. */
const appName = 'provider-notices';

/** Two pods of one deployment. */
let api: TestApi;
let other: TestApi;
let shiftMs = 0;
const log = recordLog('api');
beforeAll(async () => {
  api = await startTestApi({}, { now: () => Date.now() + shiftMs }, log.logger);
  const uri = new URL(testEnvironment().mongodbUri);
  uri.searchParams.set('appName', appName);
  other = await api.beside({ MONGODB_URI: uri.href });
});
afterAll(async () => {
  await api.close();
});

const risc = 'https://schemas.openid.net/secevent/risc/event-type';
const oauth = 'https://schemas.openid.net/secevent/oauth/event-type';
const caep = 'https://schemas.openid.net/secevent/caep/event-type';
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
    'purpose' in event.data && event.type === 'service.auth.events.notice' ? [event.data.purpose] : [],
  );
const list = async (caller: { readonly access_token: string }) =>
  (await api.listIdentities(bearer(caller))).json.data.identities;
/** Returns what was audited of security events since the last call, and of whom. */
const accepted = () => acceptedAndIgnored().kinds;
function acceptedAndIgnored() {
  const all = Map.groupBy(log.takeEvents(), ({ event }) => event);
  return {
    kinds: (all.get('provider_notice.received') ?? []).map(({ notice, user_id }) => [notice, user_id]),
    reasons: (all.get('provider_notice.ignored') ?? []).map(({ reason }) => reason),
  };
}
const token = { kid: 'k', token: 'sealed', client_id: 'app' };
const keepToken = (user_id: string) =>
  api.collections.users.updateOne({ _id: user_id }, { $set: { 'identities.0.refresh_token': token as never } });

// First, because the audit log writes only the first ten refusals of a minute at once.
test('the audit log has what a security event says, and not the provider’s id of the person', async () => {
  const { person, user_id } = await registered();
  log.takeEvents();
  await sendSecurityEvent(api, { type: 'consent-revoked', sub: person.sub });
  await postSecurityEventToken(api, 'none');
  const events = log.takeEvents();
  expect(events).toContainEqual(
    expect.objectContaining({ event: 'provider_notice.received', notice: 'consent_revoked', user_id }),
  );
  expect(events).toContainEqual(expect.objectContaining({ event: 'session.revoked', user_id }));
  expect(events).toContainEqual(expect.objectContaining({ event: 'provider_notice.refused', reason: 'malformed' }));
  expect(JSON.stringify(events)).not.toContain(person.sub);
});

describe('a security event token of Apple', () => {
  test('a security event that the consent is withdrawn ends all sessions, and the person may log in again', async () => {
    const { person, user_id, access_token } = await registered();
    await keepToken(user_id);
    const { status, json, headers } = await sendSecurityEvent(api, { type: 'consent-revoked', sub: person.sub });
    expect([status, json.data.message, headers['x-request-id']]).toEqual([200, 'NOTICE_RECEIVED', expect.any(String)]);
    expect(await liveOf(user_id)).toBe(0);
    const refused = await api.findAccount(bearer({ access_token }));
    expect(refused.status).toBe(401);
    expect((await stored(user_id))?.identities).toEqual([expect.not.objectContaining({ refresh_token: token })]);
    const ended = await api.collections.sessions.find({ user_id }).toArray();
    expect(ended.map(({ revoked_reason }) => revoked_reason)).toEqual(['revoked_by_provider']);
    const requestId = ended[0]?.revoked_request_id ?? '';
    const { env } = api;
    expect((await authctl(['trace', requestId], { env })).stdout).toMatch(/revoked_by_provider.* consent_revoked/);
    expect(await purposesOf(user_id)).toContain('provider_notice');
    expect((await logInByProvider(api, person)).json.data.user_id).toBe(user_id);
    expect(await api.metric('auth_provider_notices_total', { notice: 'consent_revoked' })).toBeGreaterThan(0);
  });

  test.each(['account-delete', 'account-deleted'])(
    'a security event of the type %s removes the identity, even if it is the last one',
    async (type) => {
      const { person, user_id, access_token } = await registered();
      await requestLoginCode(api, person.email);
      expect((await sendSecurityEvent(api, { type, sub: person.sub })).status).toBe(200);
      const read = { method: 'GET', path: '/api/v1/account', headers: bearer({ access_token }) };
      expect((await api.send(read)).status).toBe(401);
      expect([(await stored(user_id))?.identities, await liveOf(user_id)]).toEqual([[], 0]);
      expect(await purposesOf(user_id)).toContain('identity_unlinked');
      const events = log.takeEvents();
      for (const event of ['identity.unlinked', 'session.revoked'])
        expect(events).toContainEqual(expect.objectContaining({ event, user_id }));
      expect(await api.collections.challenges.countDocuments({ user_id, ended_at: { $exists: false } })).toBe(0);
      expect((await logInByProvider(api, person, newHome)).json.error_code).toBe('ERR-ACCOUNT-LINK-REQUIRED');
    },
  );

  test.each(['true', true, undefined])(
    'a security event about a relay shows its owner whether mail arrives, as %j',
    async (is_private_email) => {
      const session = await newSession(api);
      const person = newPerson();
      await linkIdentity(api, session, person);
      const event = { sub: person.sub, email: person.email, is_private_email };
      await sendSecurityEvent(api, { type: 'email-disabled', ...event });
      expect(await list(session)).toMatchObject([{ relay_off: true, disabled: false }]);
      expect(await liveOf(session.user_id)).toBe(1);
      await sendSecurityEvent(api, { type: 'email-enabled', ...event });
      expect(await list(session)).toMatchObject([{ relay_off: false }]);
    },
  );

  test('a security event about a relay changes nothing if it was signed before the latest one', async () => {
    const { person, user_id } = await registered();
    const isOff = async () => (await stored(user_id))?.identities?.[0]?.relay_off_at !== undefined;
    const send = (type: string, ago: number) =>
      sendSecurityEvent(api, { type, sub: person.sub }, { iat: seconds() - ago });
    await send('email-enabled', 20);
    await send('email-disabled', 30);
    expect(await isOff()).toBe(false);
    await send('email-disabled', 10);
    await send('email-enabled', 15);
    expect(await isOff()).toBe(true);
  });

  test('a security event about an email address that is no relay changes nothing', async () => {
    const { person, user_id } = await registered();
    log.takeEvents();
    await sendSecurityEvent(api, {
      type: 'email-disabled',
      sub: person.sub,
      email: person.email,
      is_private_email: 'false',
    });
    expect(accepted()).toEqual([['other', user_id]]);
    expect((await stored(user_id))?.identities).toEqual([
      expect.not.objectContaining({ relay_off_at: expect.anything() }),
    ]);
    await sendSecurityEvent(api, { type: 'consent-revoked', sub: person.sub, is_private_email: 'false' });
    expect(await liveOf(user_id)).toBe(0);
  });

  test('a security event about an email address that the provider has not given out changes nothing', async () => {
    const session = await newSession(api);
    const person = newPerson({ email: session.email });
    await linkIdentity(api, session, person);
    await sendSecurityEvent(api, {
      type: 'email-disabled',
      sub: person.sub,
      email: person.email,
      is_private_email: true,
    });
    expect(await list(session)).toMatchObject([{ relay_off: false }]);
  });

  test('a security event token may have several events, and unknown types', async () => {
    const { person, user_id } = await registered();
    log.takeEvents();
    const { sub } = person;
    const events = [{ type: 'constructor', sub }, { type: 'consent-revoked', sub }, 'none', null];
    expect((await sendSecurityEvent(api, events)).status).toBe(200);
    const { kinds, reasons } = acceptedAndIgnored();
    expect([kinds, reasons]).toEqual([[['consent_revoked', user_id]], Array(3).fill('unknown_event')]);
    expect(await liveOf(user_id)).toBe(0);
  });

  test('a security event token counts up to its tenth event, and the rest is audited as ignored', async () => {
    const { person, user_id } = await registered();
    const [none, last] = [{ type: 'none' }, { type: 'consent-revoked', sub: person.sub }];
    log.takeEvents();
    await sendSecurityEvent(api, [...Array(10).fill(none), last, last]);
    expect(acceptedAndIgnored().reasons).toEqual([...Array(10).fill('unknown_event'), 'surplus']);
    expect(await liveOf(user_id)).toBe(1);
    await sendSecurityEvent(api, [...Array(9).fill(none), last]);
    expect(await liveOf(user_id)).toBe(0);
  });

  test('a security event token may have an object in place of the text', async () => {
    const { person, user_id } = await registered();
    log.takeEvents();
    expect((await sendSecurityEvent(api, {}, { events: { type: 'consent-revoked', sub: person.sub } })).status).toBe(
      200,
    );
    expect([accepted(), await liveOf(user_id)]).toEqual([[['consent_revoked', user_id]], 0]);
  });

  test('a security event token is remembered for as long as its signature counts', async () => {
    const { person } = await registered();
    const [jti, at] = [randomUUID(), Date.now()];
    await sendSecurityEvent(api, { type: 'email-disabled', sub: person.sub }, { jti });
    const _id = hash('sha256', JSON.stringify(['notice', 'office', jti, 0]), 'base64url');
    const record = await api.collections.consumedProofs.findOne({ _id });
    // Seven days, a minute of tolerance, a second, and five minutes for clocks that are behind.
    const until = 7 * 86_400_000 + 6 * 60_000 + 1_000;
    expect(Math.abs(Number(record?.purge_at) - at - until)).toBeLessThan(60_000);
  });

  describe('a security event of an account that changes meanwhile', () => {
    test.each([
      ['email-disabled', [expect.objectContaining({ relay_off_at: expect.any(Date) })]],
      ['account-delete', []],
    ])('a security event of the type %s is tried again if the account changes meanwhile', async (type, identities) => {
      const { person, user_id } = await registered();
      // The other pod has read the account when it waits at the record of the security event.
      const namespace = `${api.database}.spent_proofs`;
      const held = { failCommands: ['insert'], blockConnection: true, blockTimeMS: 1_000, namespace, appName };
      const { status } = await withFailPoint(api.mongo, { times: 1 }, held, async (entered) => {
        const sent = sendSecurityEvent(other, { type, sub: person.sub });
        await entered();
        await api.collections.users.updateOne({ _id: user_id }, { $set: { ways_changed_at: new Date() } });
        return sent;
      });
      expect([status, (await stored(user_id))?.identities]).toEqual([200, identities]);
    });
  });

  test('a security event token is answered with 503 while the keys of the provider are not there, and with 404 for a provider that sends none', async () => {
    const shared = { name: 'office', issuers: ['http://127.0.0.1:1'], client_ids: ['app'] };
    const jwks_uri = 'http://127.0.0.1:1/keys';
    const silent = { ...shared, name: 'partner', issuers: ['http://127.0.0.1:1/partner'], jwks_uri };
    const entries = [{ ...shared, jwks_uri, notices: 'apple' }, silent];
    const lonely = await startTestApi({ IDENTITY_PROVIDERS: JSON.stringify(entries) });
    try {
      const payload = await signSecurityEventToken({ type: 'consent-revoked', sub: 'x' });
      const answers = [
        await postSecurityEventToken(lonely, payload),
        await lonely.receiveProviderNotice({ provider: 'partner', payload }),
      ];
      expect(answers.map(({ status, json }) => [status, json.error_code])).toEqual([
        [503, 'ERR-DEPENDENCY-UNAVAILABLE'],
        [404, 'ERR-ROUTE-NOT-FOUND'],
      ]);
    } finally {
      await lonely.close();
    }
  });

  // guarantees: provider-notice-once
  test('a security event that is repeated, also on other pods at once, takes effect once', async () => {
    const { person, user_id } = await registered();
    const payload = await signSecurityEventToken({ type: 'consent-revoked', sub: person.sub });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => postSecurityEventToken(at % 2 ? api : other, payload)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect((await purposesOf(user_id)).filter((purpose) => purpose === 'provider_notice')).toHaveLength(1);
    await logInByProvider(api, person);
    expect((await postSecurityEventToken(api, payload)).status).toBe(200);
    expect(await liveOf(user_id)).toBe(1);
  });

  test('a security event is looked up if the store never says whether it was committed', async () => {
    const { person, user_id } = await registered();
    const writeConcernError = { code: 91, errmsg: 'shutting down' };
    const unknown = { failCommands: ['commitTransaction'], writeConcernError, appName };
    const realNow = performance.now.bind(performance);
    let passedMs = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => realNow() + passedMs);
    // The driver repeats a commit once.
    const { status } = await withFailPoint(api.mongo, { times: 2 }, unknown, async (entered) => {
      const sent = sendSecurityEvent(other, { type: 'email-disabled', sub: person.sub });
      await entered();
      // The time for further commits is over.
      passedMs = patienceMs;
      return sent;
    }).finally(() => clock.mockRestore());
    expect([status, (await stored(user_id))?.identities]).toMatchObject([200, [{ relay_off_at: expect.any(Date) }]]);
  });

  test('a security event whose effect the store does not take is not received', async () => {
    const { person, user_id } = await registered();
    const namespace = `${api.database}.spent_proofs`;
    const failing = { failCommands: ['insert'], errorCode: 96, namespace, appName };
    const send = () => sendSecurityEvent(other, { type: 'consent-revoked', sub: person.sub });
    const { status } = await withFailPoint(api.mongo, 'alwaysOn', failing, send);
    expect([status, await liveOf(user_id)]).toEqual([500, 1]);
  });

  test('a security event of a person without an account is answered like any other', async () => {
    const known = await registered();
    log.takeEvents();
    const answers = await Promise.all(
      [known.person.sub, randomUUID(), undefined].map((sub) =>
        sendSecurityEvent(api, { type: 'consent-revoked', sub }),
      ),
    );
    const shown = answers.map(({ status, json }) => [status, Object.keys(json.data), json.data.message]);
    expect(shown).toEqual(Array(3).fill([200, ['message', 'timestamp'], 'NOTICE_RECEIVED']));
    const { kinds, reasons } = acceptedAndIgnored();
    expect(kinds.sort()).toEqual([known.user_id, undefined].map((user_id) => ['consent_revoked', user_id]).sort());
    expect(reasons).toEqual(['unknown_subject']);
  });

  // guarantees: provider-notice-once
  test.each([
    [
      'it is of another app',
      async (sub: string) => signSecurityEventToken({ type: 'consent-revoked', sub }, { aud: 'other' }),
    ],
    [
      'it is of another provider',
      async (sub: string) => signSecurityEventToken({ type: 'consent-revoked', sub }, { iss: 'https://other.example' }),
    ],
    [
      'it is old',
      async (sub: string) => {
        const iat = seconds() - 8 * 86_400;
        return signSecurityEventToken({ type: 'consent-revoked', sub }, { iat, exp: seconds() + 600 });
      },
    ],
    ...[undefined, '', 7].map(
      (jti) =>
        [
          `its id is ${jti}`,
          async (sub: string) => signSecurityEventToken({ type: 'consent-revoked', sub }, { jti }),
        ] as const,
    ),
    ['its events are no JSON', async () => signSecurityEventToken({}, { events: 'none' })],
    ['it has no event', async () => signSecurityEventToken([])],
    ['it is an ID token', async (sub: string) => signIdToken('office', { sub, jti: randomUUID() })],
    [
      'its signature is wrong',
      async (sub: string) => `${(await signSecurityEventToken({ type: 'consent-revoked', sub })).slice(0, -6)}AAAAAA`,
    ],
    ['it is no token', async () => 'none'],
  ])('a security event token is refused if %s', async (_, forge) => {
    const { person, user_id } = await registered();
    const answer = await postSecurityEventToken(api, await forge(person.sub));
    expect([answer.status, answer.json.error_code]).toEqual([401, 'ERR-IDENTITY-TOKEN-INVALID']);
    expect(await liveOf(user_id)).toBe(1);
  });
});

describe('a security event token', () => {
  test.each([
    ['sessions are ended', `${risc}/sessions-revoked`],
    ['all tokens are revoked', `${oauth}/tokens-revoked`],
    ['all tokens are revoked, by an older name', 'https://accounts.google.com/risc/event/all-token-revoked'],
  ])('a security event token that %s at the provider ends the sessions here', async (_, uri) => {
    const { person, user_id } = await registered('partner');
    const { status } = await sendToken(uri, person.sub);
    expect([status, await liveOf(user_id)]).toEqual([202, 0]);
    expect((await logInByProvider(api, person, {}, 'partner')).status).toBe(200);
  });

  test('a security event token that the account is gone removes the identity', async () => {
    const { person, user_id } = await registered('partner');
    expect((await sendToken(`${risc}/account-purged`, person.sub)).status).toBe(202);
    expect([(await stored(user_id))?.identities, await liveOf(user_id)]).toEqual([[], 0]);
  });

  test('a security event token that the account was taken over keeps its holder out until it is enabled', async () => {
    const { person, user_id } = await registered('partner');
    await sendToken(`${risc}/account-disabled`, person.sub, { reason: 'hijacking' });
    expect(await liveOf(user_id)).toBe(0);
    const refused = await logInByProvider(api, person, {}, 'partner');
    expect([refused.status, refused.json.error_code]).toEqual([403, 'ERR-IDENTITY-DISABLED']);
    expect(log.takeEvents()).toContainEqual(
      expect.objectContaining({ event: 'login.refused', user_id, reason: 'identity_disabled' }),
    );
    await sendToken(`${risc}/account-enabled`, person.sub);
    expect((await logInByProvider(api, person, {}, 'partner')).status).toBe(200);
  });

  test('a security event token that the account was taken over ends logins that wait for the second factor', async () => {
    const { secret, ...caller } = await guardedAccount(api);
    const person = newPerson();
    shiftMs = 30_000;
    const step_up_token = await stepUpBy(api, caller, 'identities', codeAt(secret, Date.now(), 1));
    expect((await linkIdentity(api, caller, person, { step_up_token }, 'partner')).status).toBe(201);
    const pendingLogin = await logInByProvider(api, person, {}, 'partner');
    await sendToken(`${risc}/account-disabled`, person.sub, { reason: 'hijacking' });
    shiftMs = 60_000;
    const code = codeAt(secret, Date.now(), 2);
    expect((await completeLogin(api, pendingLogin.json.details.challenge_id, { code })).status).toBe(410);
    shiftMs = 0;
  });

  test('a security event token that an account made in bulk is disabled ends no session', async () => {
    const { person, user_id } = await registered('partner');
    await sendToken(`${risc}/account-disabled`, person.sub, { reason: 'bulk-account' });
    expect(await liveOf(user_id)).toBe(1);
    expect((await logInByProvider(api, person, {}, 'partner')).status).toBe(403);
  });

  test('a security event token concerns the identity that it names, and no other one of the account', async () => {
    const session = await newSession(api);
    const [office, partner] = [newPerson(), newPerson()];
    await linkIdentity(api, session, office);
    await linkIdentity(api, session, partner, undefined, 'partner');
    await sendToken(`${risc}/account-disabled`, partner.sub, { reason: 'bulk-account' });
    expect(await list(session)).toMatchObject([
      { provider: 'office', disabled: false },
      { provider: 'partner', disabled: true },
    ]);
  });

  test('a security event token ends sessions also if it was signed before the latest state, whatever its reason', async () => {
    const { person, user_id } = await registered('partner');
    await sendToken(`${risc}/account-enabled`, person.sub);
    await sendToken(`${risc}/sessions-revoked`, person.sub, { reason: 'bulk-account' }, { iat: seconds() - 10 });
    expect(await liveOf(user_id)).toBe(0);
  });

  test('a security event token that was signed before the latest one of the same state changes no state', async () => {
    const { person, user_id } = await registered('partner');
    await sendToken(`${risc}/account-enabled`, person.sub);
    await sendToken(`${risc}/account-disabled`, person.sub, { reason: 'bulk-account' }, { iat: seconds() - 10 });
    expect(await liveOf(user_id)).toBe(1);
    await sendToken(`${risc}/account-disabled`, person.sub, { reason: 'hijacking' }, { iat: seconds() - 10 });
    expect(await liveOf(user_id)).toBe(0);
    expect((await logInByProvider(api, person, {}, 'partner')).status).toBe(200);
    await sendToken(`${risc}/account-disabled`, person.sub, {}, { iat: seconds() + 20 });
    await sendToken(`${risc}/account-enabled`, person.sub, {}, { iat: seconds() + 10 });
    expect((await logInByProvider(api, person, {}, 'partner')).status).toBe(403);
  });

  test('a security event token that proves that the way is open changes nothing, and counts as understood', async () => {
    const { person, user_id } = await registered('partner');
    log.takeEvents();
    expect((await sendToken(`${risc}/verification`, person.sub)).status).toBe(202);
    expect([accepted(), await liveOf(user_id)]).toEqual([[['other', user_id]], 1]);
    expect((await sendToken(`${risc}/verification`, '', { subject: undefined })).status).toBe(202);
    expect(accepted()).toEqual([['other', undefined]]);
    expect((await sendToken('https://example.com/event', '', { subject: undefined })).status).toBe(202);
    expect(acceptedAndIgnored().reasons).toEqual(['unknown_event']);
  });

  const issuer = () => `${process.env.TEST_PROVIDER_URL}/partner`;
  const byIssuer = (sub: string, iss = issuer()) => ({ format: 'iss_sub', iss, sub });
  const byEmail = { format: 'email', email: 'a@partner.example' };

  test.each<[string, (sub: string) => object]>([
    ['by issuer and subject', (sub) => byIssuer(sub)],
    ['by an opaque id', (id) => ({ format: 'opaque', id })],
    ['by aliases', (sub) => ({ format: 'aliases', identifiers: [byEmail, byIssuer('x', 'other'), byIssuer(sub)] })],
    [
      'as user of a session',
      (id) => ({ format: 'complex', user: byIssuer(id), session: { format: 'opaque', id: 's' } }),
    ],
  ])('a CAEP event whose top-level sub_id names the person %s ends the sessions', async (_, subjectOf) => {
    const { person, user_id } = await registered('partner');
    const claims = { sub_id: subjectOf(person.sub) };
    const { status, text } = await sendToken(`${caep}/session-revoked`, '', { subject: undefined }, claims);
    expect([status, text, await liveOf(user_id)]).toEqual([202, '', 0]);
  });

  test.each<[string, string, (sub: string) => object]>([
    ['unknown_event', 'https://example.com/event', (sub) => byIssuer(sub)],
    ['unknown_event', `${risc}/account-credential-change-required`, (sub) => byIssuer(sub)],
    ['unknown_event', `x${risc}/sessions-revoked`, (sub) => byIssuer(sub)],
    ['unknown_event', `${risc}/sessions-revoked/1`, (sub) => byIssuer(sub)],
    ['unknown_subject', `${risc}/sessions-revoked`, (sub) => byIssuer(sub, 'other')],
    ['unknown_subject', `${risc}/sessions-revoked`, () => byEmail],
    ['unknown_subject', `${risc}/sessions-revoked`, () => ({ format: 'opaque', id: 7 })],
    ['unknown_subject', `${risc}/sessions-revoked`, () => ({ ...byIssuer(''), sub: 7 })],
    [
      'unknown_subject',
      `${risc}/sessions-revoked`,
      (sub) => ({ format: 'aliases', identifiers: [byIssuer(sub), byIssuer('x')] }),
    ],
    ['unknown_subject', `${risc}/sessions-revoked`, (sub) => ({ format: 'complex', session: byIssuer(sub) })],
  ])(
    'an event that is not understood gets 202, and is counted and audited as %s: %s',
    async (reason, uri, subjectOf) => {
      const { person, user_id } = await registered('partner');
      log.takeEvents();
      const before = await api.metric('auth_provider_notices_total', { notice: reason });
      expect((await sendToken(uri, '', { subject: subjectOf(person.sub) })).status).toBe(202);
      const audited = { event: 'provider_notice.ignored', outcome: 'failure', provider: 'partner', reason };
      expect(log.takeEvents()).toEqual([expect.objectContaining(audited)]);
      expect(await api.metric('auth_provider_notices_total', { notice: reason })).toBe(before + 1);
      expect(await liveOf(user_id)).toBe(1);
    },
  );

  test.each<[string, string, object]>([
    ['invalid_audience', 'audience', { aud: 'other' }],
    ['invalid_issuer', 'issuer', { iss: 'https://other.example' }],
    ['invalid_request', 'malformed', { jti: undefined }],
    ['invalid_request', 'time', { iat: 1 }],
    ['invalid_request', 'time', { exp: 1 }],
    ['invalid_request', 'malformed', { events: 'none' }],
    ['invalid_request', 'malformed', { events: {} }],
    ['invalid_request', 'malformed', { events: { [`${risc}/sessions-revoked`]: {} } }],
    ['invalid_request', 'malformed', { events: { [`${risc}/verification`]: {}, [`${risc}/sessions-revoked`]: {} } }],
  ])(
    'a security event token is refused as RFC 8935 says, with %s, and counted as %s: %j',
    async (err, notice, claims) => {
      const { person } = await registered('partner');
      const before = await api.metric('auth_provider_notices_total', { notice });
      const { status, json, headers } = await sendToken(`${risc}/sessions-revoked`, person.sub, {}, claims);
      expect([status, json]).toEqual([400, { err, description: `The security event token is refused: ${notice}.` }]);
      expect([headers['content-language'], headers['content-type']]).toEqual(['en', 'application/json']);
      expect(await api.metric('auth_provider_notices_total', { notice })).toBe(before + 1);
    },
  );

  const form = { 'Content-Type': 'application/secevent+jwt' };

  test.each([
    ['authentication_failed', async () => `${(await signIdToken('partner', {})).slice(0, -6)}AAAAAA`],
    ['invalid_key', async () => `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`],
    ['invalid_request', async () => 'none'],
    ['invalid_request', async () => ''],
  ])('what is sent as a security event token is refused with %s', async (err, forge) => {
    const { status, json } = await api.send({ path: hook, body: Buffer.from(await forge()), headers: form });
    expect([status, json.err]).toEqual([400, err]);
  });

  test.each<[number, string, object]>([
    [404, 'ERR-ROUTE-NOT-FOUND', { path: '/api/v1/hooks/nobody' }],
    [405, 'ERR-METHOD-NOT-ALLOWED', { method: 'PUT' }],
    [413, 'ERR-PAYLOAD-TOO-LARGE', { body: Buffer.alloc(17_000, 'x') }],
    [415, 'ERR-UNSUPPORTED-MEDIA-TYPE', { headers: { 'Content-Type': 'application/jwt' } }],
    [415, 'ERR-UNSUPPORTED-MEDIA-TYPE', { headers: { ...form, 'Content-Encoding': 'gzip' } }],
  ])('a refusal that is not about the security event token is in the form of the service: %i %s', async (...given) => {
    const [status, code, request] = given;
    const answer = await api.send({ path: hook, body: Buffer.from('x'), headers: form, ...request });
    expect([answer.status, answer.json.error_code]).toEqual([status, code]);
  });

  test('a security event token that cannot be looked at yet is refused in the form of the service, to be sent again', async () => {
    const shared = { client_ids: ['app'], issuers: ['http://127.0.0.1:1'], jwks_uri: 'http://127.0.0.1:1/keys' };
    const IDENTITY_PROVIDERS = JSON.stringify([{ ...shared, name: 'partner', notices: 'risc' }]);
    const lonely = await startTestApi({ IDENTITY_PROVIDERS, NOTICE_LIMIT_PER_ADDRESS: '1' });
    try {
      const body = Buffer.from(await signIdToken('partner', { jti: '1', events: {} }));
      const send = () => lonely.send({ path: hook, body, headers: form });
      const answers = [await send(), await send()];
      expect(answers.map(({ status, json, headers }) => [status, json.error_code, headers['retry-after']])).toEqual([
        [503, 'ERR-DEPENDENCY-UNAVAILABLE', expect.any(String)],
        [429, 'ERR-RATE-LIMITED', expect.any(String)],
      ]);
    } finally {
      await lonely.close();
    }
  });
});

describe('what a security event ends', () => {
  const revoked = `${oauth}/tokens-revoked`;
  const ended = `${risc}/sessions-revoked`;
  const disabled = `${risc}/account-disabled`;
  const enabled = `${risc}/account-enabled`;
  const purged = `${risc}/account-purged`;
  const ending = [revoked, ended, disabled, purged];

  const isLive = async ({ session_id }: Pick<TokenPair, 'session_id'>) =>
    (await api.collections.sessions.findOne({ _id: session_id }))?.is_revoked === false;
  const logInBy = (person: object, provider: Provider = 'partner'): Promise<TokenPair> =>
    dataOf(logInByProvider(api, person, { device_id: randomUUID() }, provider));
  const notificationsOf = async (user_id: string) =>
    (await purposesOf(user_id)).filter((purpose) => purpose === 'provider_notice').length;

  /** Creates an account with a session by password, to which somebody else has linked an identity of theirs. */
  async function linked() {
    const owner = await newSession(api, { device_id: randomUUID() });
    await api.collections.users.updateOne({ _id: owner.user_id }, { $set: { email_verified_at: new Date(0) } });
    const thief = newPerson();
    await linkIdentity(api, owner, thief, undefined, 'partner');
    return { thief, ...owner };
  }

  // guarantees: provider-notice-effects
  test.each(ending)(
    'a security event ends the sessions that its identity has opened, and no others: %s',
    async (uri) => {
      const { thief, ...owner } = await linked();
      const own = newPerson();
      await linkIdentity(api, owner, own);
      const [byThief, byOwn] = [await logInBy(thief), await logInBy(own, 'office')];
      expect((await sendToken(uri, thief.sub)).status).toBe(202);
      expect(await Promise.all([byThief, byOwn, owner].map(isLive))).toEqual([false, true, true]);
    },
  );

  test('a security event is about one identity, although others have the same provider or the same id', async () => {
    const { thief, ...owner } = await linked();
    const second = newPerson();
    await linkIdentity(api, owner, second, undefined, 'partner');
    await linkIdentity(api, owner, thief, undefined, 'office');
    const sessions = [await logInBy(thief), await logInBy(second), await logInBy(thief, 'office')];
    await sendSecurityEvent(api, { type: 'consent-revoked', sub: thief.sub });
    expect(await Promise.all(sessions.map(isLive))).toEqual([true, true, false]);
    await sendToken(ended, second.sub);
    expect(await Promise.all(sessions.map(isLive))).toEqual([true, false, false]);
  });

  // guarantees: provider-notice-effects
  test.each(ending)(
    'a security event revokes nothing that another sign-in method has ordered or begun: %s',
    async (uri) => {
      const { thief, email, user_id, ...owner } = await linked();
      const [reset, login] = [await requestReset(api, email), await requestLoginCode(api, email)];
      await requestChange(api, owner, newEmail());
      const before = await stored(user_id);
      await sendToken(uri, thief.sub);
      const fields = ['ways_changed_at', 'pending_email', 'pending_email_until'] as const;
      const after = await stored(user_id);
      expect(fields.map((field) => after?.[field])).toEqual(fields.map((field) => before?.[field]));
      expect((await logInByCode(api, login)).status).toBe(200);
      expect((await confirmReset(api, reset)).status).toBe(200);
    },
  );

  // guarantees: provider-notice-effects
  test('a security event ends the logins awaiting a second factor, and the trust, that its identity has begun, and no others', async () => {
    const { secret, ...caller } = await guardedAccount(api);
    const person = newPerson();
    const factor = () => {
      shiftMs += 30_000;
      return codeAt(secret, Date.now() + shiftMs);
    };
    const step_up_token = await stepUpBy(api, caller, 'identities', factor());
    await linkIdentity(api, caller, person, { step_up_token }, 'partner');
    const pendingLogin = async (device_id: string) =>
      (await logInByProvider(api, person, { device_id }, 'partner')).json.details.challenge_id as string;
    const [ofPerson, ofOwner] = [randomUUID(), randomUUID()];
    await completeLogin(api, await pendingLogin(ofPerson), { code: factor(), trust_device: true });
    const byPassword = await beginLogin(api, caller.email, { device_id: ofOwner });
    await completeLogin(api, byPassword, { code: factor(), trust_device: true });
    const [begun, other] = [await pendingLogin(randomUUID()), await beginLogin(api, caller.email)];
    await sendToken(revoked, person.sub);
    expect((await stored(caller.user_id))?.trusted_devices?.map(({ device_id }) => device_id)).toEqual([ofOwner]);
    expect((await completeLogin(api, begun, { code: factor() })).status).toBe(410);
    expect((await completeLogin(api, other, { code: factor() })).status).toBe(200);
    shiftMs = 0;
  });

  test('a session that a proof of the account has opened is none of the identity that it links', async () => {
    const owner = await newSession(api);
    const person = newPerson({ email: owner.email });
    const { link_challenge_id } = await demandLink(api, person, 'partner');
    const { json } = await linkByProof(api, link_challenge_id, { password, device_id: randomUUID() });
    await sendToken(ended, person.sub);
    expect(await isLive(json.data)).toBe(true);
  });

  test('a session of an earlier release ends with any identity that was linked before it', async () => {
    const { thief, user_id } = await linked();
    const sessions = [await logInBy(thief), await logInBy(thief)];
    const [{ session_id: old }] = sessions as [TokenPair, TokenPair];
    await api.collections.sessions.updateMany({ user_id }, { $unset: { identity_id: true } });
    await api.collections.sessions.updateOne({ _id: old }, { $set: { created_at: new Date(0) } });
    await sendToken(ended, thief.sub);
    expect([...(await Promise.all(sessions.map(isLive))), await liveOf(user_id)]).toEqual([true, false, 2]);
  });

  test('an identity that a recovery has removed can do nothing any more', async () => {
    const { thief, email, user_id, ...owner } = await linked();
    await changeEmail(api, owner, newEmail());
    await api.undoEmailChange({ undo_token: await undoTokenOf(api, user_id) });
    expect((await confirmReset(api, await requestReset(api, email))).status).toBe(200);
    const own = await api.logIn({ email, password: 'three wrong staples' });
    log.takeEvents();
    for (const uri of ending) expect((await sendToken(uri, thief.sub)).status).toBe(202);
    expect(accepted().map(([, of]) => of)).toEqual(Array(ending.length).fill(undefined));
    expect(await isLive(own.json.data)).toBe(true);
    expect(await notificationsOf(user_id)).toBe(0);
  });

  // guarantees: provider-notice-effects
  test('a security event that ends sessions is mailed once in a day for each identity, and the mail names the provider', async () => {
    const { thief, user_id } = await linked();
    await sendToken(ended, thief.sub);
    expect(await notificationsOf(user_id)).toBe(0);
    for (let round = 0; round < 3; round += 1) {
      await logInBy(thief);
      await sendToken(ended, thief.sub);
      expect(await notificationsOf(user_id)).toBe(1);
    }
    const purpose = { 'event.subject': user_id, 'event.data.purpose': 'provider_notice' } as object;
    expect((await api.collections.outbox.findOne(purpose))?.event.data).toMatchObject({ provider: 'partner' });
  });

  test('the tenth security event of a day takes effect, and after it an identity may be disabled once, or go', async () => {
    const { thief, user_id } = await linked();
    for (let sent = 0; sent < 9; sent += 1) await sendToken(enabled, thief.sub);
    const session = await logInBy(thief);
    await sendToken(revoked, thief.sub);
    expect(await isLive(session)).toBe(false);
    log.takeEvents();
    const reason = 'bulk-account';
    await sendToken(disabled, thief.sub, { reason });
    expect(accepted()).toEqual([['account_disabled', user_id]]);
    expect((await logInByProvider(api, thief, {}, 'partner')).status).toBe(403);
    await sendToken(disabled, thief.sub, { reason });
    expect(accepted()).toEqual([]);
    await sendToken(purged, thief.sub);
    expect((await stored(user_id))?.identities).toEqual([]);
  });

  // guarantees: provider-notice-effects
  test('of one identity ten security events take effect in a day; further ones are taken, audited, and may only disable it', async () => {
    const { thief, user_id } = await linked();
    for (let sent = 0; sent < 10; sent += 1) await sendToken(sent % 2 ? revoked : enabled, thief.sub);
    const before = await stored(user_id);
    const session = await logInBy(thief);
    const mailed = await notificationsOf(user_id);
    log.takeEvents();
    expect((await sendToken(revoked, thief.sub)).status).toBe(202);
    expect(log.takeEvents()).toContainEqual(
      expect.objectContaining({ event: 'provider_notice.refused', reason: 'too_many', user_id, provider: 'partner' }),
    );
    expect([await isLive(session), await notificationsOf(user_id)]).toEqual([true, mailed]);
    expect((await stored(user_id))?.identities).toEqual(before?.identities);
    await sendToken(disabled, thief.sub);
    expect(await isLive(session)).toBe(false);
    await sendToken(enabled, thief.sub);
    expect((await logInByProvider(api, thief, {}, 'partner')).status).toBe(403);
    shiftMs = 86_400_000;
    await sendToken(enabled, thief.sub, {}, { iat: seconds() + 86_400 });
    expect((await stored(user_id))?.identities?.[0]?.disabled_at).toBeUndefined();
    shiftMs = 0;
  });
});
