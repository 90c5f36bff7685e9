import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Account, newSession, password, type TokenPair } from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import { createAuthenticator } from '../support/api/authenticator.ts';
import { refresh } from '../support/api/groups.ts';
import {
  addPasskey,
  appOrigin,
  deletePasskey,
  logInByPasskey,
  passkeyLogin,
  requestPasskey,
  requestPasskeyLogin,
} from '../support/api/passkeys.ts';
import { confirmStepUp, stepUp } from '../support/api/step-up.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';
import { recordLog } from '../support/recorded-log.ts';

let api: TestApi;
let caller: Account & TokenPair;
let shiftMs = 0;
const { logger, lines: logged } = recordLog('api', 'debug');

beforeAll(async () => {
  api = await startTestApi({}, { now: () => Date.now() + shiftMs }, logger);
  caller = await newSession(api);
});
afterAll(() => api.close());

const list = async (of: TokenPair) => (await api.listPasskeys(bearer(of))).json.data;
const create = (body: object, of: TokenPair = caller) => api.createPasskey(body, bearer(of));
const logIn = (body: object) => api.logInByPasskey(body);
const rename = (passkey_id: string, body: object, of: TokenPair = caller) =>
  api.renamePasskey({ passkey_id, ...body }, bearer(of));
const userOf = ({ user_id }: Account) => api.collections.users.findOne({ _id: user_id });
const eventsOf = async ({ user_id }: Account) =>
  (await api.collections.outbox.find({ 'event.data.user_id': user_id }).sort({ _id: 1 }).toArray()).map(
    ({ event }) => event,
  );
const statusAndCode = ({ status, json }: Answer) => [status, json.error_code];
const phone = () => createAuthenticator({ origin: appOrigin });

describe('a challenge for a new passkey', () => {
  test('a challenge asks for a discoverable passkey with user verification and without attestation', async () => {
    const { challenge_id, expires_at, options, timestamp } = await requestPasskey(api, caller);
    expect(Date.parse(expires_at) - Date.parse(timestamp)).toBe(600_000);
    expect(options).toEqual({
      rp: { id: 'example.com', name: 'example.com' },
      user: { id: expect.stringMatching(/^[\w-]{86}$/), name: caller.email, displayName: caller.email },
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
      timeout: 600_000,
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      attestation: 'none',
    });
    expect(challenge_id.length).toBeLessThan(600);
  });

  test('a challenge for a new passkey names the passkeys that the account has, and the same user handle', async () => {
    const own = await newSession(api);
    const { credential_id } = await addPasskey(api, own);
    const [one, other] = [await requestPasskey(api, own), await requestPasskey(api, own)];
    const excluded = [{ type: 'public-key', id: credential_id, transports: ['internal', 'hybrid'] }];
    expect([one.options.excludeCredentials, other.options.excludeCredentials]).toEqual([excluded, excluded]);
    expect(one.options.user.id).toBe(other.options.user.id);
    expect(one.options.challenge).not.toBe(other.options.challenge);
    const { user_handle } = await list(own);
    expect(user_handle).toBe(one.options.user.id);
  });

  test('a challenge for a new passkey shows the user’s name, and names no transports where none are known', async () => {
    const own = await newSession(api);
    const { credential_id } = await addPasskey(api, own);
    const known = { display_name: 'Ada', 'passkeys.0.transports': [] };
    await api.collections.users.updateOne({ _id: own.user_id }, { $set: known as never });
    const { options } = await requestPasskey(api, own);
    expect(options.user.displayName).toBe('Ada');
    expect(options.excludeCredentials).toEqual([{ type: 'public-key', id: credential_id }]);
  });

  test('a step-up token for passkeys stays valid until there is a new passkey, also if the user dismisses a prompt', async () => {
    const own = await newSession(api);
    const step_up_token = await stepUp(api, own, 'passkeys');
    const ask = () => api.createPasskeyChallenge({ step_up_token }, bearer(own));
    const [dismissed, second] = [await ask(), await ask()];
    expect([dismissed.status, second.status]).toEqual([200, 200]);
    const { challenge_id, options } = second.json.data;
    expect((await create({ challenge_id, credential: phone().create(options) }, own)).status).toBe(201);
    expect(statusAndCode(await ask())).toEqual([403, 'ERR-STEP-UP-REQUIRED']);
    const stale = dismissed.json.data;
    const late = await create({ challenge_id: stale.challenge_id, credential: phone().create(stale.options) }, own);
    expect(statusAndCode(late)).toEqual([410, 'ERR-CODE-EXPIRED']);
  });

  test('a removal uses its step-up token up even if there is no such passkey, and so ends the challenges by the token', async () => {
    const own = await newSession(api);
    const step_up_token = await stepUp(api, own, 'passkeys');
    const ask = () => api.createPasskeyChallenge({ step_up_token }, bearer(own));
    const remove = () => deletePasskey(api, own, randomUUID(), { step_up_token });
    const { challenge_id, options } = (await ask()).json.data;
    expect(statusAndCode(await remove())).toEqual([404, 'ERR-PASSKEY-NOT-FOUND']);
    const refused = [403, 'ERR-STEP-UP-REQUIRED'];
    expect([statusAndCode(await remove()), statusAndCode(await ask())]).toEqual([refused, refused]);
    const late = await create({ challenge_id, credential: phone().create(options) }, own);
    expect([statusAndCode(late), (await list(own)).passkeys]).toEqual([[410, 'ERR-CODE-EXPIRED'], []]);
  });

  test('a challenge for a new passkey stores nothing', async () => {
    const before = await userOf(caller);
    await requestPasskey(api, caller);
    expect(await userOf(caller)).toEqual(before);
  });
});

