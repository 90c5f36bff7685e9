import { generateKeyPairSync } from 'node:crypto';
import { routes } from '@auth-account/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Account, password, registerAccount, type TokenPair } from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import { type DeviceKey, newDeviceKey, refreshPath, type WantedProof } from '../support/api/device-key.ts';
import { addPasskey, passkeyLogin } from '../support/api/passkeys.ts';
import { completeLogin, guardedAccount } from '../support/api/second-factor.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';
import { recordLog } from '../support/recorded-log.ts';

let api: TestApi;
const log = recordLog('api');
beforeAll(async () => {
  api = await startTestApi({}, {}, log.logger);
});
afterAll(() => api.close());

let key: DeviceKey;
let account: Account;
let session: TokenPair;
beforeEach(async () => {
  key = newDeviceKey();
  account = await registerAccount(api);
  session = (await logInWith({}, key.prove({ path: routes.logIn.path }))).json.data;
  log.takeEvents();
});

/** Logs in with these fields of the body, headers and `DPoP`. */
const logInWith = (fields: object, proof?: string | string[], headers: Readonly<Record<string, string>> = {}) =>
  api.logIn({ email: account.email, password, ...fields }, { ...headers, ...(proof !== undefined && { DPoP: proof }) });

const send = (refresh_token: string, proof?: string) =>
  api.refreshTokens({ refresh_token }, proof === undefined ? {} : { DPoP: proof });

/** Refreshes with a proof of the session's key, or with one that differs from it as wanted. */
const refresh = (token: string, wanted: Partial<WantedProof> = {}, by = key) =>
  send(token, by.prove({ path: refreshPath, token, ...wanted }));

const stored = () => api.collections.sessions.findOne({ _id: session.session_id });

/** Expects a refusal that leaves the session as it was, and returns its reason in the audit log. */
async function reasonOf(send: () => Promise<Answer>) {
  const before = await stored();
  const { status, json } = await send();
  expect([status, json.error_code]).toEqual([401, 'IAD_JWT_REFRESH_EXPIRED']);
  expect(await stored()).toEqual(before);
  const [event, ...others] = log.takeEvents();
  expect(others).toEqual([]);
  expect(event).toMatchObject({ event: 'refresh.expired', session_id: session.session_id });
  return event?.reason;
}

describe('a login with a proof', () => {
  test('a login with a proof binds its session, and the database has only the hash of the key', async () => {
    expect(session).toMatchObject({ bound: true });
    expect(await stored()).toMatchObject({ cnf: { jkt: key.jkt } });
    await logInWith({});
    const { json } = await api.listSessions(bearer(session));
    expect(json.data.sessions.map((one: { bound: boolean }) => one.bound).sort()).toEqual([false, true]);
    const exported = await api.exportAccount({ current_password: password }, bearer(session));
    expect(exported.json.data.sessions.map((one: { bound: boolean }) => one.bound).sort()).toEqual([false, true]);
  });

  test.each<[string, () => string | string[]]>([
    ['an empty one', () => ''],
    ['text', () => 'proof'],
    ['two', () => [key.prove({ path: routes.logIn.path }), key.prove({ path: routes.logIn.path })]],
    ['one for another operation', () => key.prove({ path: refreshPath })],
    ['an old one', () => key.prove({ path: routes.logIn.path, at: Date.now() - 61_000 })],
    [
      'one by another key',
      () =>
        key.prove({ path: routes.logIn.path, signer: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey }),
    ],
  ])('a login with a wrong proof opens no session and names the header: %s', async (_, prove) => {
    const count = await api.collections.sessions.countDocuments();
    const { status, json } = await logInWith({}, prove());
    expect([status, json.error_code]).toEqual([422, 'ERR-VALIDATION-FAILED']);
    expect(json.details).toMatchObject([{ loc: ['header', 'DPoP'] }]);
    expect(await api.collections.sessions.countDocuments()).toBe(count);
  });

  test('a login with a proof is repeated with its idempotency key by the same device only', async () => {
    const idempotency = { 'Idempotency-Key': 'one-login' };
    const fields = { device_id: session.device_id };
    const first = await logInWith(fields, key.prove({ path: routes.logIn.path }), idempotency);
    const again = await logInWith(fields, key.prove({ path: routes.logIn.path }), idempotency);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.json.data).toMatchObject({ session_id: first.json.data.session_id, bound: true });
    for (const proof of [newDeviceKey().prove({ path: routes.logIn.path }), undefined]) {
      const other = await logInWith(fields, proof, idempotency);
      expect([other.status, other.json.error_code]).toEqual([422, 'ERR-IDEMPOTENCY-KEY-REUSED']);
    }
  });

  test('every operation that opens a session takes a proof', () => {
    const open = Object.values(routes).filter(({ success }) =>
      JSON.stringify(success.body).includes('"refresh_token"'),
    );
    expect(open.length).toBeGreaterThan(2);
    for (const { operationId, headers } of open)
      expect([operationId, headers]).toEqual([operationId, expect.arrayContaining(['DPoP'])]);
  });
});

