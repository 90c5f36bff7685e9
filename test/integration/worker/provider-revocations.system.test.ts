import { startProvider } from '@auth-account/local-stack/provider';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Binary } from 'mongodb';
import { dumpMongo, findSecrets } from '../../security/secret-search.ts';
import { newSession, password } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { confirmReset, requestReset } from '../../support/api/codes.ts';
import { exchangingEntry, newPerson, requestProviderLogin, unlinkIdentity } from '../../support/api/providers.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { startWorkerProcess } from '../../support/processes/service-process.ts';
import { recordLog } from '../../support/recorded-log.ts';
import { orderDeletion } from '../../support/worker/erasure-fixture.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { startTestWorker, type TestWorker } from '../../support/worker/worker-service.ts';

let issuer: Awaited<ReturnType<typeof startProvider>>;
let api: TestApi;
let env: Record<string, string>;
let worker: TestWorker;
const log = recordLog('worker', 'debug');

beforeAll(async () => {
  issuer = await startProvider();
  const IDENTITY_PROVIDERS = JSON.stringify([exchangingEntry(issuer)]);
  api = await startTestApi({ IDENTITY_PROVIDERS, ACCOUNT_DELETION_GRACE_DAYS: '0' });
  env = { ...api.env, EVENT_SUBSCRIBERS: '[]', IDENTITY_PROVIDERS };
  worker = await startTestWorker(env, log.logger);
});
beforeEach(() => issuer.behave({}, 'revoke'));
afterAll(async () => {
  await worker.close();
  await api.close();
  await issuer.close();
});

/** Creates an account with an identity whose token is kept. */
async function linked() {
  const session = await newSession(api);
  const { sub } = newPerson();
  const { challenge_id, nonce } = await requestProviderLogin(api);
  const id_token = await issuer.sign({ sub, aud: 'app', nonce });
  const authorization_code = issuer.issueCode({ sub, aud: 'app' });
  const body = { challenge_id, id_token, authorization_code, current_password: password };
  const { json } = await api.linkIdentity({ identity: 'office', ...body }, bearer(session));
  return { session, identity_id: String(json.data.identity_id), token: issuer.issued().at(-1) ?? '' };
}

const rowOf = (_id: string) => api.collections.providerRevocations.findOne({ _id });
const makeDue = (_id: string, fields: object = {}) =>
  api.collections.providerRevocations.updateOne({ _id }, { $set: { due_at: new Date(0), ...fields } });
const untilRevoked = (token: string, identityId: string) =>
  eventually(
    'the token is revoked',
    async () => issuer.revoked().includes(token) && (await rowOf(identityId)) === null,
  );
/** Waits until an attempt has failed. During an attempt the token is leased for a minute. */
const untilTried = (identityId: string, attempts = 1) =>
  eventually('the token is deferred', async () => {
    const row = await rowOf(identityId);
    const pauseMs = (row?.due_at.getTime() ?? 0) - Date.now();
    return row !== null && row.attempts >= attempts && (pauseMs < 30_000 || pauseMs > 60_000);
  });
const auditOf = (identity_id: string) =>
  log.lines.filter((line) => line.audit === true && line.identity_id === identity_id).map(({ event }) => event);
/** The record follows the row's end. */
const untilAudited = (identityId: string) => eventually('it is audited', async () => auditOf(identityId).length > 0);

// guarantees: provider-codes
test('a provider that is down delays no erasure, and its token is revoked later', async () => {
  const { session, identity_id, token } = await linked();
  const dump = async () => findSecrets(new Map([['token', token]]), await dumpMongo(api.mongo.db(api.database)));
  expect([token.startsWith('r.'), await dump()]).toEqual([true, []]);
  issuer.behave({ status: 503 }, 'revoke');
  await orderDeletion(api, session);
  await eventually(
    'the account is erased',
    async () => (await api.collections.users.findOne({ _id: session.user_id })) === null,
  );
  await untilTried(identity_id);
  expect(await rowOf(identity_id)).toMatchObject({ provider: 'office', client_id: 'app', user_id: session.user_id });
  expect(await dump()).toEqual([]);
  expect((await worker.readiness()).mongodb).toMatchObject({ ok: true });
  issuer.behave({}, 'revoke');
  await makeDue(identity_id);
  await untilRevoked(token, identity_id);
  await untilAudited(identity_id);
  expect(auditOf(identity_id)).toEqual(['provider_token.revoked']);
  expect(await worker.metric('auth_provider_revocations_total', { outcome: 'failed' })).toBeGreaterThan(0);
});