describe('a new passkey', () => {
  test.each(['ES256', 'EdDSA', 'RS256'] as const)('a new passkey of %s is listed, and logs in', async (algorithm) => {
    const own = await newSession(api);
    const { authenticator, passkey_id, credential_id } = await addPasskey(api, own, { algorithm });
    const { passkeys, rp_id, accepted_credential_ids } = await list(own);
    const created_at = expect.stringMatching(/Z$/);
    expect(passkeys).toEqual([{ passkey_id, name: 'Pixel 9', backed_up: true, created_at, last_used_at: null }]);
    expect({ rp_id, accepted_credential_ids }).toEqual({
      rp_id: 'example.com',
      accepted_credential_ids: [credential_id],
    });
    const answer = await logInByPasskey(api, authenticator);
    expect(answer.status).toBe(200);
    expect(answer.json.data.user_id).toBe(own.user_id);
    expect((await list(own)).passkeys[0].last_used_at).toMatch(/Z$/);
  });

  test('a new passkey causes a notification, and an event for internal services', async () => {
    const own = await newSession(api);
    const { passkey_id } = await addPasskey(api, own);
    const events = await eventsOf(own);
    const [added, notification] = events.slice(-2);
    expect(added).toMatchObject({
      type: 'service.auth.events.passkey_added',
      data: { user_id: own.user_id, passkey_id },
    });
    expect(notification).toMatchObject({
      type: 'service.auth.events.notice',
      data: { purpose: 'passkey_added', locale: 'en' },
    });
  });

  test('a new passkey needs no name', async () => {
    const own = await newSession(api);
    const { challenge_id, options } = await requestPasskey(api, own);
    const answer = await create({ challenge_id, credential: phone().create(options) }, own);
    expect([answer.status, answer.json.data.name]).toEqual([201, null]);
  });

  test('a passkey that the account has already answers 409', async () => {
    const own = await newSession(api);
    const { challenge_id, options } = await requestPasskey(api, own);
    const credential = phone().create(options);
    expect((await create({ challenge_id, credential }, own)).status).toBe(201);
    const repeated = await create({ challenge_id, credential }, own);
    expect(statusAndCode(repeated)).toEqual([409, 'ERR-PASSKEY-EXISTS']);
    expect((await list(own)).passkeys).toHaveLength(1);
  });

  test('simultaneous new passkeys with one challenge add one passkey', async () => {
    const own = await newSession(api);
    const { challenge_id, options } = await requestPasskey(api, own);
    const bodies = Array.from({ length: 5 }, () => ({ challenge_id, credential: phone().create(options) }));
    const answers = await Promise.all(bodies.map((body) => create(body, own)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 410, 410, 410, 410]);
    expect((await list(own)).passkeys).toHaveLength(1);
  });

  test('a passkey that two accounts add at once is added to one', async () => {
    const [one, two] = [await newSession(api), await newSession(api)];
    const [first, second] = [await requestPasskey(api, one), await requestPasskey(api, two)];
    const credential = phone().create(first.options);
    // Without attestation nothing binds the key to the challenge.
    const { clientDataJSON } = phone().create(second.options).response;
    const copied = { ...credential, response: { ...credential.response, clientDataJSON } };
    const answers = await Promise.all([
      create({ challenge_id: first.challenge_id, credential }, one),
      create({ challenge_id: second.challenge_id, credential: copied }, two),
    ]);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(statusAndCode)).toEqual([[409, 'ERR-PASSKEY-EXISTS']]);
  });

  test('a new passkey of another origin is refused', async () => {
    const { challenge_id, options } = await requestPasskey(api, caller);
    const credential = phone().create(options, { origin: 'https://other.example.com' });
    expect(statusAndCode(await create({ challenge_id, credential }))).toEqual([403, 'ERR-PASSKEY-INVALID']);
  });

  test('a new passkey of an account that is gone answers 401, as its list does', async () => {
    const own = await newSession(api);
    const { challenge_id, options } = await requestPasskey(api, own);
    await api.collections.users.deleteOne({ _id: own.user_id });
    const answers = [
      await create({ challenge_id, credential: phone().create(options) }, own),
      await api.listPasskeys(bearer(own)),
    ];
    expect(answers.map(statusAndCode)).toEqual(Array(2).fill([401, 'IAD_JWT_ACCESS_INVALID']));
  });

  test('a passkey above the twentieth is refused', async () => {
    const own = await newSession(api);
    await addPasskey(api, own);
    const { challenge_id, options } = await requestPasskey(api, own);
    const user = await userOf(own);
    const copies = Array.from({ length: 20 }, (_, at) => ({
      ...user?.passkeys?.[0],
      credential_id: `${own.user_id}-${at}`,
    }));
    await api.collections.users.updateOne({ _id: own.user_id }, { $set: { passkeys: copies as never } });
    const answer = await api.createPasskeyChallenge({ current_password: password }, bearer(own));
    expect(statusAndCode(answer)).toEqual([409, 'ERR-PASSKEY-LIMIT-REACHED']);
    expect(answer.json.details.limit).toBe(20);
    const late = await create({ challenge_id, credential: phone().create(options) }, own);
    expect(statusAndCode(late)).toEqual([409, 'ERR-PASSKEY-LIMIT-REACHED']);
  });
});

