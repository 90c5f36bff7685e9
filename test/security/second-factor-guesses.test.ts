import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newDevice, password } from '../support/api/accounts.ts';
import { type ApiDriver, bearer, withHeaders } from '../support/api/api-driver.ts';
import { beginLogin, codeAt, completeLogin, guardedAccount, wrongCodeFor } from '../support/api/second-factor.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';
import { flood, sessionsIn } from './flood.ts';

/** Two apis with one database and one Redis. */
let apis: readonly [TestApi, TestApi];
/** The clock of the apis, which stands still between the steps of a test. */
const begun = Date.now();
let shiftMs = 0;
const now = () => begun + shiftMs;
beforeAll(async () => {
  const api = await startTestApi({ TRUST_PROXY_HOPS: '1' }, { now });
  apis = [api, await api.beside({}, { now })];
});
afterAll(async () => {
  await apis[0].close();
});

let lastAddress = 0;
/** Returns a client of one of the apis, from a network that nobody else uses. */
function unknownDevice(device: object = {}): ApiDriver {
  lastAddress += 1;
  const address = { 'X-Forwarded-For': `198.18.${lastAddress >> 8}.${lastAddress & 255}` };
  return withHeaders(apis[lastAddress % 2] ?? apis[0], { ...address, ...device });
}

const nextCode = (secret: string) => {
  shiftMs += 30_000;
  return codeAt(secret, now());
};
const countOf = (answers: readonly Answer[], status: number) => answers.filter((each) => each.status === status).length;

// guarantees: five-wrong-factors
test('parallel challenges from many networks get five verdicts, and the owner logs in from a known device', async () => {
  const owner = await guardedAccount(apis[0], now());
  const device = newDevice();
  const from = unknownDevice(device);
  const entry = await completeLogin(from, await beginLogin(from, owner.email), {
    code: nextCode(owner.secret),
  });
  expect(entry.status).toBe(200);
  const thieves = Array.from({ length: 50 }, unknownDevice);
  const challenges = await Promise.all(thieves.map((thief) => beginLogin(thief, owner.email)));
  const code = wrongCodeFor(owner.secret, now());
  const answers = await Promise.all(thieves.map((thief, i) => completeLogin(thief, challenges[i] ?? '', { code })));
  expect([countOf(answers, 403), countOf(answers, 429)]).toEqual([5, 45]);
  const right = await completeLogin(unknownDevice(), challenges[0] ?? '', { code: nextCode(owner.secret) });
  expect(right.status).toBe(429);
  const away = unknownDevice(device);
  const again = await completeLogin(away, await beginLogin(away, owner.email), {
    code: nextCode(owner.secret),
  });
  expect(again.status).toBe(200);
});

// guarantees: one-session-per-proof
test('one code in many parallel requests with one challenge opens one session', async () => {
  const { email, secret, user_id } = await guardedAccount(apis[0], now());
  const challenge_id = await beginLogin(apis[0], email, { device_id: randomUUID() });
  const request = { code: nextCode(secret) };
  const answers = await flood(apis, (api) => completeLogin(api, challenge_id, request));
  expect(sessionsIn(answers).size).toBeLessThanOrEqual(1);
  expect(answers.filter(({ status }) => ![200, 429, 503].includes(status))).toEqual([]);
  expect(await apis[0].collections.sessions.countDocuments({ user_id, is_revoked: false })).toBe(2);
});

// guarantees: one-session-per-proof
// answers: Logto CVE-2026-55370, https://github.com/logto-io/logto/security/advisories/GHSA-6wj7-c66m-6c82
// A TOTP code was accepted again within its window.
test.each(['totp', 'recovery_code'] as const)('one %s in parallel challenges opens one session', async (method) => {
  const { email, secret, recovery_codes, user_id } = await guardedAccount(apis[0], now());
  const clients = Array.from({ length: 20 }, unknownDevice);
  const challenges = await Promise.all(clients.map((client) => beginLogin(client, email)));
  const code = method === 'totp' ? nextCode(secret) : (recovery_codes[0] ?? '');
  const answers = await Promise.all(
    clients.map((client, i) => completeLogin(client, challenges[i] ?? '', { method, code })),
  );
  expect(countOf(answers, 200)).toBe(1);
  expect(await apis[0].collections.sessions.countDocuments({ user_id, is_revoked: false })).toBe(2);
});

// guarantees: hundred-wrong-factors
test('a thief with the password and a trusted device’s token gets at most 100 verdicts, by whatever path', async () => {
  const owner = await guardedAccount(apis[0], now());
  const home = newDevice();
  const enter = async (on: ApiDriver, fields: object = {}) =>
    completeLogin(on, await beginLogin(on, owner.email), { code: nextCode(owner.secret), ...fields });
  const trusted = await enter(unknownDevice(home), { trust_device: true });
  const { device_id, trusted_device_token } = trusted.json.data;
  let verdicts = 0;
  const count = (answers: readonly Answer[]) => {
    const wrong = answers.filter(({ json }) => json.error_code === 'ERR-SECOND-FACTOR-INVALID').length;
    verdicts += wrong;
    return wrong;
  };
  /** Tries wrong codes and wrong recovery codes by logins of new devices, and in a session that is made for them. */
  async function attack(): Promise<number> {
    const thief = unknownDevice();
    const login = { email: owner.email, password, device_id, trusted_device_token };
    const { json } = await thief.logIn(login);
    const caller = bearer(json.data);
    const asked = await thief.createStepUpChallenge({ purpose: 'totp' }, caller);
    const inSession = {
      challenge_id: asked.json.data?.challenge_id,
      method: 'totp',
      code: wrongCodeFor(owner.secret, now()),
    };
    const challenges = await Promise.all(
      [device_id, randomUUID(), randomUUID()].map((id) => beginLogin(unknownDevice(), owner.email, { device_id: id })),
    );
    const factors = [
      { code: wrongCodeFor(owner.secret, now()) },
      { method: 'recovery_code', code: 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA' },
    ];
    return count(
      await Promise.all([
        ...Array.from({ length: 8 }, () => unknownDevice().confirmStepUp(inSession, caller)),
        ...challenges.flatMap((id) => factors.map((given) => completeLogin(unknownDevice(), id, given))),
      ]),
    );
  }
  for (let quarters = 0; quarters < 24; quarters += 1) {
    await attack();
    shiftMs += 15 * 60_000;
  }
  expect(verdicts).toBeLessThanOrEqual(100);
  // All that unknown devices have, and those of the session's device.
  expect(verdicts).toBe(80);
  expect((await enter(unknownDevice())).status).toBe(429);
  expect((await enter(unknownDevice(home))).status).toBe(200);
});

test('a thief with the password, twenty devices and all wrong passwords keeps the owner’s device out of no login', async () => {
  const owner = await guardedAccount(apis[0], now());
  const home = newDevice();
  const first = unknownDevice(home);
  const code = nextCode(owner.secret);
  expect((await completeLogin(first, await beginLogin(first, owner.email), { code })).status).toBe(200);
  for (let i = 0; i < 20; i += 1) {
    shiftMs += 1_000;
    await beginLogin(unknownDevice(newDevice()), owner.email);
  }
  const guess = () => unknownDevice().logIn({ email: owner.email, password: 'wrong password' });
  for (let i = 0; i < 70; i += 1) {
    expect((await guess()).status).toBe(401);
    shiftMs += 31_000;
  }
  expect((await guess()).status).toBe(429);
  expect(await beginLogin(unknownDevice(home), owner.email)).toEqual(expect.any(String));
});
