import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { type Account, logIn, newEmail, newSession, password, type TokenPair } from '../support/api/accounts.ts';
import { bearer, dataOf } from '../support/api/api-driver.ts';
import {
  changeEmail,
  confirmReset,
  logInByCode,
  requestLoginCode,
  requestReset,
  undoTokenOf,
} from '../support/api/codes.ts';
import { addPasskey } from '../support/api/passkeys.ts';
import { linkIdentity, newPerson } from '../support/api/providers.ts';
import { beginLogin, beginTotp, completeLogin, guardedAccount, wrongCodeFor } from '../support/api/second-factor.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { authctl } from '../support/processes/authctl.ts';
import { testEnvironment } from '../support/test-environment.ts';

/** Two pods of one deployment, which allow one of each in a day. */
let api: TestApi;
let other: TestApi;
let shiftMs = 0;
beforeAll(async () => {
  const now = () => Date.now() + shiftMs;
  const one = {
    PASSKEY_ADD_LIMIT_PER_USER: '1',
    IDENTITY_ADD_LIMIT_PER_USER: '1',
    DELETION_LIMIT_PER_USER: '1',
    PASSWORD_CHANGE_LIMIT_PER_USER: '1',
    FACTOR_CHANGE_LIMIT_PER_USER: '1',
    EXPORT_LIMIT_PER_USER: '1',
    CODE_LIMIT_PER_ACCOUNT: '20',
  };
  api = await startTestApi(one, { now });
  other = await api.beside({}, { now });
});
afterAll(async () => {
  await api.close();
});

type Person = Account & TokenPair;

const reauthentication = { current_password: password };
const hours = (count: number) => count * 3_600_000;

/** Creates an account whose email address is verified. */
async function verified(): Promise<Person> {
  const person = await newSession(api);
  await api.collections.users.updateOne({ _id: person.user_id }, { $set: { email_verified_at: new Date(0) } });
  return person;
}

const recoveredAt = async (user_id: string) =>
  (await api.collections.users.findOne({ _id: user_id }))?.recovered_at?.getTime();

async function reset(email: string): Promise<void> {
  await dataOf(confirmReset(api, await requestReset(api, email), { new_password: password }));
}

async function undo(user_id: string): Promise<void> {
  await dataOf(api.undoEmailChange({ undo_token: await undoTokenOf(api, user_id) }));
}

/** Does on a pod, by a new session, each thing that is counted. Returns the statuses. */
async function doAll(on: TestApi, { email }: Pick<Account, 'email'>): Promise<number[]> {
  const caller = { email, ...(await logIn(on, email)) };
  const own = bearer(caller);
  const passkey = await addPasskey(on, caller).then(
    () => 201,
    (error: Error) => Number(/\b429\b/.exec(error.message)?.[0]),
  );
  const identity = await linkIdentity(on, caller, newPerson());
  const exported = await on.exportAccount(reauthentication, own);
  const changed = await on.changePassword({ ...reauthentication, new_password: password }, own);
  const deletion = await on.scheduleDeletion(reauthentication, own);
  await on.restoreAccount({ email, password });
  return [passkey, ...[identity, exported, changed, deletion].map(({ status }) => status)];
}

const [done, refused] = [
  [201, 201, 200, 200, 202],
  [429, 429, 429, 429, 429],
];

// guarantees: recovery-restores-limits
test('what a thief has used up begins anew after a reset, on every pod', async () => {
  const owner = await verified();
  expect(await doAll(api, owner)).toEqual(done);
  for (const pod of [api, other]) expect(await doAll(pod, owner)).toEqual(refused);
  await reset(owner.email);
  expect(await doAll(other, owner)).toEqual(done);
  expect(await doAll(api, owner)).toEqual(refused);
});

// guarantees: reset-forgets-factor-places
test('a reset makes devices and networks unknown to the second factor, even if Redis has kept them', async () => {
  const { email, user_id, secret } = await guardedAccount(api);
  await api.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date(0) } });
  const redis = new Redis(testEnvironment().redisUrl);
  try {
    const known = await redis.keys(`{${api.keyPrefix}}:limit:second-factor-known:*`);
    expect(known).not.toEqual([]);
    const copies = await Promise.all(known.map((key) => redis.dumpBuffer(key)));
    await reset(email);
    for (const [i, key] of known.entries()) await redis.restore(key, 0, copies[i] ?? '', 'REPLACE');
  } finally {
    redis.disconnect();
  }
  const code = wrongCodeFor(secret);
  const statuses: number[] = [];
  for (let i = 0; i < 6; i += 1) {
    statuses.push((await completeLogin(api, await beginLogin(api, email), { code })).status);
  }
  // The tries of the known network would come first, and then those of all unknown devices.
  expect(statuses).toEqual([403, 403, 403, 403, 403, 429]);
});

// guarantees: recovery-restores-limits
test('the counts of an account begin anew once in 72 hours, however often it is reset', async () => {
  const { email, user_id } = await verified();
  await reset(email);
  const first = await recoveredAt(user_id);
  expect(first).toEqual(expect.any(Number));
  shiftMs = hours(72) - 60_000;
  await reset(email);
  expect(await recoveredAt(user_id)).toBe(first);
  shiftMs = hours(72);
  await reset(email);
  expect(await recoveredAt(user_id)).toBeGreaterThan(first ?? 0);
  shiftMs = 0;
});

// guarantees: recovery-restores-limits
test('an undo begins the counts anew, even if a thief has reset the password since his change of the email address', async () => {
  const { email, user_id, ...owner } = await verified();
  const theirs = newEmail();
  await changeEmail(api, owner, theirs);
  await reset(theirs);
  const byThief = await recoveredAt(user_id);
  expect(byThief).toEqual(expect.any(Number));
  await undo(user_id);
  const byOwner = await recoveredAt(user_id);
  expect(byOwner).toBeGreaterThan(byThief ?? 0);
  await reset(email);
  // Who holds the mailbox can change the email address again at once.
  await changeEmail(api, await logIn(api, email), newEmail());
  await undo(user_id);
  expect(await recoveredAt(user_id)).toBe(byOwner);
});

test.each([
  ['a reset', reset],
  ['a login by code', async (email: string) => void (await logInByCode(api, await requestLoginCode(api, email)))],
])('the first proof of an email address begins the counts anew, also if they just did: by %s', async (_, prove) => {
  const { email, user_id } = await newSession(api);
  const just = new Date(Date.now() - 1);
  await api.collections.users.updateOne({ _id: user_id }, { $set: { recovered_at: just } });
  await prove(email);
  expect(await recoveredAt(user_id)).toBeGreaterThan(just.getTime());
});

test.each([['reset-password'], ['remove-ways-in']])('an operator begins the counts anew by %s', async (command) => {
  const { user_id, ...owner } = await verified();
  await linkIdentity(api, owner, newPerson());
  const { env } = api;
  await authctl(['user', command, user_id, '--reason', 'stolen', '--yes'], { env });
  expect(await recoveredAt(user_id)).toEqual(expect.any(Number));
});

test('a change of the second factor counts only if there is one to change', async () => {
  const owner = await newSession(api);
  for (let sent = 0; sent < 3; sent += 1) {
    expect((await api.createRecoveryCodes(reauthentication, bearer(owner))).json.data.recovery_codes).toEqual([]);
    expect((await api.deleteTotp(reauthentication, bearer(owner))).status).toBe(200);
  }
  expect((await beginTotp(api, owner)).factor_id).toEqual(expect.any(String));
});