describe('the scope of a challenge', () => {
  // guarantees: flawed-passkey
  test('a challenge counts only in the session that has asked for it', async () => {
    const own = await newSession(api);
    const second = await api.logIn({ email: own.email, password });
    const { challenge_id, options } = await requestPasskey(api, own);
    const answer = await create({ challenge_id, credential: phone().create(options) }, second.json.data);
    expect(statusAndCode(answer)).toEqual([403, 'ERR-PASSKEY-INVALID']);
  });

  test('a challenge counts only for the account that has asked for it', async () => {
    const { challenge_id, options } = await requestPasskey(api, await newSession(api));
    const answer = await create({ challenge_id, credential: phone().create(options) });
    expect(statusAndCode(answer)).toEqual([403, 'ERR-PASSKEY-INVALID']);
  });

  // guarantees: flawed-passkey
  // answers: Logto CVE-2026-55377, https://github.com/logto-io/logto/security/advisories/GHSA-q4h3-38gc-4p4j
  // The registration of a new passkey counted as a step-up.
  test('a challenge counts only for its purpose', async () => {
    const own = await newSession(api);
    const { authenticator } = await addPasskey(api, own);
    const creation = await requestPasskey(api, own);
    const login = await requestPasskeyLogin(api);
    const { options } = creation;
    const byLogin = phone().create({ ...options, challenge: login.options.challenge });
    const byCreation = authenticator.get({ challenge: options.challenge, rpId: options.rp.id });
    const answers = [
      await create({ challenge_id: login.challenge_id, credential: byLogin }, own),
      await logIn({ challenge_id: creation.challenge_id, credential: byCreation }),
      await logIn({ challenge_id: 'none', credential: byCreation }),
    ];
    expect(answers.map(statusAndCode)).toEqual(Array(3).fill([403, 'ERR-PASSKEY-INVALID']));
    const proof = { method: 'passkey', credential: byCreation };
    expect(statusAndCode(await confirmStepUp(api, own, creation.challenge_id, proof))).toEqual([
      410,
      'ERR-CODE-EXPIRED',
    ]);
  });

  test('a challenge counts only for ten minutes', async () => {
    const [own, other] = [await newSession(api), await newSession(api)];
    const { challenge_id, options } = await requestPasskey(api, own);
    const body = { challenge_id, credential: phone().create(options) };
    const login = await passkeyLogin(api, (await addPasskey(api, other)).authenticator);
    shiftMs += 600_000;
    expect(statusAndCode(await create(body, await refresh(api, own)))).toEqual([410, 'ERR-CODE-EXPIRED']);
    expect(statusAndCode(await logIn(login))).toEqual([410, 'ERR-CODE-EXPIRED']);
    caller = { ...caller, ...(await refresh(api, caller)) };
  });
});

