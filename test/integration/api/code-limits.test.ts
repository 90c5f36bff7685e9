import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { createLimitKeys } from '@auth-account/redis';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { createCodeLimit } from '../../../services/api/src/limits/code-limit.ts';
import { logIn, newEmail, newSession, password, registerAccount, type TokenPair } from '../../support/api/accounts.ts';
import { bearer, dataOf, drive, withHeaders } from '../../support/api/api-driver.ts';
import { changeEmail, codeOf, makeResendDue, requestVerification } from '../../support/api/codes.ts';
import type { GroupApi } from '../../support/api/groups.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import type { Answer } from '../../support/http-client.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';

let api: TestApi;
let shiftMs = 0;
beforeAll(async () => {
  const env = { TRUST_PROXY_HOPS: '1', CODE_LIMIT_PER_ADDRESS: '20', CODE_TRY_LIMIT_PER_ADDRESS: '30' };
  api = await startTestApi(env, { now: () => Date.now() + shiftMs });
});
afterAll(() => api.close());

let lastAddress = 0;
/** Returns an email address that no other test uses. */
const newNetwork = () => {
  lastAddress += 1;
  return `203.0.${lastAddress >> 8}.${lastAddress & 255}`;
};
const newDevice = () => randomBytes(16).toString('base64url');
const from = (address: string, device?: string) => ({
  'X-Forwarded-For': address,
  ...(device && { 'X-Device-Secret': device }),
});
type Request = 'requestPasswordReset' | 'requestDeletion';
const requests: readonly Request[] = ['requestPasswordReset', 'requestDeletion'];
const ask = (email: string, address = newNetwork(), device?: string, name: Request = 'requestPasswordReset') =>
  api[name]({ email }, from(address, device));
const statuses = async (count: number, one: (i: number) => ReturnType<typeof ask>) => {
  const all: number[] = [];
  for (let i = 0; i < count; i += 1) all.push((await one(i)).status);
  return all;
};
const [five, refused] = [Array<number>(5).fill(202), 429];

/** Returns a client of the api whose requests come from this network. */
const at = (address: string, device?: string): GroupApi => withHeaders(api, from(address, device));

/** Registers and logs in from this network. */
const knownAt = (address: string, device?: string) => newSession(at(address, device), { device_id: randomUUID() });

/** Registers on a device at the network `home`, and verifies the mailbox at the network `proof`. */
async function verifiedAt(home: string, proof: string, device = newDevice()) {
  const [email, device_id] = [newEmail(), randomUUID()];
  const body = { email, password, device_id, space_creation_mode: 'CREATE_NEW_HOME' };
  const { json } = await at(home, device).registerAccount(body);
  const session = await logIn(at(home, device), email, { device_id });
  const challenge_id = await requestVerification(at(home), session);
  const code = await codeOf(api, challenge_id);
  const { status } = await at(proof).confirmEmailVerification({ challenge_id, code });
  expect(status).toBe(200);
  return { ...session, email, user_id: String(json.data.user_id) };
}

