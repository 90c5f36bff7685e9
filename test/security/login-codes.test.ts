import { randomUUID } from 'node:crypto';
import { createLogger } from '@auth-account/telemetry';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Account, logIn, newSession, password, registerAccount } from '../support/accounts.ts';
import { codeOf, logInByCode, requestLoginCode, wrongCodeOf } from '../support/codes.ts';
import { cheapHashes } from '../support/groups.ts';
import type { Answer } from '../support/http-client.ts';
import { completeLogin, guardedAccount } from '../support/second-factor.ts';
import { startTestApi, type TestApi } from '../support/test-api.ts';

const path = '/api/v1/auth/login-code/confirm';

/** Two pods of one deployment. */
let api: TestApi;
let other: TestApi;
const audited: Readonly<Record<string, unknown>>[] = [];

beforeAll(async () => {
  const destination = { write: (line: string) => void audited.push(JSON.parse(line)) };
  const settings = { ...cheapHashes, CODE_LIMIT_PER_ACCOUNT: '100', TRUST_PROXY_HOPS: '1' };
  api = await startTestApi(settings, {}, createLogger({ service: 'api', level: 'info', destination }));
  other = await startTestApi({ ...settings, MONGODB_DATABASE: api.database, KEY_PREFIX: api.keyPrefix });
});
afterAll(async () => {
  await other.close({ keepData: true });
  await api.close();
});

const verify = ({ user_id }: Pick<Account, 'user_id'>) =>
  api.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date(0) } });
const opened = ({ user_id }: Pick<Account, 'user_id'>) => api.collections.sessions.countDocuments({ user_id });

/** Sends 1,000 requests to the two pods, 100 at once. */
async function flood(send: (pod: TestApi, index: number) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let round = 0; round < 10; round += 1) {
    const burst = Array.from({ length: 100 }, (_, at) => send(at % 2 ? api : other, 100 * round + at));
    answers.push(...(await Promise.all(burst)));
  }
  return answers;
}

describe('one code opens one session', () => {
  test.each([
    ['a verified address', verify],
    ['an address that it verifies', async () => undefined],
  ] as const)('of %s, however many requests send it at once to two pods', async (_, prepare) => {
    const account = await registerAccount(api);
    await prepare(account);
    const challenge_id = await requestLoginCode(api, account.email);
    const body = { challenge_id, code: await codeOf(api, challenge_id), device_id: randomUUID() };
    const answers = await flood((pod) => pod.post(path, body));
    const ids = answers.flatMap(({ status, json }) => (status === 200 ? [json.data.session_id] : []));
    expect([new Set(ids).size, await opened(account)]).toEqual([1, 1]);
    const refused = answers.filter(({ status }) => status !== 200).map(({ json }) => json.error_code);
    expect(['ERR-CODE-EXPIRED', 'ERR-DEPENDENCY-UNAVAILABLE']).toEqual(expect.arrayContaining([...new Set(refused)]));
  });

  test('for many devices too', async () => {
    const account = await registerAccount(api);
    await verify(account);
    const challenge_id = await requestLoginCode(api, account.email);
    const code = await codeOf(api, challenge_id);
    const answers = await flood((pod) => pod.post(path, { challenge_id, code, device_id: randomUUID() }));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await opened(account)).toBe(1);
  });

  test('with many second factors too', async () => {
    const account = await guardedAccount(api);
    await verify(account);
    const before = await opened(account);
    const challenge_id = await requestLoginCode(api, account.email);
    const halves = await Promise.all(account.recovery_codes.map(() => logInByCode(api, challenge_id)));
    const answers = await Promise.all(
      halves.map(({ json }, at) =>
        completeLogin(at % 2 ? api : other, json.details.challenge_id, {
          method: 'recovery_code',
          code: account.recovery_codes[at],
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await opened(account)) - before).toBe(1);
    const user = await api.collections.users.findOne({ _id: account.user_id });
    expect(user?.recovery_codes).toHaveLength(account.recovery_codes.length - 1);
  });
});

test('a code that comes at the same time as another change opens no session that outlives the change', async () => {
  for (let round = 0; round < 10; round += 1) {
    const squatter = await newSession(api);
    const challenge_id = await requestLoginCode(api, squatter.email);
    const [answer] = await Promise.all([
      logInByCode(api, challenge_id),
      api.post('/api/v1/auth/login', { email: squatter.email, password }),
      other.post('/api/v1/auth/login', { email: squatter.email, password }),
      other.post('/api/v1/auth/refresh', { refresh_token: squatter.refresh_token }),
    ]);
    expect(answer.status).toBe(200);
    const filter = { user_id: squatter.user_id, is_revoked: false };
    const live = await api.collections.sessions.find(filter).toArray();
    expect(live.map(({ _id }) => _id)).toEqual([answer.json.data.session_id]);
  }
});

test('a code is no guess at the password, and its place is known only without a second factor', async () => {
  const place = { 'X-Forwarded-For': '203.0.113.7' };
  const account = await guardedAccount(api);
  await verify(account);
  const half = await logInByCode(api, await requestLoginCode(api, account.email), {}, place);
  expect(half.json.error_code).toBe('ERR-SECOND-FACTOR-REQUIRED');
  // Five wrong factors from this place use up the tries of strangers, because it is not known.
  const wrong = { method: 'recovery_code', code: 'wrong' };
  for (let sent = 0; sent < 5; sent += 1) await completeLogin(api, half.json.details.challenge_id, wrong);
  const elsewhere = await logInByCode(api, await requestLoginCode(api, account.email));
  expect((await completeLogin(api, elsewhere.json.details.challenge_id, wrong)).status).toBe(429);
});

test('the audit log has each step, and no code', async () => {
  const account = await registerAccount(api);
  const challenge_id = await requestLoginCode(api, account.email);
  const [wrong, code] = [await wrongCodeOf(api, challenge_id), await codeOf(api, challenge_id)];
  await logInByCode(api, challenge_id, { code: wrong });
  const { json } = await logInByCode(api, challenge_id, { code, device_id: randomUUID() });
  const { session_id } = json.data;
  const { user_id } = account;
  const lines = audited.filter((line) => line.event && line.user_id === user_id);
  expect(lines.slice(1)).toMatchObject([
    { event: 'code.requested', purpose: 'login' },
    { event: 'code.failed', purpose: 'login', reason: 'wrong' },
    { event: 'login.succeeded', session_id, method: 'email_code' },
    { event: 'code.confirmed', purpose: 'login' },
    { event: 'account.address_proved', invites_revoked: 0 },
  ]);
  expect(JSON.stringify(audited)).not.toContain(code);
  await expect(logIn(api, account.email)).rejects.toThrow('401');
});
