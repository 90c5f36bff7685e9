import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { type Account, newDevice, newSession, password, registerAccount } from '../support/api/accounts.ts';
import { type ApiDriver, bearer, withHeaders } from '../support/api/api-driver.ts';
import {
  changeEmail,
  codeOf,
  confirmReset,
  logInByCode,
  requestLoginCode,
  requestReset,
} from '../support/api/codes.ts';
import { newDeviceKey } from '../support/api/device-key.ts';
import { insertInvite, refresh } from '../support/api/groups.ts';
import { addPasskey, deletePasskey, revokePassword } from '../support/api/passkeys.ts';
import {
  linkIdentity,
  logInByProvider,
  newHome,
  newPerson,
  type Person,
  provePerson,
  requestProviderLogin,
  signIdToken,
  unlinkIdentity,
} from '../support/api/providers.ts';
import { codeAt, completeLogin, switchOn } from '../support/api/second-factor.ts';
import { confirmStepUp, stepUp, stepUpByMail } from '../support/api/step-up.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';
import { recordLog } from '../support/recorded-log.ts';
import { uniqueName } from '../support/test-environment.ts';

let api: TestApi;
/** An api without providers. */
let off: TestApi;
let shiftMs = 0;
const log = recordLog('api');
const now = () => Date.now() + shiftMs;

beforeAll(async () => {
  api = await startTestApi({ TRUST_PROXY_HOPS: '1' }, { now }, log.logger);
  off = await api.beside({ IDENTITY_PROVIDERS: '', KEY_PREFIX: uniqueName() });
});
afterAll(async () => {
  await api.close();
});

const path = '/api/v1/auth/federated/office';
const statusAndCode = ({ status, json }: Answer) => [status, json.error_code];
const stored = (user_id: string) => api.collections.users.findOne({ _id: user_id });
const byEmail = (email: string) => api.collections.users.countDocuments({ email });
const sessionsOf = (user_id: string) => api.collections.sessions.countDocuments({ user_id, is_revoked: false });
const events = async (user_id: string) =>
  (await api.collections.outbox.find({ 'event.subject': user_id }).sort({ _id: 1 }).toArray()).map(
    ({ event }) => event,
  );
const typesOf = async (user_id: string) => (await events(user_id)).map(({ type }) => type.split('.').at(-1));
const verify = ({ user_id }: Pick<Account, 'user_id'>) =>
  api.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date(0) } });
const list = async (caller: Parameters<typeof bearer>[0]) =>
  (await api.listIdentities(bearer(caller))).json.data.identities;

/** Registers by a provider. */
async function registered(person: Person = newPerson()) {
  const { json } = await logInByProvider(api, person, newHome);
  return { person, ...json.data, email: person.email };
}

