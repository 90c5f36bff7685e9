import { randomUUID } from 'node:crypto';
import { createLogger } from '@auth-account/telemetry';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Account, newSession, password, registerAccount, type TokenPair } from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import { openTokenFixture, type TokenApi, type TokenFixture } from '../support/api/token-api.ts';
import type { Answer } from '../support/http-client.ts';

const dayMs = 86_400_000;

let fixture: TokenFixture;
/** Two pods of one deployment. */
let [api, other]: TokenApi[] = [];
let account: Account;
/** A login with a key, as an app sends it. */
let login: { readonly body: Readonly<Record<string, unknown>>; readonly headers: Readonly<Record<string, string>> };
const audited: Readonly<Record<string, unknown>>[] = [];

beforeAll(async () => {
  fixture = await openTokenFixture();
  const destination = { write: (line: string) => void audited.push(JSON.parse(line)) };
  [api, other] = [
    await fixture.start({}, createLogger({ service: 'api', level: 'info', destination })),
    await fixture.start(),
  ];
});
beforeEach(async () => {
  account = await registerAccount(on());
  const device = { device_id: randomUUID(), device_name: 'Pixel 9', platform: 'android' };
  login = { body: { email: account.email, password, ...device }, headers: { 'Idempotency-Key': randomUUID() } };
});
afterAll(() => fixture.close());

function on(pod = api): TokenApi {
  if (pod === undefined) throw new Error('the api has not started');
  return pod;
}

const send = (change: { readonly body?: object; readonly headers?: object } = {}, pod = api): Promise<Answer> =>
  on(pod).logIn({ ...login.body, ...change.body }, { ...login.headers, ...change.headers });

const isReplay = ({ headers }: Answer) => headers['idempotency-replayed'] === 'true';
const liveSessions = () => fixture.collections.sessions.find({ user_id: account.user_id, is_revoked: false }).toArray();

/** Sends the login, and expects it to open a session. */
async function open(change?: Parameters<typeof send>[0]): Promise<TokenPair> {
  const answer = await send(change);
  expect([answer.status, isReplay(answer)]).toEqual([200, false]);
  return answer.json.data;
}

// guarantees: repeated-login
test('a login that a network repeats gets the pair of the session that it has opened', async () => {
  const first = await open();
  audited.splice(0);
  const [again, elsewhere] = [await send(), await send({}, other)];
  expect([again, elsewhere].map((answer) => [answer.status, isReplay(answer)])).toEqual(Array(2).fill([200, true]));
  const { session_id, device_id, refresh_token, push_stream_path } = first;
  const same = { session_id, device_id, refresh_token, push_stream_path };
  expect([again.json.data, elsewhere.json.data]).toMatchObject([same, same]);
  expect((await liveSessions()).map(({ _id }) => _id)).toEqual([session_id]);
  const events = audited.filter(({ event }) => event !== undefined);
  expect(events).toMatchObject([{ event: 'login.verified', user_id: account.user_id, session_id }]);
});

// guarantees: repeated-login
test('of simultaneous logins with one key one opens a session, at whichever pod', async () => {
  const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => send({}, i % 2 === 0 ? api : other)));
  expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
  expect(answers.filter((answer) => !isReplay(answer))).toHaveLength(1);
  expect(new Set(answers.map(({ json }) => json.data.refresh_token)).size).toBe(1);
  expect(await liveSessions()).toHaveLength(1);
});

// guarantees: repeated-login
test('a repeated login that comes after refreshes gets the newest pair, and both tokens are usable', async () => {
  const { refresh_token } = await open();
  const rotated = await on().refresh(refresh_token);
  const late = await send();
  expect(late.json.data.refresh_token).toBe(rotated.json.data.refresh_token);
  const next = await on().refresh(late.json.data.refresh_token);
  const twin = await on().refresh(rotated.json.data.refresh_token);
  expect([next.status, twin.status]).toEqual([200, 200]);
});

test('a repeated login without a device id gets the one that was made up for it', async () => {
  const nameless = { body: { device_id: undefined } };
  const first = await open(nameless);
  const again = await send(nameless);
  expect(again.json.data).toMatchObject({ session_id: first.session_id, device_id: first.device_id });
});

test('a login with another body under the key is refused, and ends nothing', async () => {
  const { session_id } = await open();
  for (const body of [{ device_id: randomUUID() }, { device_name: 'Tablet' }, { platform: 'ios' }]) {
    const answer = await send({ body });
    expect([answer.status, answer.json.error_code]).toEqual([422, 'ERR-IDEMPOTENCY-KEY-REUSED']);
  }
  expect((await liveSessions()).map(({ _id }) => _id)).toEqual([session_id]);
});

test('a repeated login with a wrong password is refused', async () => {
  await open();
  const answer = await send({ body: { password: 'wrong password' } });
  expect([answer.status, answer.json.error_code]).toEqual([401, 'ERR-INVALID-CREDENTIALS']);
});

test('a login without a key, or under another one, opens a session of its own and replaces', async () => {
  const first = await open();
  const { status, json } = await on().logIn(login.body);
  const second: TokenPair = json.data;
  const third = await open({ headers: { 'Idempotency-Key': randomUUID() } });
  expect(status).toBe(200);
  expect(new Set([first, second, third].map(({ session_id }) => session_id)).size).toBe(3);
  expect((await liveSessions()).map(({ _id }) => _id)).toEqual([third.session_id]);
});

test('the key of one account does not count for another one', async () => {
  const { session_id } = await open();
  const otherUser = await registerAccount(on());
  const answer = await send({ body: { email: otherUser.email } });
  expect([answer.status, isReplay(answer)]).toEqual([200, false]);
  expect(answer.json.data.session_id).not.toBe(session_id);
});

test('a login repeated after its session has ended opens another session', async () => {
  const first = await open();
  const headers = bearer(first);
  await on().logOut({ refresh_token: first.refresh_token }, headers);
  const second = await open();
  expect(second.session_id).not.toBe(first.session_id);
  expect((await send()).json.data.session_id).toBe(second.session_id);
});

test('after 24 hours a key counts as a new one', async () => {
  const { session_id } = await open();
  fixture.clock.pass(dayMs - 1);
  expect((await send()).json.data.session_id).toBe(session_id);
  fixture.clock.pass(1);
  expect((await open()).session_id).not.toBe(session_id);
});

test('a repeated login does not get a session whose time is over', async () => {
  const { session_id } = await open();
  const { expires_at } = (await liveSessions())[0] ?? {};
  await fixture.collections.sessions.updateOne(
    { _id: session_id },
    { $set: { expires_at: new Date(fixture.clock.now()) } },
  );
  expect(expires_at?.getTime()).toBeGreaterThan(fixture.clock.now());
  expect((await open()).session_id).not.toBe(session_id);
});

test('neither the key nor the password can be read from the session', async () => {
  await open();
  const [session] = await liveSessions();
  expect(session?.opened_by).toEqual([{ _id: expect.any(String), fingerprint: expect.any(String) }]);
  expect(JSON.stringify(session)).not.toContain(login.headers['Idempotency-Key']);
  const plain = await newSession(on());
  const unmarked = await fixture.collections.sessions.findOne({ _id: plain.session_id });
  expect(unmarked).not.toHaveProperty('opened_by');
});
