import { randomUUID } from 'node:crypto';
import { startProvider } from '@auth-account/local-stack/provider';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { newEmail, password, registerAccount } from '../../support/api/accounts.ts';
import { newHome, newPerson, requestProviderLogin } from '../../support/api/providers.ts';
import { beginLogin, completeLogin, guardedAccount, wrongCodeFor } from '../../support/api/second-factor.ts';
import { challengeStepUp, confirmStepUp } from '../../support/api/step-up.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { withFailPoint } from '../../support/stores/fail-point.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';

const appName = uniqueName();
const operationFailed = 96;

let api: TestApi;
let issuer: Awaited<ReturnType<typeof startProvider>>;
beforeAll(async () => {
  issuer = await startProvider();
  const uri = new URL(testEnvironment().mongodbUri);
  uri.searchParams.set('appName', appName);
  const office = { name: 'office', issuers: [issuer.issuer], jwks_uri: issuer.jwksUri, client_ids: ['app'] };
  const IDENTITY_PROVIDERS = JSON.stringify([office, { ...office, name: 'away', jwks_uri: 'http://127.0.0.1:1/keys' }]);
  api = await startTestApi({ MONGODB_URI: uri.href, IDENTITY_PROVIDERS });
});
afterAll(async () => {
  await api.close();
  await issuer.close();
});

const household = (email = newEmail(), headers = {}) =>
  api.registerAccount({ email, password, space_creation_mode: 'CREATE_NEW_HOME' }, headers);

/** Returns by how much the work raised a metric, for each value of one label. */
async function gains(name: string, label: string, values: readonly string[], work: () => Promise<unknown>) {
  const read = () => Promise.all(values.map((value) => api.metric(name, { [label]: value })));
  const before = await read();
  await work();
  const after = await read();
  return Object.fromEntries(values.map((value, index) => [value, (after[index] ?? 0) - (before[index] ?? 0)]));
}

/** Makes MongoDB refuse the outbox row of each registration. */
function failing<T>(work: () => Promise<T>): Promise<T> {
  const namespace = `${api.database}.outbox`;
  const data = { failCommands: ['insert'], errorCode: operationFailed, namespace, appName };
  return withFailPoint(api.mongo, 'alwaysOn', data, work);
}

async function register(): Promise<void> {
  const [email, key] = [newEmail(), { 'Idempotency-Key': randomUUID() }];
  await household(email, key);
  await household(email, key);
  await household(email);
  await failing(() => household());
}

test('registrations are counted by their outcome', async () => {
  const outcomes = ['created', 'replayed', 'refused', 'failed'];
  const counted = await gains('auth_registrations_total', 'outcome', outcomes, register);
  expect(counted).toEqual({ created: 1, replayed: 1, refused: 1, failed: 1 });
});

test('transactions are counted by their ends: a taken email address is no failure of the store', async () => {
  const [email, outcomes] = [newEmail(), ['committed', 'refused', 'failed']];
  const work = async () => {
    await Promise.all([household(email), household(email)]);
    await failing(() => household());
  };
  const { committed, refused, failed } = await gains('auth_transactions_total', 'outcome', outcomes, work);
  expect({ committed, failed }).toEqual({ committed: 1, failed: 1 });
  // The slower request may find the email address taken before it begins a transaction.
  expect(refused).toBeLessThanOrEqual(1);
});

test('second factors, step-ups, login methods and wrong proofs of devices are counted', async () => {
  const account = await guardedAccount(api);
  const [first, second] = account.recovery_codes;
  const counted = [
    ['auth_login_failures_total', { reason: 'second_factor_required' }],
    ['auth_second_factors_total', { method: 'totp', outcome: 'failed' }],
    ['auth_second_factors_total', { method: 'recovery_code', outcome: 'succeeded' }],
    ['auth_sessions_opened_total', { method: 'password' }],
    ['auth_step_ups_total', { method: 'recovery_code' }],
    ['auth_device_proof_faults_total', { fault: 'form' }],
  ] as const;
  const read = () => Promise.all(counted.map(([name, labels]) => api.metric(name, labels)));
  const before = await read();
  const login = await beginLogin(api, account.email);
  await completeLogin(api, login, { code: wrongCodeFor(account.secret) });
  await completeLogin(api, login, { method: 'recovery_code', code: first });
  const stepUp = await challengeStepUp(api, account, 'export');
  await confirmStepUp(api, account, stepUp, { method: 'recovery_code', code: second });
  await api.logIn({ email: account.email, password }, { DPoP: 'no proof' });
  expect((await read()).map((value, index) => value - (before[index] ?? 0))).toEqual([1, 1, 2, 1, 1, 1]);
});

test('the keys, the tokens and the outcomes of each provider are counted', async () => {
  // No stall of the machine ends a request for keys.
  const timeOut = jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal);
  const person = newPerson();
  const use = async (provider: string, claims: object, fields = {}) => {
    const { challenge_id, nonce } = await requestProviderLogin(api);
    const id_token = await issuer.sign({ aud: 'app', nonce, ...claims });
    const { status } = await api.logInByProvider({ provider, challenge_id, id_token, ...fields });
    return status;
  };
  const statuses = [
    await use('away', person),
    await use('office', person),
    await use('office', person, newHome),
    await use('office', person),
    await use('office', { ...person, sub: 'another' }, newHome),
    await use('office', { ...person, iss: 'https://new.example' }),
  ];
  timeOut.mockRestore();
  expect(statuses).toEqual([503, 403, 201, 200, 409, 401]);
  const counts = [
    ['away', 'key_fetches_total', { outcome: 'failed' }, 1],
    ['office', 'key_fetches_total', { outcome: 'fetched' }, 1],
    ['office', 'keys_overdue_seconds', {}, 0],
    ['office', 'tokens_total', { result: 'accepted' }, 4],
    ['office', 'tokens_total', { result: 'issuer' }, 1],
    ['office', 'logins_total', { outcome: 'registration_required' }, 1],
    ['office', 'logins_total', { outcome: 'registered' }, 1],
    ['office', 'logins_total', { outcome: 'logged_in' }, 1],
    ['office', 'logins_total', { outcome: 'address_taken' }, 1],
  ] as const;
  for (const [provider, name, labels, count] of counts) {
    expect([name, await api.metric(`auth_provider_${name}`, { provider, ...labels })]).toEqual([name, count]);
  }
  expect(await api.metric('auth_provider_keys_overdue_seconds', { provider: 'away' })).toBeGreaterThan(0);
});

test('each hash is measured, and so is its wait', async () => {
  const counts = () =>
    Promise.all(['duration', 'wait'].map((what) => api.metric(`auth_password_hash_${what}_seconds`, { le: '+Inf' })));
  const before = await counts();
  await registerAccount(api);
  expect(await counts()).toEqual(before.map((count) => count + 1));
  expect(await api.metric('auth_password_hash_slots')).toBeGreaterThan(0);
  expect(await api.metric('auth_password_hashes_running')).toBe(0);
});