describe('an identity', () => {
  test('an identity is linked, listed, logs in, and is removed', async () => {
    const session = await newSession(api);
    await verify(session);
    const person = newPerson();
    const { status, json } = await linkIdentity(api, session, person);
    expect([status, json.data]).toMatchObject([201, { provider: 'office', email: person.email }]);
    const { identity_id } = json.data;
    const shown = { identity_id, provider: 'office', email: person.email, created_at: expect.stringMatching(/Z$/) };
    expect(await list(session)).toEqual([{ ...shown, relay_off: false, disabled: false }]);
    const marks = { 'identities.0.relay_off_at': new Date(), 'identities.0.disabled_at': new Date() };
    await api.collections.users.updateOne({ _id: session.user_id }, { $set: marks });
    expect(await list(session)).toEqual([{ ...shown, relay_off: true, disabled: true }]);
    const unmark = { 'identities.0.relay_off_at': true, 'identities.0.disabled_at': true } as const;
    await api.collections.users.updateOne({ _id: session.user_id }, { $unset: unmark });
    expect((await logInByProvider(api, person)).json.data.user_id).toBe(session.user_id);
    expect((await unlinkIdentity(api, session, identity_id.toUpperCase())).status).toBe(200);
    expect(await list(session)).toEqual([]);
    expect(statusAndCode(await logInByProvider(api, person))).toEqual([403, 'ERR-REGISTRATION-REQUIRED']);
    const announced = (await events(session.user_id)).map(({ type, data }) => [
      type.split('.').at(-1),
      'purpose' in data ? data.purpose : undefined,
    ]);
    expect(announced).toEqual(
      expect.arrayContaining([
        ['identity_linked', undefined],
        ['notice', 'identity_linked'],
        ['identity_unlinked', undefined],
        ['notice', 'identity_unlinked'],
      ]),
    );
  });

  test('a second link of an identity answers the first, and a link of another account’s identity is refused', async () => {
    const session = await newSession(api);
    const [person, second] = [newPerson(), newPerson()];
    const links = [await linkIdentity(api, session, person), await linkIdentity(api, session, second)];
    links.push(await linkIdentity(api, session, second), await linkIdentity(api, session, person, {}, 'partner'));
    const [, two, again, elsewhere] = links.map(({ json }) => json.data?.identity_id);
    expect([two, again, elsewhere]).toEqual([expect.any(String), two, undefined]);
    expect(links.map(({ status }) => status)).toEqual([201, 201, 201, 422]);
    const other = await newSession(api);
    expect(statusAndCode(await linkIdentity(api, other, person))).toEqual([409, 'ERR-IDENTITY-IN-USE']);
  });

  test('a wrong ID token links nothing, and its 422 makes no app refresh its session', async () => {
    const session = await newSession(api);
    const [one, other] = [await requestProviderLogin(api), await requestProviderLogin(api)];
    const id_token = await signIdToken('office', { ...newPerson(), nonce: other.nonce });
    const link = (challenge_id: string) =>
      api.linkIdentity({ identity: 'office', challenge_id, id_token, current_password: password }, bearer(session));
    expect(statusAndCode(await link(one.challenge_id))).toEqual([422, 'ERR-IDENTITY-TOKEN-INVALID']);
    expect(statusAndCode(await link('none'))).toEqual([410, 'ERR-CODE-EXPIRED']);
    expect(await list(session)).toEqual([]);
  });

  test('an identity may have no email address, and may be linked with a step-up', async () => {
    const session = await newSession(api);
    const { email: _, ...person } = newPerson();
    const step_up_token = await stepUp(api, session, 'identities');
    const { status, json } = await linkIdentity(api, session, person, { step_up_token });
    expect([status, json.data.email]).toEqual([201, null]);
    expect((await stored(session.user_id))?.identities?.[0]).not.toHaveProperty('email');
  });

  // answers: better-auth GHSA-j8v8-g9cx-5qf4, https://github.com/advisories/GHSA-j8v8-g9cx-5qf4
  // A connection had no owner, so every user could manage and delete it.
  test('an identity that the caller does not have answers 404, and nobody else’s is listed or removed', async () => {
    const [session, other] = [await newSession(api), await newSession(api)];
    const { identity_id } = (await linkIdentity(api, other, newPerson())).json.data;
    expect(await list(session)).toEqual([]);
    const missing = [404, 'ERR-IDENTITY-NOT-FOUND'];
    expect(statusAndCode(await unlinkIdentity(api, session, identity_id))).toEqual(missing);
    const own = [await linkIdentity(api, session, newPerson(), undefined, 'partner')];
    own.push(await linkIdentity(api, session, newPerson()));
    expect(statusAndCode(await unlinkIdentity(api, session, identity_id))).toEqual(missing);
    const [partner, office] = own.map(({ json }) => json.data.identity_id);
    expect((await unlinkIdentity(api, session, office)).json.data).toMatchObject({
      message: 'IDENTITY_UNLINKED',
      identity_id: office,
    });
    const unlinked = (await events(session.user_id)).find(({ type }) => type.endsWith('identity_unlinked'));
    expect(unlinked?.data).toMatchObject({ identity_id: office, provider: 'office' });
    expect(await list(session)).toMatchObject([{ identity_id: partner }]);
  });

  test('the list of identities of an account that is gone answers 401', async () => {
    const session = await newSession(api);
    await api.collections.users.deleteOne({ _id: session.user_id });
    const answer = await api.listIdentities(bearer(session));
    expect(statusAndCode(answer)).toEqual([401, 'IAD_JWT_ACCESS_INVALID']);
  });

  test('an identity that its provider has disabled logs nobody in, and another one does', async () => {
    const session = await newSession(api);
    const [person, disabled] = [newPerson(), newPerson()];
    await linkIdentity(api, session, person);
    await linkIdentity(api, session, disabled);
    const at = new Date();
    await api.collections.users.updateOne({ _id: session.user_id }, { $set: { 'identities.1.disabled_at': at } });
    log.takeEvents();
    expect(statusAndCode(await logInByProvider(api, disabled))).toEqual([403, 'ERR-IDENTITY-DISABLED']);
    expect(log.takeEvents()).toMatchObject([{ event: 'login.refused', reason: 'identity_disabled' }]);
    expect((await logInByProvider(api, person)).status).toBe(200);
  });

  test('two providers may know a person by the same id, and each has an identity of its own', async () => {
    const session = await newSession(api);
    const person = newPerson();
    const link = async (provider: 'office' | 'partner') =>
      (await linkIdentity(api, session, person, undefined, provider)).json.data.identity_id;
    const [office, partner] = [await link('office'), await link('partner')];
    expect([await link('office'), await link('partner'), office]).toEqual([
      office,
      partner,
      expect.not.stringMatching(partner),
    ]);
    const at = new Date();
    await api.collections.users.updateOne({ _id: session.user_id }, { $set: { 'identities.0.disabled_at': at } });
    expect((await logInByProvider(api, person)).status).toBe(403);
    const { json } = await logInByProvider(api, person, {}, 'partner');
    const opened = await api.collections.sessions.findOne({ _id: json.data.session_id });
    expect(opened).toMatchObject({ identity_id: partner });
  });

  test('an account has ten identities at most, and a full one adds none', async () => {
    const session = await newSession(api);
    const of = (sub: string) => ({ id: sub, provider: 'office', sub, created_at: new Date() });
    const identities = Array.from({ length: 10 }, () => of(randomUUID()));
    await api.collections.users.updateOne({ _id: session.user_id }, { $set: { identities } });
    const answer = await linkIdentity(api, session, newPerson());
    expect(answer.status).toBe(409);
    expect(await list(session)).toHaveLength(10);
  });

  test('a token that has linked an identity does not log in', async () => {
    const session = await newSession(api);
    const body = { ...(await provePerson(api, newPerson())), current_password: password };
    const headers = bearer(session);
    expect((await api.linkIdentity({ identity: 'office', ...body }, headers)).status).toBe(201);
    const { challenge_id, id_token } = body;
    expect(statusAndCode(await api.logInByProvider({ provider: 'office', challenge_id, id_token }))).toEqual([
      410,
      'ERR-CODE-EXPIRED',
    ]);
    expect(await api.collections.consumedProofs.countDocuments({ session_id: session.session_id })).toBe(1);
  });

  test('a link of an identity ends open codes', async () => {
    const session = await newSession(api);
    await verify(session);
    const challenge_id = await requestLoginCode(api, session.email);
    const code = await codeOf(api, challenge_id);
    await linkIdentity(api, session, newPerson());
    expect(statusAndCode(await logInByCode(api, challenge_id, { code }))).toEqual([403, 'ERR-CODE-INVALID']);
  });

  test('the last identity that can log in stays, beside those that cannot', async () => {
    const { person, ...session } = await registered();
    const [{ identity_id }] = await list(session);
    const at = new Date();
    const gone = { id: randomUUID(), provider: 'gone', sub: randomUUID(), created_at: at };
    const disabled = { id: randomUUID(), provider: 'partner', sub: randomUUID(), created_at: at, disabled_at: at };
    const identities = { $each: [gone, disabled] };
    await api.collections.users.updateOne({ _id: session.user_id }, { $push: { identities } });
    const { step_up_token } = await stepUpByMail(api, session, 'identities');
    const answer = await unlinkIdentity(api, session, identity_id, { step_up_token });
    expect(statusAndCode(answer)).toEqual([409, 'ERR-LAST-CREDENTIAL']);
    expect((await logInByProvider(api, person)).status).toBe(200);
  });

  test('the last passkey can be removed beside an identity', async () => {
    const session = await newSession(api);
    const { passkey_id, authenticator } = await addPasskey(api, session);
    await linkIdentity(api, session, newPerson());
    await revokePassword(api, session);
    const asked = await api.createStepUpChallenge({ purpose: 'passkeys' }, bearer(session));
    const { challenge_id, passkey_options } = asked.json.data;
    const proof = { method: 'passkey', credential: authenticator.get(passkey_options) };
    const { step_up_token } = (await confirmStepUp(api, session, challenge_id, proof)).json.data;
    expect((await deletePasskey(api, session, passkey_id, { step_up_token })).status).toBe(200);
  });

  // guarantees: squatter-keeps-nothing
  test.each([
    ['a reset', (email: string) => requestReset(api, email).then((id) => confirmReset(api, id))],
    ['a login by code', (email: string) => requestLoginCode(api, email).then((id) => logInByCode(api, id))],
  ])('the identity of somebody who has registered another person’s email address goes with %s', async (_, recover) => {
    const squatter = await newSession(api);
    const person = newPerson();
    await linkIdentity(api, squatter, person);
    expect((await recover(squatter.email)).status).toBe(200);
    expect((await stored(squatter.user_id))?.identities).toEqual([]);
    expect(statusAndCode(await logInByProvider(api, person))).toEqual([403, 'ERR-REGISTRATION-REQUIRED']);
    expect(await typesOf(squatter.user_id)).toContain('identity_unlinked');
  });

  test('the export has the identities, without the provider’s ids', async () => {
    const session = await newSession(api);
    const person = newPerson();
    await linkIdentity(api, session, person);
    const { text, json } = await api.exportAccount({ current_password: password }, bearer(session));
    expect(json.data.identities).toMatchObject([{ provider: 'office', email: person.email }]);
    expect(text).not.toContain(`"${person.sub}"`);
  });
});

