import { readFileSync } from 'node:fs';
import { createAuthClient } from '@auth-account/client';
import { account } from '@auth-account/client/account';
import { household } from '@auth-account/client/household';
import { passkeys } from '@auth-account/client/passkeys';
import { createFakeService, memoryStorage } from '@auth-account/client/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newEmail, password } from '../../support/accounts.ts';
import { newDeviceKey, refreshPath } from '../../support/device-key.ts';
import { openApiChecker } from '../../support/openapi-checker.ts';
import { startTestApi, type TestApi } from '../../support/test-api.ts';
import { eventually } from '../../support/worker-scene.ts';

const document = JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'));
const checker = openApiChecker(document);
let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});

afterAll(() => api.close());

interface Told {
  readonly status: number;
  readonly code: string | undefined;
  readonly reason: string | undefined;
}

interface Answered {
  readonly error_code?: string;
  readonly details?: { readonly reason?: string };
  // biome-ignore lint/suspicious/noExplicitAny: the checker has compared it with its schema
  readonly data: any;
}

/** Sends the service a sequence of requests. Returns its answers without the parts that differ from run to run. */
async function tell(base: string, fetchIt: (url: string, init?: RequestInit) => Promise<Response>): Promise<Told[]> {
  const told: Told[] = [];
  async function send(method: string, path: string, body?: object, more: Record<string, string> = {}, template = path) {
    const headers = { 'Content-Type': 'application/json', 'X-Request-ID': 'story-1', ...more };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetchIt(`${base}${path}`, init);
    const json: Answered = JSON.parse(await response.text());
    const { status } = response;
    expect(checker.bodyFault({ path: template, method: method.toLowerCase(), status }, json)).toBeUndefined();
    told.push({ status, code: json.error_code, reason: json.details?.reason });
    return json.data;
  }
  const bearer = ({ access_token }: { readonly access_token: string }) => ({ Authorization: `Bearer ${access_token}` });
  const auth = '/api/v1/auth';
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
  const [own, others] = [newDeviceKey(), newDeviceKey()];
  const loginProof = { DPoP: own.prove({ path: `${auth}/login` }) };
  const { refresh_token: token, bound } = await send('POST', `${auth}/login`, { email, password }, loginProof);
  expect(bound).toBe(true);
  await send('POST', `${auth}/refresh`, { refresh_token: token });
  await send('POST', `${auth}/refresh`, { refresh_token: token }, { DPoP: others.prove({ path: refreshPath, token }) });
  await send('POST', `${auth}/refresh`, { refresh_token: token }, { DPoP: own.prove({ path: refreshPath, token }) });
  return told;
}

test('the fake service answers as the real one does, in the contract’s forms', async () => {
  const real = await tell(api.base, fetch);
  const service = createFakeService();
  const fake = await tell(service.baseUrl, service.fetch);
  expect(fake).toEqual(real);
  expect(new Set(real.map(({ code }) => code)).size).toBeGreaterThan(7);
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

test('an app’s test logs in by passkey, until no account has it', async () => {
  const service = createFakeService();
  const credential = { id: 'one', rawId: 'one', response: {} };
  const unknown: unknown[] = [];
  const bridge = {
    create: async () => credential,
    get: async () => credential,
    signalUnknownCredential: async (facts: object) => unknown.push(facts),
  };
  const auth = createAuthClient({ ...service, storage: memoryStorage(), groups: [passkeys(bridge)] });
  await expect(auth.passkeys.logIn()).rejects.toMatchObject({ code: 'ERR-PASSKEY-INVALID' });
  await eventually('the device has heard', async () => unknown.length === 1);
  const email = newEmail();
  const { user_id } = await auth.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
  await auth.logIn({ email, password });
  await auth.passkeys.create({ current_password: password });
  await auth.logOut();
  service.loseNextAnswer();
  await expect(auth.passkeys.logIn()).rejects.toMatchObject({ code: 'CLIENT_NETWORK' });
  expect((await auth.passkeys.logIn()).user_id).toBe(user_id);
  auth.close();
});