describe('a bound session', () => {
  test('a bound session goes on with a proof by its key', async () => {
    let { refresh_token } = session;
    for (let round = 0; round < 5; round += 1) {
      const { status, json } = await refresh(refresh_token);
      expect([status, json.data?.bound]).toEqual([200, true]);
      refresh_token = json.data.refresh_token;
    }
  });

  test('a bound session still detects theft if an outdated token comes with a proof by its key', async () => {
    const second = (await refresh(session.refresh_token)).json.data.refresh_token;
    await refresh(second);
    expect((await refresh(session.refresh_token)).json.error_code).toBe('IAD_JWT_REFRESH_STOLEN');
  });

  test('a bound session needs a proof', async () => {
    expect(await reasonOf(() => send(session.refresh_token))).toBe('proof_missing');
    expect((await refresh(session.refresh_token)).status).toBe(200);
  });

  // guarantees: bound-session
  test('a bound session takes no proof of another device, with any of its tokens, and calls it no theft', async () => {
    const thief = newDeviceKey();
    const second = (await refresh(session.refresh_token)).json.data.refresh_token;
    const third = (await refresh(second)).json.data.refresh_token;
    log.takeEvents();
    for (const token of [session.refresh_token, second, third]) {
      expect(await reasonOf(() => refresh(token, {}, thief))).toBe('proof_of_other_key');
      expect(await reasonOf(() => send(token))).toBe('proof_missing');
    }
    expect((await refresh(third)).status).toBe(200);
  });

  test.each<[string, Partial<WantedProof>]>([
    ['for another refresh token', { token: 'another' }],
    ['for no refresh token', { token: undefined }],
    ['for the login', { path: routes.logIn.path }],
    ['of an hour ago', { at: Date.now() - 3_600_000 }],
    ['of a wrong type', { header: { typ: 'JWT' } }],
  ])('a bound session takes no proof %s', async (_, wanted) => {
    expect(await reasonOf(() => refresh(session.refresh_token, wanted))).toBe('proof_wrong');
  });

  // guarantees: bound-session
  test('a bound session takes a proof that was recorded at an earlier refresh for nothing else', async () => {
    const recorded = key.prove({ path: refreshPath, token: session.refresh_token });
    const second = (await send(session.refresh_token, recorded)).json.data.refresh_token;
    log.takeEvents();
    expect(await reasonOf(() => send(second, recorded))).toBe('proof_wrong');
  });

  test('a bound session shows the reason of its end without a proof', async () => {
    await api.logOut({ refresh_token: session.refresh_token }, bearer(session));
    const { json } = await send(session.refresh_token);
    expect([json.error_code, json.details.reason]).toEqual(['IAD_JWT_REFRESH_STOLEN', 'logged_out']);
  });
});

describe('other logins with a proof', () => {
  const boundTo = async ({ json }: Answer) => {
    expect(json.data).toMatchObject({ bound: true });
    return (await api.collections.sessions.findOne({ _id: json.data.session_id }))?.cnf?.jkt;
  };

  test('a login with a second factor binds its session by the proof of its first step', async () => {
    const { email, recovery_codes } = await guardedAccount(api);
    const { json } = await api.logIn({ email, password }, { DPoP: key.prove({ path: routes.logIn.path }) });
    const { challenge_id } = json.details;
    const done = await completeLogin(api, challenge_id, { method: 'recovery_code', code: recovery_codes[0] });
    expect(await boundTo(done)).toBe(key.jkt);
  });

  test('a login by passkey binds its session by its proof, and refuses a wrong proof', async () => {
    const path = '/api/v1/auth/passkeys/login';
    const { authenticator } = await addPasskey(api, session);
    const body = await passkeyLogin(api, authenticator);
    const refused = await api.logInByPasskey(body, { DPoP: key.prove({ path: routes.logIn.path }) });
    expect([refused.status, refused.json.details]).toMatchObject([422, [{ loc: ['header', 'DPoP'] }]]);
    expect(await boundTo(await api.logInByPasskey(body, { DPoP: key.prove({ path }) }))).toBe(key.jkt);
  });

  test('a login by passkey with a proof is repeated for its key only', async () => {
    const path = '/api/v1/auth/passkeys/login';
    const { authenticator } = await addPasskey(api, session);
    const body = await passkeyLogin(api, authenticator);
    const proofs = [key, key, undefined, newDeviceKey()];
    const statuses: number[] = [];
    for (const by of proofs) {
      const { status } = await api.logInByPasskey(body, by === undefined ? {} : { DPoP: by.prove({ path }) });
      statuses.push(status);
    }
    expect(statuses).toEqual([200, 200, 410, 410]);
  });
});

describe('an unbound session', () => {
  beforeEach(async () => {
    await api.collections.sessions.updateOne({ _id: session.session_id }, { $unset: { cnf: '' } });
  });

  test.each<[string, Partial<WantedProof>]>([
    ['a proof', {}],
    ['a wrong proof', { at: 0 }],
  ])('an unbound session ignores %s, and stays unbound', async (_, wanted) => {
    const first = await refresh(session.refresh_token, wanted);
    expect([first.status, first.json.data.bound]).toEqual([200, undefined]);
    expect((await send(first.json.data.refresh_token)).status).toBe(200);
    const found = await api.collections.sessions.findOne({ _id: session.session_id });
    expect(found).not.toHaveProperty('cnf');
  });
});