describe('a person without an account', () => {
  test('a person without an account registers under the same challenge and with the same token', async () => {
    const person = newPerson();
    const proof = await provePerson(api, person);
    const first = await api.logInByProvider({ provider: 'office', ...proof });
    expect(statusAndCode(first)).toEqual([403, 'ERR-REGISTRATION-REQUIRED']);
    expect(first.json.details).toMatchObject({ email: person.email, display_name: 'Anna' });
    expect(await byEmail(person.email)).toBe(0);
    const device = { device_id: randomUUID(), device_name: 'Pixel 9', platform: 'android' };
    const { status, json, headers } = await api.logInByProvider({
      provider: 'office',
      ...proof,
      ...newHome,
      ...device,
      display_name: 'Anna',
    });
    expect([status, headers['cache-control'], json.data.device_id]).toEqual([201, 'no-store', device.device_id]);
    expect(decodeJwt(json.data.access_token)).toMatchObject({ amr: ['fed'], acr: '1' });
    expect(decodeJwt((await refresh(api, json.data)).access_token)).toMatchObject({ amr: ['fed'], acr: '1' });
    expect(await stored(json.data.user_id)).toMatchObject({
      ...{ email: person.email, display_name: 'Anna', role: 'owner', account_type: 'HOME', is_password_void: true },
      ...{ email_verified_at: expect.any(Date), known_devices: [device.device_id] },
      identities: [{ id: expect.any(String), provider: 'office', sub: person.sub, email: person.email }],
    });
    expect(await typesOf(json.data.user_id)).toEqual(['registered', 'email_verified']);
  });

  test('a person registers by a provider into the group of an invite', async () => {
    const group = await registerAccount(api);
    const invite_token = await insertInvite(api, group.home_group_id);
    const answer = await logInByProvider(api, newPerson(), { space_creation_mode: 'JOIN_EXISTING', invite_token });
    expect([answer.status, answer.json.data.home_group_id]).toEqual([201, group.home_group_id]);
  });

  // guarantees: address-joins-nothing
  test.each([
    ['the provider does not give out', { email: `cook-${randomUUID()}@elsewhere.example` }, 'office'],
    ['the provider has not verified', { email_verified: false }, 'office'],
    ['a provider names that gives out none', {}, 'partner'],
  ] as const)(
    'a registration by a provider has an email address that is not verified if %s',
    async (_, change, provider) => {
      const person = newPerson(change);
      const { status, json } = await logInByProvider(api, person, newHome, provider);
      expect(status).toBe(201);
      expect(await stored(json.data.user_id)).not.toHaveProperty('email_verified_at');
      expect(await typesOf(json.data.user_id)).toEqual(['registered']);
    },
  );

  test.each([[undefined], ['nobody'], ['cook@1.2.3.4']])(
    'a person whose token has the email address %j learns at once that one is needed',
    async (email) => {
      const { email: _, ...person } = newPerson();
      const answers = [await logInByProvider(api, { ...person, email }), await logInByProvider(api, person, newHome)];
      expect(answers.map(statusAndCode)).toEqual(Array(2).fill([403, 'ERR-IDENTITY-ADDRESS-REQUIRED']));
    },
  );

  test.each([
    [{}, 'Anna'],
    [{ display_name: 'Anna K.' }, 'Anna K.'],
    [{ display_name: null }, undefined],
  ])('a person who registers by a provider with the fields %j has the name %j', async (fields, name) => {
    const person = newPerson({ name: '\u202e\u200b Anna\n' });
    const { status, json } = await logInByProvider(api, person, { ...newHome, ...fields });
    expect([status, (await stored(json.data.user_id))?.display_name]).toEqual([201, name]);
  });

  test('a person whose token has a long list of groups registers with an international domain', async () => {
    const groups = Array.from({ length: 220 }, () => randomUUID());
    const person = { ...newPerson({ email: `cook-${randomUUID()}@b\u00fccher.example` }), groups };
    const { challenge_id, id_token } = await provePerson(api, person);
    expect(id_token.length).toBeGreaterThan(8_192);
    const { status, json } = await api.logInByProvider({ provider: 'office', challenge_id, id_token, ...newHome });
    const email = person.email.replace('b\u00fccher', 'xn--bcher-kva');
    expect([status, (await stored(json.data?.user_id))?.email]).toEqual([201, email]);
  });

  test('simultaneous registrations of one person make one account, and each is logged in', async () => {
    const person = newPerson();
    const proofs = await Promise.all(Array.from({ length: 6 }, () => provePerson(api, person)));
    const answers = await Promise.all(
      proofs.map((proof) => api.logInByProvider({ provider: 'office', ...proof, ...newHome })),
    );
    expect(answers.map(({ status }) => status).filter((status) => status !== 201)).toEqual(Array(5).fill(200));
    expect(await byEmail(person.email)).toBe(1);
  });

  test('simultaneous registrations of persons with one email address make one account', async () => {
    const { email } = newPerson();
    const people = Array.from({ length: 10 }, () => newPerson({ email }));
    const answers = await Promise.all(people.map((person) => logInByProvider(api, person, newHome)));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(statusAndCode)).toEqual(Array(9).fill([409, 'ERR-ACCOUNT-LINK-REQUIRED']));
    expect(await byEmail(email)).toBe(1);
  });

  test('a person whose account is due to be erased must register', async () => {
    const { person, user_id } = await registered();
    await api.collections.users.updateOne({ _id: user_id }, { $set: { deletes_at: new Date(0) } });
    expect(statusAndCode(await logInByProvider(api, person))).toEqual([403, 'ERR-REGISTRATION-REQUIRED']);
  });

  test('a person whose account is due to be erased gets a new one only once it is erased', async () => {
    const { person, user_id } = await registered();
    await api.collections.users.updateOne({ _id: user_id }, { $set: { deletes_at: new Date(0) } });
    const register = (email = person.email) => logInByProvider(api, { ...person, email }, newHome);
    const taken = [409, 'ERR-EMAIL-ALREADY-EXISTS'];
    const answers = [await register(), await register(newPerson().email)];
    expect(answers.map(statusAndCode)).toEqual([taken, taken]);
    expect(answers[0]?.json.details).toMatchObject({ rejected_email: person.email });
    await api.collections.users.deleteOne({ _id: user_id });
    expect((await register()).status).toBe(201);
  });

  // guarantees: address-joins-nothing
  // answers: Logto CVE-2026-15611, https://nvd.nist.gov/vuln/detail/CVE-2026-15611
  // Somebody with the owner’s email address at another provider was linked to the owner’s account.
  test('a person never gets the account that has the email address', async () => {
    const account = await newSession(api);
    await verify(account);
    const answer = await logInByProvider(api, newPerson({ email: account.email.toUpperCase() }), newHome);
    expect(statusAndCode(answer)).toEqual([409, 'ERR-ACCOUNT-LINK-REQUIRED']);
    expect(await sessionsOf(account.user_id)).toBe(1);
  });

  test('a person never gets an email address that its account can still take back', async () => {
    const session = await newSession(api);
    await changeEmail(api, session, newPerson().email);
    const answer = await logInByProvider(api, newPerson({ email: session.email }), newHome);
    expect(statusAndCode(answer)).toEqual([409, 'ERR-EMAIL-ALREADY-EXISTS']);
  });

  test('an account registered by a provider has no password until a reset sets one', async () => {
    const { email, user_id } = await registered();
    const login = (given: string) => api.logIn({ email, password: given });
    expect((await login(password)).status).toBe(401);
    await confirmReset(api, await requestReset(api, email), { new_password: password });
    expect((await login(password)).status).toBe(200);
    expect((await stored(user_id))?.identities).toHaveLength(1);
  });
});

