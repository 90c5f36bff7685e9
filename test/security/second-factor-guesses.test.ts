import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Answer, patiently } from '../support/http-client.ts';
import { beginLogin, codeAt, completeLogin, guardedAccount, wrongCodeFor } from '../support/second-factor.ts';
import { startTestApi, type TestApi, uniqueName } from '../support/test-api.ts';
import { flood, sessionsIn } from './flood.ts';

/** Two apis with one database and one Redis. */
let apis: readonly [TestApi, TestApi];
/** The clock of the apis, which stands still between the steps of a test. */
const begun = Date.now();
let shiftMs = 0;
const now = () => begun + shiftMs;
beforeAll(async () => {
  const name = uniqueName();
  const env = { MONGODB_DATABASE: name, KEY_PREFIX: name, TRUST_PROXY_HOPS: '1' };
  // Redis counts the tries, however slow it is.
  const overrides = { now, limitTimeoutMs: 60_000 };
  apis = [await startTestApi(env, overrides), await startTestApi(env, overrides)];
});
afterAll(async () => {
  await apis[1].close({ keepData: true });
  await apis[0].close();
});

let lastAddress = 0;
/** Returns a client of one of the apis, from an address that nobody else uses. */
function stranger(): Pick<TestApi, 'post'> {
  lastAddress += 1;
  const address = { 'X-Forwarded-For': `198.18.${lastAddress >> 8}.${lastAddress & 255}` };
  const on = apis[lastAddress % 2] ?? apis[0];
  return { post: (path, body, headers = {}) => on.post(path, body, { ...address, ...headers }) };
}

const nextCode = (secret: string) => {
  shiftMs += 30_000;
  return codeAt(secret, now());
};
const countOf = (answers: readonly Answer[], status: number) => answers.filter((each) => each.status === status).length;

test('parallel challenges from many networks get five verdicts, and the owner logs in from a known device', async () => {
  const owner = await guardedAccount(apis[0], now());
  const device = { device_id: randomUUID() };
  const entry = await completeLogin(apis[0], await beginLogin(apis[0], owner.email, device), {
    code: nextCode(owner.secret),
  });
  expect(entry.status).toBe(200);
  const thieves = Array.from({ length: 50 }, stranger);
  const challenges = await Promise.all(thieves.map((thief) => beginLogin(thief, owner.email)));
  const code = wrongCodeFor(owner.secret, now());
  const answers = await Promise.all(thieves.map((thief, i) => completeLogin(thief, challenges[i] ?? '', { code })));
  expect([countOf(answers, 403), countOf(answers, 429)]).toEqual([5, 45]);
  const right = await completeLogin(stranger(), challenges[0] ?? '', { code: nextCode(owner.secret) });
  expect(right.status).toBe(429);
  const home = stranger();
  const again = await completeLogin(home, await beginLogin(home, owner.email, device), {
    code: nextCode(owner.secret),
  });
  expect(again.status).toBe(200);
});

test('one code in many parallel requests with one challenge opens one session', async () => {
  const { email, secret, user_id } = await guardedAccount(apis[0], now());
  const challenge_id = await beginLogin(apis[0], email, { device_id: randomUUID() });
  const request = { code: nextCode(secret) };
  const answers = await flood(apis, (api) => completeLogin(api, challenge_id, request));
  expect(sessionsIn(answers).size).toBeLessThanOrEqual(1);
  expect(answers.filter(({ status }) => ![200, 429, 503].includes(status))).toEqual([]);
  expect(await apis[0].collections.sessions.countDocuments({ user_id, is_revoked: false })).toBe(2);
});

// answers: Logto CVE-2026-55370, https://github.com/logto-io/logto/security/advisories/GHSA-6wj7-c66m-6c82
// A TOTP code was accepted again within its window.
test.each(['totp', 'recovery_code'] as const)('one %s in parallel challenges opens one session', async (method) => {
  const { email, secret, recovery_codes, user_id } = await guardedAccount(apis[0], now());
  const clients = Array.from({ length: 20 }, stranger);
  const challenges = await Promise.all(clients.map((client) => beginLogin(client, email)));
  const code = method === 'totp' ? nextCode(secret) : (recovery_codes[0] ?? '');
  const answers = await Promise.all(
    clients.map((client, i) => patiently(() => completeLogin(client, challenges[i] ?? '', { method, code }))),
  );
  expect(countOf(answers, 200)).toBe(1);
  expect(await apis[0].collections.sessions.countDocuments({ user_id, is_revoked: false })).toBe(2);
});