describe('codes for one account in a day', () => {
  test('all unknown devices and networks together get five codes for one account in a day', async () => {
    const { email } = await registerAccount(at(newNetwork()));
    expect(await statuses(6, () => ask(email))).toEqual([...five, refused]);
    const { json, headers } = await ask(email);
    expect([json.error_code, Number(headers['retry-after']) > 80_000]).toEqual(['ERR-RATE-LIMITED', true]);
  });

  test('an email address without an account gets as many codes in a day as one with an account', async () => {
    const email = newEmail();
    expect(await statuses(6, () => ask(email))).toEqual([...five, refused]);
  });

  test('an account’s five codes in a day are for all purposes together', async () => {
    const [{ email }, unknown] = [await registerAccount(at(newNetwork())), newEmail()];
    for (const one of [email, unknown]) {
      const all = await statuses(6, (i) => ask(one, newNetwork(), undefined, requests[i % 2]));
      expect(all).toEqual([...five, refused]);
    }
  });

  // guarantees: codes-of-known-places
  test('all known devices and networks of an unverified email address together get five more codes in a day', async () => {
    const [home, device] = [newNetwork(), newDevice()];
    const { email } = await knownAt(home, device);
    expect(await statuses(6, () => ask(email))).toEqual([...five, refused]);
    const asked: Awaited<ReturnType<typeof ask>>[] = [];
    for (let i = 0; i < 4; i += 1) {
      const away = newNetwork();
      await logIn(at(away), email, { device_id: randomUUID() });
      for (const name of requests) asked.push(await ask(email, away, undefined, name));
    }
    expect(asked.map(({ status }) => status)).toEqual([...five, ...Array<number>(3).fill(refused)]);
    expect((await ask(email, home)).status).toBe(refused);
    expect((await ask(email, newNetwork(), device)).status).toBe(refused);
  });

  // guarantees: thief-cannot-stop-recovery
  test('each device and network that has registered or verified an account has five codes in a day of its own', async () => {
    const [home, proof, device] = [newNetwork(), newNetwork(), newDevice()];
    const { email } = await verifiedAt(home, proof, device);
    for (let i = 0; i < 4; i += 1) {
      const away = newNetwork();
      await logIn(at(away), email, { device_id: randomUUID() });
      await statuses(2, () => ask(email, away));
    }
    expect(await statuses(6, () => ask(email))).toEqual([...five, refused]);
    expect(await statuses(6, () => ask(email, proof))).toEqual([...five, refused]);
    // First the five codes of the device, then the five codes of its network.
    expect(await statuses(6, () => ask(email, newNetwork(), device))).toEqual([...five, refused]);
    expect(await statuses(6, () => ask(email, home, device))).toEqual([...five, refused]);
  });

  test('all other known devices and networks of a verified account together get five codes in a day', async () => {
    const { email } = await verifiedAt(newNetwork(), newNetwork());
    const askOnNewDevice = async () => {
      const [away, device] = [newNetwork(), newDevice()];
      await logIn(at(away, device), email, { device_id: randomUUID() });
      return ask(email, newNetwork(), device);
    };
    // The code that has verified the email address is one of the five.
    expect(await statuses(6, askOnNewDevice)).toEqual([...five.slice(1), refused, refused]);
  });

  test('a known network that has used up its codes takes none from unknown ones', async () => {
    const home = newNetwork();
    const { email } = await knownAt(home);
    expect(await statuses(6, () => ask(email, home))).toEqual([...five, refused]);
    expect(await statuses(6, () => ask(email))).toEqual([...five, refused]);
  });

  test('thirty simultaneous requests for a code to one email address get five codes', async () => {
    const email = newEmail();
    const all = await Promise.all(Array.from({ length: 30 }, () => ask(email)));
    expect(all.filter(({ status }) => status === 202)).toHaveLength(5);
  });

  test('the codes of a day begin anew 24 hours after the oldest', async () => {
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

// guarantees: redis-memory-bounded
test('codes to very many email addresses are counted only for the addresses of the latest requests', async () => {
  const redis = new Redis(testEnvironment().redisUrl);
  const secret = createSecretKey(randomBytes(32));
  const keys = createLimitKeys(uniqueName(), () => secret);
  let time = Date.now();
  const limit = createCodeLimit({ redis, keys, perDay: 1, accountLru: 10, now: () => time });
  const unknownDevice = { holder: undefined, prefix: '192.0.2.1/32', userId: undefined, recipient: undefined };
  const count = (i: number) => {
    time += 1;
    return limit.count({ ...unknownDevice, emailKey: `cook-${i}@example.com`, hasOwnCounts: false, hasAccess: false });
  };
  for (let i = 0; i < 30; i += 1) expect(await count(i)).toBeUndefined();
  expect(await redis.keys(keys.nameOf('code-*'))).toHaveLength(10);
  expect(await count(29)).toMatchObject({ rule: 'code_account' });
  expect(await count(0)).toBeUndefined();
  redis.disconnect();
});

describe('codes for a change of the email address in a day', () => {
  const change = async (session: TokenPair, new_email: string) =>
    api.requestEmailChange({ current_password: password, new_email }, { ...bearer(session), ...from(newNetwork()) });
  const newUser = () => knownAt(newNetwork());
  const askFromEach = async (count: number, new_email: string) => {
    const answers: Answer[] = [];
    while (answers.length < count) answers.push(await change(await newUser(), new_email));
    return answers;
  };
  const refusalOf = ({ status, json }: Answer) => [status, json.error_code, json.details];

  test('one new email address gets five codes in a day, however many accounts ask, whether or not it is taken', async () => {
    const [free, { email: taken }] = [newEmail(), await newUser()];
    const refusals: unknown[] = [];
    for (const address of [free, taken]) {
      const answers = await askFromEach(6, address);
      expect(answers.map(({ status }) => status)).toEqual([...five, refused]);
      const wait = Number(answers.at(-1)?.headers['retry-after']);
      expect([wait > 80_000, wait <= 86_400]).toEqual([true, true]);
      refusals.push(...answers.slice(-1).map(refusalOf));
    }
    expect(refusals[0]).toEqual(refusals[1]);
    expect((await change(await newUser(), free.toUpperCase())).status).toBe(refused);
    // The account that has the taken email address is not limited by this.
    expect(await statuses(5, () => ask(taken))).toEqual(five);
  });

  test('an account that has changed its email address gets no further codes for another change', async () => {
    const session = await newUser();
    await changeEmail(api, session, newEmail());
    expect(await statuses(5, () => change(session, newEmail()))).toEqual([...five.slice(1), refused]);
  });

  test('an account without codes left takes none from the new email address', async () => {
    const session = await newUser();
    expect(await statuses(6, () => change(session, newEmail()))).toEqual([...five, refused]);
    const wanted = newEmail();
    for (let i = 0; i < 6; i += 1) expect((await change(session, wanted)).status).toBe(refused);
    expect((await change(await newUser(), wanted)).status).toBe(202);
  });
});

describe('all emails to one email address in a day', () => {
  let on: TestApi;
  beforeAll(async () => {
    const limits = { PASSWORD_CHANGE_LIMIT_PER_USER: '5', DELETION_LIMIT_PER_USER: '5' };
    on = await startTestApi({ ...limits, TRUST_PROXY_HOPS: '1' });
  });
  afterAll(() => on.close());

  /** Returns the headers of a request from this device and network, of a session if one is given. */
  const headersOf = (session?: TokenPair, address = newNetwork(), device?: string) => ({
    ...from(address, device),
    ...(session && bearer(session)),
  });
  const anywhere = drive((request) => on.send({ ...request, headers: { ...request.headers, ...from(newNetwork()) } }));

  /** Requests each resend of the code that the challenge allows. */
  type Resend = 'resendPasswordReset' | 'resendDeletion' | 'resendEmailChange' | 'resendEmailVerification';
  async function resend(name: Resend, asking: Promise<Answer>, session?: TokenPair): Promise<void> {
    const { status, json } = await asking;
    if (status !== 202) return;
    const { challenge_id } = json.data;
    for (let i = 0; i < 4; i += 1) {
      await makeResendDue(on, challenge_id);
      await on[name]({ challenge_id }, headersOf(session));
    }
  }

  /** Lets accounts request a change of the email address. Returns how many mails this causes. */
  async function askForChanges(new_email: string): Promise<number> {
    const before = await on.collections.outbox.countDocuments({ state: 'pending', topic: /code_requested|notice/ });
    for (let i = 0; i < 6; i += 1) {
      const session = await newSession(anywhere);
      const body = { current_password: password, new_email };
      await resend('resendEmailChange', on.requestEmailChange(body, headersOf(session)), session);
    }
    const after = await on.collections.outbox.countDocuments({ state: 'pending', topic: /code_requested|notice/ });
    return after - before;
  }

  /**
   * Requests codes of an account, more than it may have, from several networks. If a password is given, first logs in
   * from each of them, and from more networks than are worth a notification.
   */
  async function askForCodes(email: string, given?: string): Promise<void> {
    for (let i = 0; i < 12; i += 1) {
      const client = [newNetwork(), newDevice()] as const;
      const login = { email, password: given, device_id: randomUUID() };
      const session = given && (await on.logIn(login, headersOf(undefined, ...client))).json.data;
      if (i >= 4) continue;
      for (const each of [client, []] as const) {
        await resend('resendPasswordReset', on.requestPasswordReset({ email }, headersOf(undefined, ...each)));
        await resend('resendDeletion', on.requestDeletion({ email }, headersOf(undefined, ...each)));
      }
      if (session) {
        await resend('resendEmailVerification', on.requestEmailVerification(headersOf(session, ...client)), session);
      }
    }
  }

  /** Returns how many mails to its own email address an account has caused, by purpose. */
  async function mailsTo(userId: string): Promise<Record<string, number>> {
    const rows = await on.collections.outbox
      .find({ state: 'pending', 'event.subject': userId })
      .sort({ _id: 1 })
      .toArray();
    const purposesOf = rows.flatMap(({ event: { data } }) => ('purpose' in data ? [data.purpose] : []));
    const counts = Map.groupBy(purposesOf, (purpose) => (purpose.includes('_changed') ? purpose : kindOf(purpose)));
    return Object.fromEntries([...counts].map(([kind, all]) => [kind, all.length]));
  }
  const kindOf = (purpose: string) =>
    ['password_reset', 'account_deletion', 'email_verification'].includes(purpose) ? 'code' : purpose;

  // guarantees: mails-per-mailbox
  test('an unverified email address gets 86 emails in a day, whoever registers it: 20 before that, 40 codes, 26 notifications', async () => {
    const email = newEmail();
    expect(await askForChanges(email)).toBe(20);
    const { user_id } = await registerAccount(anywhere, email);
    await askForCodes(email, password);
    let present = password;
    for (let i = 0; i < 6; i += 1) {
      const session = (await anywhere.logIn({ email, password: present })).json.data;
      const next = `three wrong staples ${i}`;
      const changed = await anywhere.changePassword({ current_password: present, new_password: next }, bearer(session));
      if (changed.status === 200) present = next;
      await anywhere.scheduleDeletion({ current_password: present }, bearer(session));
      await anywhere.restoreAccount({ email, password: present });
    }
    const notifications = { new_device: 10, password_changed: 5, deletion_scheduled: 5, deletion_cancelled: 5 };
    expect(await mailsTo(user_id)).toEqual({ code: 40, ...notifications });
    // One more mail notifies the address that the account has moved to another email address. This can be undone for
    // three days, so no other account gets the email address until then.
    const session = (await anywhere.logIn({ email, password: present })).json.data;
    const body = { current_password: present, new_email: newEmail() };
    const { challenge_id } = await dataOf(anywhere.requestEmailChange(body, bearer(session)), 202);
    await anywhere.confirmEmailChange({ challenge_id, code: await codeOf(on, challenge_id) }, bearer(session));
    expect(await mailsTo(user_id)).toMatchObject({ email_changed: 1 });
    const again = await anywhere.registerAccount({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
    expect(again.status).toBe(409);
  });

  // guarantees: mails-per-mailbox
  test('unknown clients cause 25 emails in a day to a verified account: 20 with codes, 5 notifications that others want its email address', async () => {
    const { email, user_id } = await registerAccount(anywhere);
    await on.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date() } });
    await askForCodes(email);
    await askForChanges(email);
    expect(await mailsTo(user_id)).toEqual({ code: 20, address_in_use: 5 });
  });

  // guarantees: mails-per-mailbox
  test('an email address without an account gets 20 emails in a day, all with codes for changes to it', async () => {
    const email = newEmail();
    const before = await on.collections.outbox.countDocuments({ state: 'pending' });
    await askForCodes(email);
    expect(await on.collections.outbox.countDocuments({ state: 'pending' })).toBe(before);
    expect(await askForChanges(email)).toBe(20);
  });
});