describe('a person who has an account', () => {
  test('a person who has an account is logged in, whatever the email address is now', async () => {
    const { person, user_id } = await registered();
    const moved = { ...person, email: 'somebody@elsewhere.example' };
    const answer = await logInByProvider(api, moved, { ...newHome, device_id: randomUUID() });
    expect([answer.status, answer.json.data.user_id]).toEqual([200, user_id]);
    expect((await stored(user_id))?.email).toBe(person.email);
  });

  test('a login by a provider makes the device known, so that wrong passwords of others do not keep the owner out', async () => {
    const session = await newSession(api);
    const person = newPerson();
    await linkIdentity(api, session, person);
    const own = withHeaders(api, newDevice());
    expect((await logInByProvider(own, person)).status).toBe(200);
    const guess = (on: ApiDriver, given: string) => on.logIn({ email: session.email, password: given });
    // The pauses grow with each guess, so that even a slow machine gets into one.
    const isRefused = async () => (await guess(api, 'wrong horse battery')).status === 429;
    for (let tries = 0; !(await isRefused()); tries += 1) expect(tries).toBeLessThan(60);
    expect((await guess(own, password)).status).toBe(200);
  });

  test('a person is another one at another provider', async () => {
    const { person } = await registered();
    const other = { ...person, email: newPerson().email };
    const answer = await logInByProvider(api, other, {}, 'partner');
    expect(statusAndCode(answer)).toEqual([403, 'ERR-REGISTRATION-REQUIRED']);
  });

  test('a login by a provider gets the same session for the same request for 60 s, and any other gets 410', async () => {
    const person = newPerson();
    const body = { ...(await provePerson(api, person)), ...newHome, device_id: randomUUID() };
    const first = await api.logInByProvider({ provider: 'office', ...body });
    const again = await api.logInByProvider({ provider: 'office', ...body });
    expect([first.status, again.status]).toEqual([201, 200]);
    const { session_id } = first.json.data;
    expect(again.json.data.session_id).toBe(session_id);
    const consumed = await api.collections.consumedProofs.findOne({ session_id });
    // Ten minutes of the challenge, ten of a link challenge that it could have led to, and clocks that are behind.
    expect(Number(consumed?.purge_at) - Number(consumed?.at)).toBeGreaterThan(24 * 60_000);
    expect(statusAndCode(await api.logInByProvider({ provider: 'office', ...body, device_id: randomUUID() }))).toEqual([
      410,
      'ERR-CODE-EXPIRED',
    ]);
    try {
      shiftMs += 61_000;
      expect((await api.logInByProvider({ provider: 'office', ...body })).status).toBe(410);
    } finally {
      shiftMs = 0;
    }
    expect(await sessionsOf(first.json.data.user_id)).toBe(1);
  });

  test('a login by a provider binds the session to the key of the device', async () => {
    const { person } = await registered();
    const key = newDeviceKey();
    const proof = { DPoP: key.prove({ path, at: now() }) };
    expect(
      (await api.logInByProvider({ provider: 'office', ...(await provePerson(api, person)) }, proof)).json.data.bound,
    ).toBe(true);
  });

  // answers: Logto CVE-2026-15616, https://nvd.nist.gov/vuln/detail/CVE-2026-15616
  // A login by another provider needed no second factor.
  test('a login by a provider needs the second factor if it is on, and that uses the token up', async () => {
    const { person, user_id, access_token, email } = await registered();
    const { json } = await logInByCode(api, await requestLoginCode(api, email));
    await confirmReset(api, await requestReset(api, email), { new_password: password });
    const session = { access_token, ...(await api.logIn({ email, password })).json.data };
    const { secret } = await switchOn(api, session, now());
    expect(json.data.user_id).toBe(user_id);
    const body = { ...(await provePerson(api, person)), device_id: randomUUID() };
    const pendingLogins = [
      await api.logInByProvider({ provider: 'office', ...body }),
      await api.logInByProvider({ provider: 'office', ...body }),
    ];
    expect(pendingLogins.map(statusAndCode)).toEqual(Array(2).fill([403, 'ERR-SECOND-FACTOR-REQUIRED']));
    const [one = '', two = ''] = pendingLogins.map((pendingLogin) => String(pendingLogin.json.details.challenge_id));
    shiftMs += 30_000;
    const done = await completeLogin(api, one, { code: codeAt(secret, now()) });
    expect(done.status).toBe(200);
    expect(decodeJwt(done.json.data.access_token)).toMatchObject({ amr: ['fed', 'otp', 'mfa'], acr: '2' });
    shiftMs += 30_000;
    expect((await completeLogin(api, two, { code: codeAt(secret, now()) })).status).toBe(410);
    expect((await api.logInByProvider({ provider: 'office', ...body })).status).toBe(410);
    shiftMs = 0;
  });

  test.each([
    [{ disabled_at: new Date() }, 'ERR-ACCOUNT-DISABLED'],
    [{ deletes_at: new Date(Date.now() + 86_400_000) }, 'ERR-ACCOUNT-DELETION-SCHEDULED'],
  ] as const)('a login by a provider is refused while the account has %j', async (fields, code) => {
    const { person, user_id } = await registered();
    await api.collections.users.updateOne({ _id: user_id }, { $set: fields });
    expect(statusAndCode(await logInByProvider(api, person))).toEqual([403, code]);
  });
});