test.each([
  ['its owner removes', (at: Awaited<ReturnType<typeof linked>>) => unlinkIdentity(api, at.session, at.identity_id)],
  [
    'a recovery takes from a squatter',
    async ({ session }: Awaited<ReturnType<typeof linked>>) =>
      confirmReset(api, await requestReset(api, session.email)),
  ],
])('the token of an identity that %s is revoked', async (_, remove) => {
  const at = await linked();
  expect((await remove(at)).status).toBe(200);
  await untilRevoked(at.token, at.identity_id);
});

test('a token that the provider calls invalid is done with, and any other refusal is retried', async () => {
  const [first, second] = [await linked(), await linked()];
  issuer.behave({ status: 400, body: '{"error":"invalid_client"}' }, 'revoke');
  await unlinkIdentity(api, first.session, first.identity_id);
  await untilTried(first.identity_id);
  expect(await rowOf(first.identity_id)).not.toBeNull();
  const refused = { provider: 'office', outcome: 'wrong_client' };
  expect(await worker.metric('auth_provider_revocations_total', refused)).toBeGreaterThan(0);
  expect(log.lines).toContainEqual(
    expect.objectContaining({ identity_id: first.identity_id, reason: 'wrong_client', provider: 'office' }),
  );
  issuer.behave({ status: 400, body: '{"error":"invalid_grant"}' }, 'revoke');
  await unlinkIdentity(api, second.session, second.identity_id);
  await makeDue(first.identity_id);
  await eventually('both are gone', async () =>
    [await rowOf(first.identity_id), await rowOf(second.identity_id)].every((row) => row === null),
  );
});

test('tokens of a provider that is gone delay those of no other', async () => {
  const at = new Date();
  const fields = { provider: 'gone', kid: 'k', token: new Binary(), client_id: 'app', created_at: at, attempts: 0 };
  // Each round of the worker tries one of them, so they last for longer than any test.
  const rows = Array.from({ length: 1_000 }, (_, n) => ({
    _id: `gone-${n}`,
    user_id: 'u',
    due_at: new Date(n),
    ...fields,
  }));
  const { session, identity_id, token } = await linked();
  await api.collections.providerRevocations.insertMany(rows);
  await unlinkIdentity(api, session, identity_id);
  await untilRevoked(token, identity_id);
  const gone = { provider: 'gone' };
  const tried = await api.collections.providerRevocations.countDocuments({ ...gone, attempts: { $gt: 0 } });
  expect(tried).toBeLessThan(rows.length);
  await api.collections.providerRevocations.deleteMany(gone);
});

test('the pauses between revocations of a token grow, and after 30 days it is given up', async () => {
  const { session, identity_id } = await linked();
  issuer.behave({ status: 500 }, 'revoke');
  await unlinkIdentity(api, session, identity_id);
  await untilTried(identity_id);
  await makeDue(identity_id, { attempts: 20 });
  await untilTried(identity_id, 21);
  await eventually('the next attempt is set', async () => {
    const pauseMs = ((await rowOf(identity_id))?.due_at.getTime() ?? 0) - Date.now();
    return pauseMs > 2.9 * 3_600_000 && pauseMs <= 6 * 3_600_000;
  });
  await makeDue(identity_id, { created_at: new Date(Date.now() - 31 * 86_400_000) });
  await eventually('it is given up', async () => (await rowOf(identity_id)) === null);
  await untilAudited(identity_id);
  expect(auditOf(identity_id)).toEqual(['provider_token.given_up']);
});

// guarantees: provider-codes
test('a worker that was killed leaves the token to another one', async () => {
  await worker.close();
  issuer.behave({ delayMs: 2_500 }, 'revoke');
  let left: Awaited<ReturnType<typeof linked>> | undefined;
  // If the machine stalls, the provider may answer before the kill. Then the worker is killed with another token.
  await eventually('a worker is killed before the provider answers', async () => {
    const at = await linked();
    await unlinkIdentity(api, at.session, at.identity_id);
    const asked = issuer.asked('revoke');
    const killed = await startWorkerProcess(env);
    try {
      await eventually('it has asked the provider', () => issuer.asked('revoke') > asked);
    } finally {
      await killed.end('SIGKILL');
    }
    if ((await rowOf(at.identity_id)) !== null) left = at;
    return left !== undefined;
  });
  const { identity_id = '', token = '' } = left ?? {};
  expect(await rowOf(identity_id)).toMatchObject({ provider: 'office' });
  issuer.behave({}, 'revoke');
  await makeDue(identity_id);
  worker = await startTestWorker(env, log.logger);
  await untilRevoked(token, identity_id);
});

test('no log names a token', () => {
  const text = JSON.stringify(log.lines);
  expect(issuer.issued().filter((token) => text.includes(token))).toEqual([]);
  expect(text).not.toMatch(/client_secret|BEGIN/);
});