describe('a login by passkey', () => {
  let own: Account & TokenPair;
  let authenticator: ReturnType<typeof createAuthenticator>;

  beforeAll(async () => {
    own = await newSession(api);
    ({ authenticator } = await addPasskey(api, own));
  });

  test('a login by passkey has the same options for everybody', async () => {
    const { challenge_id, expires_at, options, timestamp } = await requestPasskeyLogin(api);
    expect(Date.parse(expires_at) - Date.parse(timestamp)).toBe(600_000);
    expect(challenge_id).toMatch(/^[\w.-]+$/);
    const challenge = expect.stringMatching(/^[\w-]{43}$/);
    expect(options).toEqual({ challenge, timeout: 600_000, rpId: 'example.com', userVerification: 'required' });
  });

  test('a login by passkey opens the session of its device, and its tokens say how', async () => {
    const device_id = randomUUID();
    const before = await api.metric('auth_logins_total', { outcome: 'succeeded' });
    const { status, json } = await logInByPasskey(api, authenticator, {
      device_id,
      device_name: 'Pixel',
      platform: 'android',
    });
    expect(status).toBe(200);
    expect(json.data).toMatchObject({ user_id: own.user_id, device_id, token_type: 'Bearer' });
    const claims = JSON.parse(Buffer.from(json.data.access_token.split('.')[1], 'base64url').toString());
    expect(claims).toMatchObject({ amr: ['swk', 'user', 'mfa'], acr: '2', sid: json.data.session_id });
    expect(await api.metric('auth_logins_total', { outcome: 'succeeded' })).toBe(before + 1);
  });

  test('a session of a passkey that stays on its device says so', async () => {
    const key = await addPasskey(api, own, { isSynced: false });
    const { json } = await logInByPasskey(api, key.authenticator);
    const session = await api.collections.sessions.findOne({ _id: json.data.session_id });
    expect(session?.auth).toMatchObject({ amr: ['hwk', 'user', 'mfa'], acr: '2' });
  });

  test('a login repeated with the same challenge, credential and device gets the same session', async () => {
    const body = { ...(await passkeyLogin(api, authenticator)), device_id: randomUUID() };
    const [first, again] = [await logIn(body), await logIn(body)];
    expect([first.status, again.status]).toEqual([200, 200]);
    const { session_id, refresh_token } = first.json.data;
    expect(again.json.data).toMatchObject({ session_id, refresh_token });
    const [consumed] = await api.collections.consumedProofs.find({ session_id }).toArray();
    // Ten minutes of the challenge, and clocks that are five minutes behind.
    expect(Number(consumed?.purge_at) - Number(consumed?.at)).toBeGreaterThan(14 * 60_000);
    const elsewhere = await logIn({ ...body, device_id: randomUUID() });
    expect(statusAndCode(elsewhere)).toEqual([410, 'ERR-CODE-EXPIRED']);
  });

  test('a login with another signature of a used challenge is refused', async () => {
    const { challenge_id, options } = await requestPasskeyLogin(api);
    expect((await logIn({ challenge_id, credential: authenticator.get(options) })).status).toBe(200);
    const second = await logIn({ challenge_id, credential: authenticator.get(options) });
    expect(statusAndCode(second)).toEqual([410, 'ERR-CODE-EXPIRED']);
  });

  // guarantees: flawed-passkey
  test.each([
    ['a wrong signature', { isForged: true }],
    ['no user verification', { uv: false }],
    ['no user handle', { userHandle: null }],
    ['an empty user handle', { userHandle: '' }],
    ['the user handle of somebody else', { userHandle: randomBytes(64).toString('base64url') }],
    ['a lost backup eligibility', { be: false, bs: false }],
  ])('a login by passkey with %s is refused, and the challenge stays valid', async (_, ceremony) => {
    const { challenge_id, options } = await requestPasskeyLogin(api);
    const answer = await logIn({ challenge_id, credential: authenticator.get(options, ceremony) });
    expect(statusAndCode(answer)).toEqual([403, 'ERR-PASSKEY-INVALID']);
    expect(answer.json.details.unknown_credential).toBeUndefined();
    expect((await logIn({ challenge_id, credential: authenticator.get(options) })).status).toBe(200);
  });

  test('a login with a passkey that no account has says so', async () => {
    const unknownAuthenticator = phone();
    const { options } = await requestPasskey(api, own);
    unknownAuthenticator.create(options);
    const answer = await logInByPasskey(api, unknownAuthenticator);
    expect(statusAndCode(answer)).toEqual([403, 'ERR-PASSKEY-INVALID']);
    expect(answer.json.details).toMatchObject({ unknown_credential: true });
  });

  test('a login by passkey may write base64url with padding', async () => {
    const { challenge_id, credential } = await passkeyLogin(api, authenticator);
    const pad = (text: string) => text.padEnd(Math.ceil(text.length / 4) * 4, '=');
    const response = Object.fromEntries(Object.entries(credential.response).map(([name, text]) => [name, pad(text)]));
    const padded = { ...credential, id: pad(credential.id), rawId: pad(credential.rawId), response };
    expect(Object.values(response).some((text) => text.endsWith('='))).toBe(true);
    expect((await logIn({ challenge_id, credential: padded })).status).toBe(200);
  });

  test('a backup eligibility that a passkey gains is stored and audited once, and cannot be lost again', async () => {
    const session = await newSession(api);
    const key = await addPasskey(api, session, { isSynced: false });
    const use = async (be: boolean) =>
      (await logIn(await passkeyLogin(api, key.authenticator, { be, bs: false }))).status;
    expect([await use(false), await use(true), await use(true), await use(false)]).toEqual([200, 200, 200, 403]);
    const audited = logged.filter(
      ({ event, user_id }) => /^passkey(_proof)?\.(?!added)/.test(`${event}`) && user_id === session.user_id,
    );
    expect(audited.map(({ event, reason, passkey_id }) => [event, reason ?? passkey_id])).toEqual([
      ['passkey.backup_eligible', key.passkey_id],
      ['passkey_proof.refused', 'backup_eligibility'],
    ]);
  });

  test('a login by passkey stores a flip of the backup state', async () => {
    const { challenge_id, options } = await requestPasskeyLogin(api);
    await logIn({ challenge_id, credential: authenticator.get(options, { be: true, bs: false }) });
    expect((await list(own)).passkeys[0].backed_up).toBe(false);
  });
});

