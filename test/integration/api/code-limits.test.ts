import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newEmail, newSession, password, registerAccount, type TokenPair } from '../../support/accounts.ts';
import { changeEmail } from '../../support/codes.ts';
import { bearer, cheapHashes } from '../../support/groups.ts';
import type { Answer } from '../../support/http-client.ts';
import { startTestApi, type TestApi } from '../../support/test-api.ts';

let api: TestApi;
let shiftMs = 0;
beforeAll(async () => {
  const env = { ...cheapHashes, TRUST_PROXY_HOPS: '1', CODE_LIMIT_PER_ADDRESS: '20', CODE_TRY_LIMIT_PER_ADDRESS: '30' };
  api = await startTestApi(env, { now: () => Date.now() + shiftMs });
});
afterAll(() => api.close());

let lastAddress = 0;
/** Returns an address that no other test uses. */
const newAddress = () => {
  lastAddress += 1;
  return `203.0.${lastAddress >> 8}.${lastAddress & 255}`;
};
const from = (address: string) => ({ 'X-Forwarded-For': address });
const path = '/api/v1/auth/password-reset';
const ask = (email: string, address = newAddress(), fields: object = {}) =>
  api.post(path, { email, ...fields }, from(address));
const statuses = async (count: number, one: () => ReturnType<typeof ask>) => {
  const all: number[] = [];
  for (let i = 0; i < count; i += 1) all.push((await one()).status);
  return all;
};
const [five, refused] = [Array<number>(5).fill(202), 429];

/** Registers and logs in from an address of its own. */
async function knownAt(address: string) {
  const via = { post: (to: string, body: unknown) => api.post(to, body, from(address)) };
  return newSession(via, { device_id: randomUUID() });
}

describe('codes for one account in a day', () => {
  test('are five for all strangers together, however many they are', async () => {
    const { email } = await registerAccount({ post: (to, body) => api.post(to, body, from(newAddress())) });
    expect(await statuses(6, () => ask(email))).toEqual([...five, refused]);
    const { json, headers } = await ask(email);
    expect([json.error_code, Number(headers['retry-after']) > 80_000]).toEqual(['ERR-RATE-LIMITED', true]);
  });

  test('are as many for an address without an account', async () => {
    const email = newEmail();
    expect(await statuses(6, () => ask(email))).toEqual([...five, refused]);
  });

  test('are five more for a device and for an address that the account knows: strangers can’t use them up', async () => {
    const home = newAddress();
    const { email, device_id } = await knownAt(home);
    expect(await statuses(6, () => ask(email))).toEqual([...five, refused]);
    expect(await statuses(6, () => ask(email, home))).toEqual([...five, refused]);
    expect(await statuses(6, () => ask(email, newAddress(), { device_id }))).toEqual([...five, refused]);
  });

  test('are five for all known devices at one network: no new session opens a new count', async () => {
    const { email, device_id } = await knownAt(newAddress());
    const away = newAddress();
    const askOnNewDevice = async () => {
      const device = { device_id: randomUUID() };
      await api.post('/api/v1/auth/login', { email, password, ...device }, from(newAddress()));
      return ask(email, away, device);
    };
    expect(await statuses(7, askOnNewDevice)).toEqual([...five, refused, refused]);
    expect((await ask(email, newAddress(), { device_id })).status).toBe(202);
  });

  test('do not count a known address among strangers once it has used up its own', async () => {
    const home = newAddress();
    const { email } = await knownAt(home);
    expect(await statuses(6, () => ask(email, home))).toEqual([...five, refused]);
    expect(await statuses(6, () => ask(email))).toEqual([...five, refused]);
  });

  test('are five of at any number at the same time', async () => {
    const email = newEmail();
    const all = await Promise.all(Array.from({ length: 30 }, () => ask(email)));
    expect(all.filter(({ status }) => status === 202)).toHaveLength(5);
  });

  test('begin anew a day after the oldest', async () => {
    const email = newEmail();
    await statuses(5, () => ask(email));
    try {
      shiftMs = 86_400_000 + 1_000;
      expect((await ask(email)).status).toBe(202);
    } finally {
      shiftMs = 0;
    }
    expect((await ask(email)).status).toBe(429);
  });
});

describe('codes for a change of the address in a day', () => {
  const change = async (session: TokenPair, new_email: string) =>
    api.post(
      '/api/v1/account/email-change',
      { current_password: password, new_email },
      { ...bearer(session), ...from(newAddress()) },
    );
  const newUser = () => knownAt(newAddress());
  const askFromEach = async (count: number, new_email: string) => {
    const answers: Answer[] = [];
    while (answers.length < count) answers.push(await change(await newUser(), new_email));
    return answers;
  };
  const told = ({ status, json }: Answer) => [status, json.error_code, json.details];

  test('are five to one address, however many accounts ask, and whether or not it is taken', async () => {
    const [free, { email: taken }] = [newEmail(), await newUser()];
    const refusals: unknown[] = [];
    for (const address of [free, taken]) {
      const answers = await askFromEach(6, address);
      expect(answers.map(({ status }) => status)).toEqual([...five, refused]);
      const wait = Number(answers.at(-1)?.headers['retry-after']);
      expect([wait > 80_000, wait <= 86_400]).toEqual([true, true]);
      refusals.push(...answers.slice(-1).map(told));
    }
    expect(refusals[0]).toEqual(refusals[1]);
    expect((await change(await newUser(), free.toUpperCase())).status).toBe(refused);
    // The account that has the address goes on as before.
    expect(await statuses(5, () => ask(taken))).toEqual(five);
  });

  test('do not begin anew for an account that has changed its address', async () => {
    const session = await newUser();
    await changeEmail(api, session, newEmail());
    expect(await statuses(5, () => change(session, newEmail()))).toEqual([...five.slice(1), refused]);
  });

  test('take none from the address if the account has none left', async () => {
    const session = await newUser();
    expect(await statuses(6, () => change(session, newEmail()))).toEqual([...five, refused]);
    const wanted = newEmail();
    for (let i = 0; i < 6; i += 1) expect((await change(session, wanted)).status).toBe(refused);
    expect((await change(await newUser(), wanted)).status).toBe(202);
  });
});

test('an address gets twenty codes an hour, for whatever accounts', async () => {
  const address = newAddress();
  expect(await statuses(21, () => ask(newEmail(), address))).toEqual([...Array<number>(20).fill(202), refused]);
  expect((await ask(newEmail())).status).toBe(202);
});

test('an address tries so many codes a minute', async () => {
  const address = newAddress();
  const body = { challenge_id: randomUUID(), code: '00000000', new_password: 'three wrong staples' };
  const tries = await statuses(31, () => api.post(`${path}/confirm`, body, from(address)));
  expect(tries).toEqual([...Array<number>(30).fill(403), refused]);
});
