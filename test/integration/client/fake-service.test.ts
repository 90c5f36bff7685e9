import { readFileSync } from 'node:fs';
import { createAuthClient } from '@auth-account/client';
import { account } from '@auth-account/client/account';
import { federated } from '@auth-account/client/federated';
import { household } from '@auth-account/client/household';
import { loginCode } from '@auth-account/client/login-code';
import { passkeys } from '@auth-account/client/passkeys';
import { secondFactor } from '@auth-account/client/second-factor';
import { stepUp } from '@auth-account/client/step-up';
import { createFakeService, fakeIdToken, fakePasskeys, mailedCode, memoryStorage } from '@auth-account/client/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newEmail, password } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { createAuthenticator } from '../../support/api/authenticator.ts';
import { codeOf as mailedCodeOf, wrongCodeOf } from '../../support/api/codes.ts';
import { newDeviceKey, refreshPath } from '../../support/api/device-key.ts';
import { openApiChecker } from '../../support/api/openapi-checker.ts';
import { appOrigin } from '../../support/api/passkeys.ts';
import { newHome, newPerson, signIdToken } from '../../support/api/providers.ts';
import { codeAt } from '../../support/api/second-factor.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

const document = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'));
const checker = openApiChecker(document);
let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});

afterAll(() => api.close());

interface Recorded {
  /** The request's method and path, and its number. */
  readonly request: string;
  readonly status: number;
  readonly code: string | undefined;
  /** The answer's data or details, without what differs from run to run. */
  readonly facts: unknown;
}

interface Answered {
  readonly error_code?: string;
  readonly details?: object;
  // biome-ignore lint/suspicious/noExplicitAny: the checker has compared it with its schema
  readonly data: any;
}

type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

const auth = '/api/v1/auth';
const own = '/api/v1/account';

/** Members that only cryptography, configuration or the clock decide, and the texts for people. */
const otherwise = ['options', 'passkey_options', 'rp_id', 'expires_in', 'refresh_expires_in', 'action'];

/** A name or a sentence. A random text may have no digit, but is not all in one case. */
const words = /^([A-Z_]+|[A-Z]?[a-z_]+( [A-Za-z_]+)*\.?)$/;

/** Replaces the texts that differ from run to run: ids, tokens, email addresses, times. */
function lasting(value: unknown, name = ''): unknown {
  if (otherwise.includes(name)) return 'any';
  if (typeof value === 'string') return words.test(value) ? value : 'text';
  if (Array.isArray(value)) return value.map((each) => lasting(each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, lasting(each, key)]));
}

/**
 * Returns a function that sends requests, and its record of the answers without the parts that differ from run to run.
 */
function createRecorder(base: string, fetchIt: Fetch) {
  const recorded: Recorded[] = [];
  async function send(method: string, path: string, body?: object, more: Record<string, string> = {}, template = path) {
    const headers = { 'Content-Type': 'application/json', 'X-Request-ID': 'story-1', ...more };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetchIt(`${base}${path}`, init);
    const json: Answered = JSON.parse(await response.text());
    const { status } = response;
    expect(checker.bodyFault({ path: template, method: method.toLowerCase(), status }, json)).toBeUndefined();
    const request = `${recorded.length} ${method} ${template}`;
    const code = json.error_code;
    // The limits decide how many tries of the factor are left.
    const facts = code === 'ERR-SECOND-FACTOR-INVALID' ? 'any' : lasting(json.data ?? json.details);
    recorded.push({ request, status, code, facts });
    return json.data ?? json.details;
  }
  return { recorded, send };
}