describe('changes of a passkey', () => {
  test('PATCH of a passkey names it, and removes its name', async () => {
    const { passkey_id } = await addPasskey(api, caller);
    const named = await rename(passkey_id, { name: 'YubiKey' });
    expect([named.status, named.json.data]).toMatchObject([200, { passkey_id, name: 'YubiKey' }]);
    expect((await rename(passkey_id, { name: null })).json.data.name).toBeNull();
  });

  test('DELETE of a passkey removes it: it logs nobody in, and the answer names those that are left', async () => {
    const own = await newSession(api);
    const [lost, kept] = [await addPasskey(api, own), await addPasskey(api, own)];
    const answer = await deletePasskey(api, own, lost.passkey_id);
    const { user_handle } = await list(own);
    expect([answer.status, answer.json.data]).toEqual([
      200,
      {
        rp_id: 'example.com',
        user_handle,
        accepted_credential_ids: [kept.credential_id],
        timestamp: expect.stringMatching(/Z$/),
      },
    ]);
    expect((await logInByPasskey(api, lost.authenticator)).json.details).toMatchObject({ unknown_credential: true });
    expect((await logInByPasskey(api, kept.authenticator)).status).toBe(200);
    const [removed, notification] = (await eventsOf(own)).slice(-2);
    expect(removed).toMatchObject({
      type: 'service.auth.events.passkey_removed',
      data: { passkey_id: lost.passkey_id },
    });
    expect(notification).toMatchObject({ data: { purpose: 'passkey_removed' } });
  });

  test('DELETE removes the last passkey beside a password', async () => {
    const own = await newSession(api);
    const { passkey_id } = await addPasskey(api, own);
    expect((await deletePasskey(api, own, passkey_id)).status).toBe(200);
    expect((await list(own)).passkeys).toEqual([]);
    // An empty list takes no place in the unique index.
    const twin = await newSession(api);
    expect((await deletePasskey(api, twin, (await addPasskey(api, twin)).passkey_id)).status).toBe(200);
  });

  test('PATCH and DELETE of a passkey of somebody else answer 404', async () => {
    await addPasskey(api, caller);
    const { passkey_id } = await addPasskey(api, await newSession(api));
    const answers = [await rename(passkey_id, { name: null }), await deletePasskey(api, caller, passkey_id)];
    expect(answers.map(statusAndCode)).toEqual(Array(2).fill([404, 'ERR-PASSKEY-NOT-FOUND']));
  });
});