test('each right ID token is counted by what it came to, and a wrong one is not', async () => {
  const own = await api.beside({ KEY_PREFIX: uniqueName() });
  const person = newPerson();
  const counts = async (work: () => Promise<Answer>) => {
    const named = ['logged_in', 'registered', 'registration_required', 'identity_disabled', 'address_taken'];
    const read = () =>
      Promise.all(named.map((outcome) => own.metric('auth_provider_logins_total', { provider: 'office', outcome })));
    const before = await read();
    await work();
    return (await read()).flatMap((count, i) => (count === before[i] ? [] : [[named[i], count - (before[i] ?? 0)]]));
  };
  try {
    expect(await counts(() => logInByProvider(own, person))).toEqual([['registration_required', 1]]);
    expect(await counts(() => logInByProvider(own, person, newHome))).toEqual([['registered', 1]]);
    expect(await counts(() => logInByProvider(own, person))).toEqual([['logged_in', 1]]);
    const taken = newPerson({ email: person.email });
    expect(await counts(() => logInByProvider(own, taken))).toEqual([['address_taken', 1]]);
    const disabled = { $set: { 'identities.0.disabled_at': new Date() } };
    await api.collections.users.updateOne({ email: person.email }, disabled);
    expect(await counts(() => logInByProvider(own, person))).toEqual([['identity_disabled', 1]]);
    expect(await counts(() => logInByProvider(own, { ...person, aud: 'other' }))).toEqual([]);
  } finally {
    await own.close();
  }
});