/** Sends the service a sequence of requests about sessions. */
async function reportSessions(base: string, fetchIt: Fetch): Promise<Recorded[]> {
  const { recorded, send } = createRecorder(base, fetchIt);
  const email = newEmail();
  const form = { email, password, space_creation_mode: 'CREATE_NEW_HOME' };
  const key = { 'Idempotency-Key': crypto.randomUUID() };
  await send('POST', `${auth}/register`, form, key);
  await send('POST', `${auth}/register`, form, key);
  await send('POST', `${auth}/register`, { ...form, password: 'another long password' }, key);
  await send('POST', `${auth}/register`, form);
  await send('POST', `${auth}/login`, { email, password: 'wrong' });
  const device_id = crypto.randomUUID();
  const login = { email, password, device_id: crypto.randomUUID() };
  await send('POST', `${auth}/login`, login, key);
  await send('POST', `${auth}/login`, login, key);
  await send('POST', `${auth}/login`, { ...login, device_name: 'Pixel' }, key);
  const first = await send('POST', `${auth}/login`, { email, password, device_id });
  const replaced = await send('POST', `${auth}/login`, { email, password, device_id, device_name: 'Pixel' });
  await send('POST', `${auth}/refresh`, { refresh_token: first.refresh_token });
  const other = await send('POST', `${auth}/login`, { email, password });
  await send('GET', '/api/v1/account', undefined, bearer(replaced));
  await send('PATCH', '/api/v1/account', { display_name: 'Anna' }, bearer(replaced));
  await send('GET', `${auth}/sessions`, undefined, bearer(replaced));
  const next = await send('POST', `${auth}/refresh`, { refresh_token: replaced.refresh_token });
  await send('POST', `${auth}/refresh`, { refresh_token: replaced.refresh_token });
  const newer = await send('POST', `${auth}/refresh`, { refresh_token: next.refresh_token });
  const one = `${auth}/sessions/${other.session_id}`;
  await send('DELETE', one, undefined, bearer(newer), `${auth}/sessions/{session_id}`);
  await send('DELETE', one, undefined, bearer(newer), `${auth}/sessions/{session_id}`);
  await send('POST', `${auth}/refresh`, { refresh_token: other.refresh_token });
  await send('POST', `${auth}/refresh`, { refresh_token: 'nonsense' });
  // A token that is no longer valid, which looks like theft.
  await send('POST', `${auth}/refresh`, { refresh_token: replaced.refresh_token });
  await send('GET', '/api/v1/account', undefined, bearer(newer));
  const last = await send('POST', `${auth}/login`, { email, password });
  await send('POST', `${auth}/logout`, { refresh_token: 'nonsense' }, bearer(last));
  await send('POST', `${auth}/logout`, { refresh_token: last.refresh_token }, bearer(last));
  await send('POST', `${auth}/refresh`, { refresh_token: last.refresh_token });
  const [mine, stays] = [await send('POST', `${auth}/login`, { email, password }), { except_current: true }];
  await send('POST', `${auth}/login`, { email, password, device_name: ' Pixel  9 ', platform: 'android' });
  await send('GET', `${auth}/sessions`, undefined, bearer(mine));
  await send('POST', `${auth}/logout-all`, stays, bearer(mine));
  await send('POST', `${auth}/logout-all`, stays, bearer(mine));
  await send('PATCH', '/api/v1/account', { display_name: null, locale: 'ru' }, bearer(mine));
  await send('GET', '/api/v1/account', undefined, bearer(mine));
  const self = `${auth}/sessions/${mine.session_id}`;
  await send('DELETE', self, undefined, bearer(mine), `${auth}/sessions/{session_id}`);
  await send('POST', `${auth}/refresh`, { refresh_token: mine.refresh_token });
  await send('POST', `${auth}/logout-all`, {}, bearer(await send('POST', `${auth}/login`, { email, password })));
  await send('POST', `${auth}/register`, { ...form, email: newEmail(), space_creation_mode: 'CREATE_NEW_OFFICE' });
  const [ownKey, others] = [newDeviceKey(), newDeviceKey()];
  const loginProof = { DPoP: ownKey.prove({ path: `${auth}/login` }) };
  const { refresh_token: token, bound } = await send('POST', `${auth}/login`, { email, password }, loginProof);
  expect(bound).toBe(true);
  await send('POST', `${auth}/refresh`, { refresh_token: token });
  await send('POST', `${auth}/refresh`, { refresh_token: token }, { DPoP: others.prove({ path: refreshPath, token }) });
  await send('POST', `${auth}/refresh`, { refresh_token: token }, { DPoP: ownKey.prove({ path: refreshPath, token }) });
  return recorded;
}

