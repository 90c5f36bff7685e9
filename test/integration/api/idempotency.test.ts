import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newEmail, newSession, password, registerAccount } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';

let api: TestApi;
/** Another pod of the same deployment. */
let other: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  other = await api.beside();
});
afterAll(() => api.close());

const household = (email = newEmail()) => ({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
const register = (body: object, key: string, on = api) => on.registerAccount(body, { 'Idempotency-Key': key });

// guarantees: idempotency-key
test('a retry with the same key and body gets the first answer again, on any pod, and nothing is stored twice', async () => {
  const [body, key] = [household(), randomUUID()];
  const first = await register(body, key);
  const [again, elsewhere] = [await register(body, key), await register(body, key, other)];
  expect([first.status, again.status, elsewhere.status]).toEqual([201, 201, 201]);
  expect(again.json).toEqual(first.json);
  expect(elsewhere.json).toEqual(first.json);
  expect(first.headers['idempotency-replayed']).toBeUndefined();
  expect(again.headers['idempotency-replayed']).toBe('true');
  const { user_id } = first.json.data;
  expect(await api.collections.users.countDocuments({ email: body.email })).toBe(1);
  expect(await api.collections.outbox.countDocuments({ 'event.subject': user_id })).toBe(1);
});

test('the order of a body’s members does not make it another body', async () => {
  const [body, key] = [household(), randomUUID()];
  await register(body, key);
  const reordered = Object.fromEntries(Object.entries(body).reverse());
  expect((await register(reordered, key)).headers['idempotency-replayed']).toBe('true');
});

test.each([
  ['is new', [1]],
  // At 3,000 levels `JSON.stringify` with a replacer overflows its stack, but the reader of the body does not.
  ['is nested deep', Array.from({ length: 3_000 }).reduce<unknown[]>((inner) => [inner], [])],
])('an unknown member that %s does not make another body', async (_, odd) => {
  const [body, key] = [household(), randomUUID()];
  const first = await register(body, key);
  const again = await register({ ...body, odd }, key);
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(again.headers['idempotency-replayed']).toBe('true');
});

test.each([
  ['another password', { password: 'another password' }],
  ['another mode', { space_creation_mode: 'CREATE_NEW_OFFICE' }],
])('the same key with %s answers 422 ERR-IDEMPOTENCY-KEY-REUSED', async (_, change) => {
  const [body, key] = [household(), randomUUID()];
  await register(body, key);
  const answer = await register({ ...body, ...change }, key);
  expect(answer.status).toBe(422);
  expect(answer.json.error_code).toBe('ERR-IDEMPOTENCY-KEY-REUSED');
});

// guarantees: own-idempotency-key
test('the Idempotency-Key of one caller is another key for another caller', async () => {
  const key = randomUUID();
  const [mine, theirs] = [await register(household(), key), await register(household(), key)];
  expect([mine.status, theirs.status]).toEqual([201, 201]);
  expect(theirs.json.data.user_id).not.toBe(mine.json.data.user_id);
});

// guarantees: no-key-may-get-409
test('without a key a retry gets the answer that its email address is taken', async () => {
  const { email } = await registerAccount(api);
  expect((await api.registerAccount(household(email))).status).toBe(409);
});

test('a registration that was refused is tried anew with its key: only a success is kept', async () => {
  const [email, key] = [newEmail(), randomUUID()];
  const joining = { email, password, space_creation_mode: 'JOIN_EXISTING', invite_token: 'none' };
  expect((await register(joining, key)).status).toBe(404);
  expect((await register(household(email), key)).status).toBe(201);
});

// guarantees: idempotency-key
test('twenty simultaneous registrations with one key over two pods get one answer, one account and one event', async () => {
  const [body, key] = [household(), randomUUID()];
  const send = (on: TestApi) => register(body, key, on);
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => send(i % 2 ? other : api)));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
  expect(await api.collections.users.countDocuments({ email: body.email })).toBe(1);
  expect(await api.collections.outbox.countDocuments({ 'event.subject': answers[0]?.json.data.user_id })).toBe(1);
});

describe('an Idempotency-Key while the server keys rotate', () => {
  let dir: string;
  let [before, after]: TestApi[] = [];
  /** Two pods that have both keys. One pod has not yet seen that the new key is first. */
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'auth-account-idempotency-'));
    const keys = ['old', 'new'].map((kid) => ({ kty: 'oct', kid, k: randomBytes(32).toString('base64url') }));
    const start = async (name: string, ordered: typeof keys) => {
      const SERVER_KEYS_FILE = join(dir, name);
      await writeFile(SERVER_KEYS_FILE, JSON.stringify({ keys: ordered }));
      return api.beside({ SERVER_KEYS_FILE });
    };
    [before, after] = [await start('before.json', keys), await start('after.json', keys.toReversed())];
  });
  afterAll(async () => {
    for (const pod of [before, after]) await pod?.close();
    await rm(dir, { recursive: true });
  });

  // guarantees: idempotency-key
  test('twin requests at two pods that differ in the newest key get one answer, and one invite is created', async () => {
    const { access_token } = await newSession(api);
    for (let max_uses = 1; max_uses <= 5; max_uses += 1) {
      const headers = { ...bearer(access_token), 'Idempotency-Key': randomUUID() };
      const pods = [before, after, before, after].filter((pod) => pod !== undefined);
      const send = (pod: TestApi) => pod.createInvite({ max_uses }, headers);
      const answers = await Promise.all(pods.map(send));
      expect(answers.map(({ status }) => status)).toEqual(Array(4).fill(201));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(await api.collections.invites.countDocuments({ max_uses })).toBe(1);
    }
  });
});

describe('the stored record of a key', () => {
  test('the stored record of a key holds neither key nor password nor email address, and expires after 24 hours', async () => {
    const [body, key] = [household(), `key-${randomUUID()}`];
    const before = Date.now();
    await register(body, key);
    const records = await api.collections.idempotency.find({}).toArray();
    const text = JSON.stringify(records);
    for (const secret of [key, password, body.email]) expect(text).not.toContain(secret);
    const newest = records.at(-1)?.expires_at.getTime() ?? 0;
    expect(newest - before).toBeGreaterThan(24 * 3_600_000 - 1_000);
    const indexes = await api.collections.idempotency.indexes();
    expect(indexes).toContainEqual(expect.objectContaining({ key: { expires_at: 1 }, expireAfterSeconds: 0 }));
  });
});

test.each([
  ['of 129 characters', 'x'.repeat(129)],
  ['with white space', 'a b'],
  ['that is empty', ''],
])('an Idempotency-Key %s answers 422', async (_, key) => {
  const answer = await register(household(), key);
  expect(answer.status).toBe(422);
  expect(answer.json.details[0]).toMatchObject({ loc: ['header', 'Idempotency-Key'], type: 'string_pattern_mismatch' });
});