test('a challenge has a nonce in the forms that providers want, and counts for ten minutes', async () => {
  const { json } = await api.createFederatedChallenge();
  const { nonce, nonce_sha256, expires_at, timestamp } = json.data;
  expect(nonce_sha256).toBe(createHash('sha256').update(nonce).digest('hex'));
  expect(Date.parse(expires_at) - Date.parse(timestamp)).toBe(600_000);
  const { id_token } = await provePerson(api, newPerson());
  const unknown = await api.logInByProvider({ provider: 'office', challenge_id: 'none', id_token });
  expect(statusAndCode(unknown)).toEqual([410, 'ERR-CODE-EXPIRED']);
});

describe('a token', () => {
  // guarantees: wrong-provider-token
  test('an ID token counts for the challenge whose nonce it has, and for its provider', async () => {
    const person = newPerson();
    const [one, other] = [await requestProviderLogin(api), await requestProviderLogin(api)];
    const id_token = await signIdToken('office', { ...person, nonce: one.nonce });
    const wrong = [401, 'ERR-IDENTITY-TOKEN-INVALID'];
    const swapped = { challenge_id: other.challenge_id, id_token, ...newHome };
    expect(statusAndCode(await api.logInByProvider({ provider: 'office', ...swapped }))).toEqual(wrong);
    const body = { challenge_id: one.challenge_id, id_token, ...newHome };
    expect(statusAndCode(await api.logInByProvider({ provider: 'partner', ...body }))).toEqual(wrong);
    expect(statusAndCode(await api.logInByProvider({ provider: 'unknown', ...body }))).toEqual([
      404,
      'ERR-ROUTE-NOT-FOUND',
    ]);
    // None of these has used the challenge up.
    expect((await api.logInByProvider({ provider: 'office', ...body })).status).toBe(201);
  });

  test('an ID token counts for ten minutes', async () => {
    const body = { ...(await provePerson(api, newPerson())), ...newHome };
    try {
      shiftMs += 601_000;
      log.takeEvents();
      expect(statusAndCode(await api.logInByProvider({ provider: 'office', ...body }))).toEqual([
        410,
        'ERR-CODE-EXPIRED',
      ]);
      // The token is not wrong.
      expect(log.takeEvents()).toEqual([]);
    } finally {
      shiftMs = 0;
    }
  });
});