/** Sends the service a sequence of requests about the second factor, step-ups and passkeys. */
async function reportFactors(base: string, fetchIt: Fetch): Promise<Recorded[]> {
  const { recorded, send } = createRecorder(base, fetchIt);
  const email = newEmail();
  await send('POST', `${auth}/register`, { email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  const logIn = { email, password, device_id: crypto.randomUUID() };
  const other = await send('POST', `${auth}/login`, { email, password });
  const session = await send('POST', `${auth}/login`, logIn);
  const access = bearer(session);
  await send('GET', `${own}/factors`, undefined, access);
  await send('POST', `${own}/totp`, { current_password: 'wrong' }, access);
  const { factor_id, secret } = await send('POST', `${own}/totp`, { current_password: password }, access);
  await send('POST', `${own}/totp/confirm`, { factor_id, code: '000000' }, access);
  const code = codeAt(secret);
  await send('POST', `${own}/totp/confirm`, { factor_id: crypto.randomUUID(), code }, access);
  const { recovery_codes } = await send('POST', `${own}/totp/confirm`, { factor_id, code }, access);
  await send('POST', `${auth}/refresh`, { refresh_token: other.refresh_token });
  await send('GET', `${own}/factors`, undefined, access);
  await send('POST', `${own}/totp`, { current_password: password }, access);
  await send('POST', `${auth}/second-factor-removal`, { email });
  await send('DELETE', `${own}/second-factor-removal`, undefined, access);

  const { challenge_id } = await send('POST', `${auth}/login`, logIn);
  const confirm = (fields: object) =>
    send('POST', `${auth}/login/second-factor`, { challenge_id, method: 'totp', trust_device: true, ...fields });
  await confirm({ code: '000000' });
  await confirm({ challenge_id: 'nonsense', code });
  const next = { code: codeAt(secret, Date.now(), 1) };
  const trusted = await confirm(next);
  expect((await confirm(next)).session_id).toBe(trusted.session_id);
  await confirm({ code: '000000' });
  const { trusted_device_token } = trusted;
  const trusting = bearer(await send('POST', `${auth}/login`, { ...logIn, trusted_device_token }));
  await send('POST', `${auth}/login`, { ...logIn, device_id: crypto.randomUUID(), trusted_device_token });

  const stepUp = async (purpose: string, proof: object, more = trusting) => {
    const { challenge_id } = await send('POST', `${own}/step-up/challenge`, { purpose }, more);
    const data = await send('POST', `${own}/step-up`, { challenge_id, ...proof }, more);
    if (data.timestamp) await send('POST', `${own}/step-up`, { challenge_id, ...proof }, more);
    return data;
  };
  await stepUp('totp', { method: 'password', password });
  await send('GET', `${own}/factors`, undefined, trusting);
  await send('GET', `${auth}/sessions`, undefined, trusting);
  await stepUp('session', { method: 'recovery_code', code: recovery_codes[1] });
  const { step_up_token: forCodes } = await stepUp('recovery_codes', {
    method: 'recovery_code',
    code: recovery_codes[2],
  });
  await send('DELETE', `${own}/totp`, { step_up_token: forCodes }, trusting);
  const newCodes = () => send('POST', `${own}/recovery-codes`, { step_up_token: forCodes }, trusting);
  const recovery = { method: 'recovery_code', code: (await newCodes()).recovery_codes[0] };
  await newCodes();
  await stepUp('totp', { method: 'recovery_code', code: recovery_codes[3] });
  const { step_up_token } = await stepUp('totp', recovery);
  await stepUp('totp', recovery);
  await send('POST', `${own}/passkeys/challenge`, { step_up_token }, trusting);
  const again = (await stepUp('totp', { method: 'totp', code: '000000' })) && { step_up_token };
  await send('DELETE', `${own}/totp`, again, trusting);
  await send('DELETE', `${own}/totp`, again, trusting);
  const plain = bearer(await send('POST', `${auth}/login`, logIn));

  const authenticator = createAuthenticator({ origin: appOrigin });
  const asked = await send('POST', `${own}/passkeys/challenge`, { current_password: password }, plain);
  const added = { challenge_id: asked.challenge_id, credential: authenticator.create(asked.options), name: 'Pixel' };
  await send('POST', `${own}/passkeys`, { ...added, challenge_id: 'nonsense' }, plain);
  const { passkey_id } = await send('POST', `${own}/passkeys`, added, plain);
  await send('POST', `${own}/passkeys`, added, plain);
  const one = [`${own}/passkeys/${passkey_id}`, `${own}/passkeys/{passkey_id}`] as const;
  await send('PATCH', one[0], { name: 'Pixel 9' }, plain, one[1]);
  await send('GET', `${own}/passkeys`, undefined, plain);
  const byPasskey = async () => {
    const { challenge_id, options } = await send('POST', `${auth}/passkeys/challenge`);
    const proof = { challenge_id, credential: authenticator.get(options), device_id: crypto.randomUUID() };
    await send('POST', `${auth}/passkeys/login`, { ...proof, challenge_id: 'nonsense' });
    const opened = await send('POST', `${auth}/passkeys/login`, proof);
    await send('POST', `${auth}/passkeys/login`, proof);
    await send('POST', `${auth}/passkeys/login`, { ...proof, device_id: crypto.randomUUID() });
    return opened;
  };
  const last = bearer(await byPasskey());
  await send('DELETE', one[0], await stepUp('passkeys', { method: 'password', password }, last), last, one[1]);
  await send('DELETE', one[0], { current_password: password }, last, one[1]);
  await byPasskey();
  return recorded;
}

/** Sends the service a sequence of requests about providers. */
async function reportProviders(base: string, fetchIt: Fetch): Promise<Recorded[]> {
  const { recorded, send } = createRecorder(base, fetchIt);
  const isFake = base !== api.base;
  const byProvider = [`${auth}/federated/office`, `${auth}/federated/{provider}`] as const;
  const toIdentities = [`${own}/identities/office`, `${own}/identities/{identity}`] as const;
  const prove = async (person: { readonly sub: string }) => {
    const { challenge_id, nonce } = await send('POST', `${auth}/federated/challenge`);
    const id_token = isFake ? fakeIdToken(person) : await signIdToken('office', { ...person, nonce });
    return { challenge_id, id_token };
  };
  const logIn = (proof: object, fields: object = {}) =>
    send('POST', byProvider[0], { ...proof, ...fields }, {}, byProvider[1]);

  const person = newPerson();
  const device_id = crypto.randomUUID();
  const first = await prove(person);
  await logIn({ ...first, id_token: 'nonsense' });
  await logIn({ ...first, challenge_id: 'nonsense' });
  const { email: _email, ...nameless } = newPerson();
  await logIn(await prove(nameless));
  await logIn(await prove(nameless), newHome);
  await logIn(first);
  const { session_id } = await logIn(first, { ...newHome, device_id });
  expect((await logIn(first, { ...newHome, device_id })).session_id).toBe(session_id);
  await logIn(first, { device_id: crypto.randomUUID() });
  const session = bearer(await logIn(await prove(person)));
  const { identities } = await send('GET', `${own}/identities`, undefined, session);
  await send('GET', own, undefined, session);
  const named = await logIn(await prove(newPerson()), {
    space_creation_mode: 'CREATE_NEW_OFFICE',
    display_name: 'Ben',
  });
  await send('GET', own, undefined, bearer(named));
  const [identity] = identities;
  const unlink = (body: object, access: Record<string, string>) =>
    send('DELETE', `${own}/identities/${identity.identity_id}`, body, access, `${own}/identities/{identity}`);
  await unlink({ current_password: password }, session);

  const email = newEmail();
  await send('POST', `${auth}/register`, { email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  const namesake = newPerson({ email });
  const proof = await prove(namesake);
  const { link_challenge_id } = await logIn(proof, newHome);
  const link = (fields: object) => send('POST', `${auth}/federated/link`, { link_challenge_id, device_id, ...fields });
  await link({ password: 'wrong' });
  await link({ link_challenge_id: 'nonsense', password });
  await send('POST', `${auth}/federated/link/code`, { link_challenge_id: 'nonsense' });
  await link({ challenge_id: crypto.randomUUID(), code: '11111111' });
  const { challenge_id } = await send('POST', `${auth}/federated/link/code`, { link_challenge_id });
  await link({ challenge_id, code: isFake ? '11111111' : await wrongCodeOf(api, challenge_id) });
  const linked = await link({ password });
  expect((await link({ password })).session_id).toBe(linked.session_id);
  await logIn(proof);
  const access = bearer(await logIn(await prove(namesake)));
  await send('GET', `${own}/identities`, undefined, access);

  const add = async (whom: { readonly sub: string }, fields: object) =>
    send('POST', toIdentities[0], { ...(await prove(whom)), ...fields }, access, toIdentities[1]);
  const reauthentication = { current_password: password };
  await add(person, reauthentication);
  await add(newPerson(), { current_password: 'wrong' });
  const wrongly = { challenge_id: 'nonsense', id_token: 'nonsense', ...reauthentication };
  await send('POST', toIdentities[0], wrongly, access, toIdentities[1]);
  await send(
    'POST',
    toIdentities[0],
    { ...(await prove(newPerson())), id_token: 'nonsense', ...reauthentication },
    access,
    toIdentities[1],
  );
  await add(nameless, reauthentication);
  const { identity_id } = await add(newPerson(), reauthentication);
  const one = `${own}/identities/${identity_id}`;
  await send('DELETE', one, reauthentication, access, toIdentities[1]);
  await send('DELETE', one, reauthentication, access, toIdentities[1]);

  // The code of the mail, and the second factor after it.
  const other = { email: newEmail(), password };
  await send('POST', `${auth}/register`, { ...other, space_creation_mode: 'CREATE_NEW_HOME' });
  const asked = await logIn(await prove(newPerson({ email: other.email })), newHome);
  const mailed = await send('POST', `${auth}/federated/link/code`, { link_challenge_id: asked.link_challenge_id });
  const code = isFake ? mailedCode : await mailedCodeOf(api, mailed.challenge_id);
  const byCode = { link_challenge_id: asked.link_challenge_id, challenge_id: mailed.challenge_id, code };
  const opened = bearer(await link(byCode));
  await link(byCode);
  await link({ ...byCode, device_id: crypto.randomUUID() });
  await send('GET', own, undefined, opened);
  await send('POST', `${auth}/login`, other);
  return recorded;
}

/** Sends the service a sequence of requests about mailed codes. */
async function reportCodes(base: string, fetchIt: Fetch): Promise<Recorded[]> {
  const { recorded, send } = createRecorder(base, fetchIt);
  const isFake = base !== api.base;
  const email = newEmail();
  await send('POST', `${auth}/register`, { email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  const earlier = await send('POST', `${auth}/login`, { email, password });
  const logIn = (body: object) => send('POST', `${auth}/login-code/confirm`, body);
  const ask = async (address: string) => {
    const { challenge_id } = await send('POST', `${auth}/login-code`, { email: address });
    const [code, wrong] = isFake
      ? [mailedCode, '11111111']
      : [await mailedCodeOf(api, challenge_id), await wrongCodeOf(api, challenge_id)];
    return { challenge_id, code, wrong };
  };
  await logIn({ challenge_id: crypto.randomUUID(), code: '11111111' });
  const { wrong, ...right } = await ask(email.toUpperCase());
  await logIn({ ...right, code: wrong });
  await logIn({ ...right, code: wrong });
  const device_id = crypto.randomUUID();
  const { session_id } = await logIn({ ...right, device_id });
  expect((await logIn({ ...right, device_id })).session_id).toBe(session_id);
  await logIn({ ...right, device_id: crypto.randomUUID() });
  await logIn({ ...right, code: wrong });
  await send('POST', `${auth}/refresh`, { refresh_token: earlier.refresh_token });
  await send('POST', `${auth}/login`, { email, password });
  const next = await ask(email);
  const access = bearer(await logIn({ challenge_id: next.challenge_id, code: next.code }));
  await send('GET', own, undefined, access);
  await ask(newEmail()).then(({ challenge_id }) => logIn({ challenge_id, code: '11111111' }));
  const closed = await ask(email);
  for (const _try of [1, 2, 3, 4, 5]) await logIn({ challenge_id: closed.challenge_id, code: closed.wrong });
  await logIn({ challenge_id: closed.challenge_id, code: closed.code });
  return recorded;
}

test.each([
  ['sessions', reportSessions],
  ['ways to sign in', reportFactors],
  ['providers', reportProviders],
  ['mailed codes', reportCodes],
])('the fake service answers about %s as the real one does, in the contract’s forms', async (_, reportIt) => {
  const real = await reportIt(api.base, fetch);
  const service = createFakeService();
  const fake = await reportIt(service.baseUrl, service.fetch);
  expect(fake).toEqual(real);
  expect(new Set(real.map(({ code }) => code)).size).toBeGreaterThan(4);
});

test('an app’s test has sessions, streams, lost answers and ends', async () => {
  const service = createFakeService();
  const storage = memoryStorage();
  const auth = createAuthClient({ ...service, storage, groups: [account, household] });
  const events: string[] = [];
  auth.subscribe(({ type }) => events.push(type));
  const email = newEmail();
  service.loseNextAnswer();
  await auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  const { session_id, home_group_id } = await auth.logIn({ email, password });
  await eventually('the stream is open', async () => auth.stream.isOpen());
  service.push(home_group_id, 'inventory.item.changed', {});
  service.expireAccessTokens();
  expect((await auth.account.find()).email).toBe(email);
  // If the fake service does not implement an operation, it answers with the contract's example.
  expect((await auth.invites.create()).invite_token).toMatch(/^[\w-]+$/);
  auth.close();
  const again = createAuthClient({ ...service, storage, groups: [account, household] });
  expect((await again.ready()).status).toBe('signed_in');
  service.endSession(session_id, 'password_changed');
  await expect(again.account.find()).rejects.toMatchObject({ code: 'IAD_JWT_REFRESH_STOLEN' });
  expect(again.state()).toEqual({ status: 'signed_out', reason: 'password_changed' });
  await expect(again.invites.list()).rejects.toMatchObject({ code: 'CLIENT_SIGNED_OUT' });
  expect(events).toContain('message');
  again.close();
});

test('an app’s test logs in by a mailed code', async () => {
  const service = createFakeService();
  const auth = createAuthClient({ ...service, storage: memoryStorage(), groups: [loginCode] });
  const email = newEmail();
  const { user_id } = await auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  const { challenge_id } = await auth.loginCode.request({ email });
  await expect(auth.loginCode.logIn({ challenge_id, code: '11111111' })).rejects.toMatchObject({
    code: 'ERR-CODE-INVALID',
  });
  service.loseNextAnswer();
  expect((await auth.loginCode.logIn({ challenge_id, code: mailedCode })).user_id).toBe(user_id);
  // The first proof of an email address takes the account back from somebody else who may have registered it.
  await expect(auth.logIn({ email, password })).rejects.toMatchObject({ code: 'ERR-INVALID-CREDENTIALS' });
  service.secondFactorCode = '123456';
  const next = await auth.loginCode.request({ email });
  await expect(auth.loginCode.logIn({ ...next, code: mailedCode })).rejects.toMatchObject({
    code: 'ERR-SECOND-FACTOR-REQUIRED',
  });
  auth.close();
});

test('an app’s test registers by a provider, and links an account by a mailed code and the second factor', async () => {
  const service = createFakeService();
  const auth = createAuthClient({ ...service, storage: memoryStorage(), groups: [federated, secondFactor] });
  const logIn = async (person: Parameters<typeof fakeIdToken>[0]) => {
    const { challenge_id } = await auth.federated.challenge();
    return auth.federated.logInWith('google', { challenge_id, id_token: fakeIdToken(person) });
  };
  const anna = { sub: '1', email: newEmail(), name: 'Anna' };
  await expect(logIn(anna)).rejects.toMatchObject({ code: 'ERR-REGISTRATION-REQUIRED' });
  service.loseNextAnswer();
  const { user_id } = await auth.federated.register({ space_creation_mode: 'CREATE_NEW_HOME' });
  await auth.logOut();
  expect((await logIn(anna)).user_id).toBe(user_id);
  await auth.logOut();
  const email = newEmail();
  await auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  await expect(logIn({ sub: '2', email })).rejects.toMatchObject({ code: 'ERR-ACCOUNT-LINK-REQUIRED' });
  service.secondFactorCode = '123456';
  await auth.federated.requestLinkCode();
  const pendingLogin = auth.federated.logInAndLink({ code: mailedCode });
  await expect(pendingLogin).rejects.toMatchObject({ code: 'ERR-SECOND-FACTOR-REQUIRED' });
  await auth.secondFactor.confirm({ method: 'totp', code: '123456' });
  expect((await auth.federated.identities()).identities).toMatchObject([{ provider: 'google', email }]);
  auth.close();
});

test('an app’s test logs in by passkey, until no account has it', async () => {
  const service = createFakeService();
  const auth = createAuthClient({ ...service, storage: memoryStorage(), groups: [passkeys(fakePasskeys()), stepUp] });
  await expect(auth.passkeys.logIn()).rejects.toMatchObject({ code: 'CLIENT_PASSKEY_DISMISSED' });
  const email = newEmail();
  const { user_id } = await auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  await auth.logIn({ email, password });
  const { passkey_id } = await auth.passkeys.create({ current_password: password });
  await auth.logOut();
  service.loseNextAnswer();
  await expect(auth.passkeys.logIn()).rejects.toMatchObject({ code: 'CLIENT_NETWORK' });
  expect((await auth.passkeys.logIn()).user_id).toBe(user_id);
  const reauthentication = await auth.stepUp('passkeys', async ({ passkey_options = {} }) => ({
    method: 'passkey',
    credential: await auth.passkeys.prove(passkey_options),
  }));
  await auth.passkeys.delete(passkey_id, reauthentication);
  await eventually('the device has dropped it', async () => {
    const refusal = await auth.passkeys.logIn().catch(({ code }) => code);
    return refusal === 'CLIENT_PASSKEY_DISMISSED';
  });
  auth.close();
});

test('an app’s test has a passkey of which the service knows nothing, and which the device drops', async () => {
  const device = fakePasskeys();
  await device.create(undefined as never);
  const auth = createAuthClient({ ...createFakeService(), storage: memoryStorage(), groups: [passkeys(device)] });
  await expect(auth.passkeys.logIn()).rejects.toMatchObject({ code: 'ERR-PASSKEY-INVALID' });
  await eventually('the device has dropped it', async () =>
    device.get({} as never, {}).then(
      () => false,
      () => true,
    ),
  );
  auth.close();
});

test('an app’s test switches the second factor on, and logs in with it', async () => {
  const service = createFakeService();
  const auth = createAuthClient({ ...service, storage: memoryStorage(), groups: [secondFactor] });
  const email = newEmail();
  await auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  await auth.logIn({ email, password });
  const { factor_id } = await auth.secondFactor.createTotp({ current_password: password });
  await auth.secondFactor.confirmTotp({ factor_id, code: '123456' });
  await auth.logOut();
  await expect(auth.logIn({ email, password })).rejects.toMatchObject({ code: 'ERR-SECOND-FACTOR-REQUIRED' });
  const wrong = auth.secondFactor.confirm({ method: 'totp', code: '000000' });
  await expect(wrong).rejects.toMatchObject({ code: 'ERR-SECOND-FACTOR-INVALID' });
  await auth.secondFactor.confirm({ method: 'totp', code: '654321', trust_device: true });
  await auth.logOut();
  await auth.logIn({ email, password });
  expect(auth.state().status).toBe('signed_in');
  auth.close();
});