test('the audit log has every change of passkeys, and each login by one', async () => {
  const own = await newSession(api);
  const { authenticator, passkey_id, credential_id } = await addPasskey(api, own);
  await rename(passkey_id, { name: 'YubiKey' }, own);
  const login = await logInByPasskey(api, authenticator);
  await logIn(await passkeyLogin(api, authenticator, { isForged: true }));
  await deletePasskey(api, own, passkey_id);
  await logInByPasskey(api, authenticator);
  const change = { user_id: own.user_id, session_id: own.session_id, passkey_id };
  const lines = logged.filter(
    ({ event, user_id, reason }) => event && (user_id === own.user_id || reason === 'unknown_passkey'),
  );
  expect(lines.slice(-7)).toMatchObject([
    { event: 'passkey.added', ...change },
    { event: 'passkey.renamed', ...change },
    { event: 'login.succeeded', user_id: own.user_id, session_id: login.json.data.session_id, method: 'passkey' },
    { event: 'passkey_proof.refused', user_id: own.user_id, reason: 'signature' },
    { event: 'login.failed', user_id: own.user_id, reason: 'wrong_passkey' },
    { event: 'passkey.removed', ...change },
    { event: 'login.failed', reason: 'unknown_passkey' },
  ]);
  expect(JSON.stringify(logged)).not.toContain(credential_id);
});

test('the fault of a refused passkey is counted, and the answer names it only if the service is local', async () => {
  const local = await startTestApi({ WEBAUTHN_RP_ID: 'localhost', WEBAUTHN_ORIGINS: 'http://localhost:8090' });
  try {
    for (const [on, origin, fault] of [
      [api, 'https://evil.example.com', undefined],
      [local, 'http://localhost:5173', 'origin'],
    ] as const) {
      const { challenge_id, options } = await requestPasskey(on, await newSession(on));
      const session = await newSession(on);
      const asked = await requestPasskey(on, session);
      const credential = createAuthenticator({ origin }).create(asked.options);
      const before = await on.metric('auth_passkeys_refused_total', { fault: 'origin' });
      const body = { challenge_id: asked.challenge_id, credential };
      const { status, json } = await on.createPasskey(body, bearer(session));
      expect([status, json.error_code, json.details.fault]).toEqual([403, 'ERR-PASSKEY-INVALID', fault]);
      expect(await on.metric('auth_passkeys_refused_total', { fault: 'origin' })).toBe(before + 1);
      const others = { challenge_id, credential: createAuthenticator({ origin }).create(options) };
      const ofOthers = await on.createPasskey(others, bearer(session));
      expect(ofOthers.json.details.fault).toBe(fault && 'challenge');
    }
  } finally {
    await local.close();
  }
});

describe('the counter of an authenticator', () => {
  const fallen = (passkey_id: string) =>
    logged.filter((line) => line.event === 'passkey.counter_fell' && line.passkey_id === passkey_id);

  test('a counter that falls with a right signature is audited, and the login goes on', async () => {
    const own = await newSession(api);
    const { authenticator, passkey_id } = await addPasskey(api, own, { counts: true });
    const log = async (counter: number) => (await logIn(await passkeyLogin(api, authenticator, { counter }))).status;
    expect([await log(5), await log(6)]).toEqual([200, 200]);
    expect(fallen(passkey_id)).toEqual([]);
    expect(await log(6)).toBe(200);
    expect(fallen(passkey_id)).toMatchObject([{ user_id: own.user_id, outcome: 'success' }]);
    expect([await log(2), await log(0)]).toEqual([200, 200]);
    expect(fallen(passkey_id)).toHaveLength(3);
  });

  test('a counter that is always 0 is no counter', async () => {
    const { authenticator, passkey_id } = await addPasskey(api, await newSession(api));
    for (let login = 0; login < 3; login += 1) {
      expect((await logInByPasskey(api, authenticator)).status).toBe(200);
    }
    expect(fallen(passkey_id)).toEqual([]);
  });
});

test('the export has the passkeys, without keys and ids of authenticators', async () => {
  const own = await newSession(api);
  const { passkey_id, credential_id } = await addPasskey(api, own);
  const { json, text } = await api.exportAccount({ current_password: password }, bearer(own));
  expect(json.data.passkeys).toMatchObject([{ passkey_id, name: 'Pixel 9', backed_up: true }]);
  expect(text).not.toContain(credential_id);
});