test('the audit log has each step of a login by a provider, and neither tokens nor the provider’s ids', async () => {
  log.takeEvents();
  const person = newPerson();
  const { json } = await logInByProvider(api, person, newHome);
  const { challenge_id } = await provePerson(api, person);
  const id_token = await signIdToken('office', { ...person, nonce: 'other' });
  await api.logInByProvider({ provider: 'office', challenge_id, id_token });
  const session = await newSession(api);
  await linkIdentity(api, session, newPerson());
  const audited = log.takeEvents();
  const ofUser = (user_id: unknown) => audited.filter((line) => line.user_id === user_id);
  expect(ofUser(json.data.user_id)).toMatchObject([
    { event: 'account.registered' },
    { event: 'login.succeeded', method: 'federated' },
  ]);
  expect(audited).toContainEqual(expect.objectContaining({ event: 'login.failed', reason: 'wrong_identity_token' }));
  expect(ofUser(session.user_id).at(-1)).toMatchObject({ event: 'identity.linked', provider: 'office' });
  const text = JSON.stringify(audited);
  expect([text.includes(id_token.slice(-40)), text.includes(person.sub), text.includes(person.email)]).toEqual([
    false,
    false,
    false,
  ]);
});

test('without providers their paths answer 404', async () => {
  expect((await off.createFederatedChallenge()).status).toBe(404);
  expect((await off.logInByProvider({ provider: 'office', challenge_id: 'none', id_token: 'none' })).status).toBe(404);
});
