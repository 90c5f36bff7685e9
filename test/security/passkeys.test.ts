import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Account, newDevice, newEmail, newSession, password, type TokenPair } from '../support/api/accounts.ts';
import { withHeaders } from '../support/api/api-driver.ts';
import { changeEmail, confirmReset, requestReset, undoTokenOf } from '../support/api/codes.ts';
import {
  addPasskey,
  deletePasskey,
  logInByPasskey,
  passkeyLogin,
  requestPasskeyLogin,
  revokePassword,
  stepUpByPasskey,
} from '../support/api/passkeys.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';
import { withFailPoint } from '../support/stores/fail-point.ts';
import { testEnvironment } from '../support/test-environment.ts';
import { flood, othersIn, sessionsIn } from './flood.ts';

/** Name of the other pod's connections, whose commands can be made to fail. */
const appName = 'passkeys';
/** Ten wrong passwords lock a login for a day. Fewer would lock it for seconds, which a slow machine lets pass. */
const minGuesses = {
  LOGIN_FREE_FAILURES: '15',
  LOGIN_KNOWN_FAILURES_PER_DAY: '5',
  LOGIN_ACCOUNT_FAILURES_PER_DAY: '5',
};

/** Two pods of one deployment. */
let api: TestApi;
let other: TestApi;

beforeAll(async () => {
  api = await startTestApi(minGuesses);
  const uri = new URL(testEnvironment().mongodbUri);
  uri.searchParams.set('appName', appName);
  other = await api.beside({ MONGODB_URI: uri.href });
});
afterAll(() => api.close());

const post = (pod: TestApi, body: object) => pod.logInByPasskey(body);
const statusAndCode = ({ status, json }: Answer) => [status, json.error_code];
const passkeysOf = async ({ user_id }: Account) =>
  (await api.collections.users.findOne({ _id: user_id }))?.passkeys?.map(({ id }) => id);

describe('one assertion', () => {
  // guarantees: one-session-per-proof
  test('one passkey assertion opens one session, however many requests send it at once to two pods', async () => {
    const own = await newSession(api);
    const { authenticator } = await addPasskey(api, own);
    const body = await passkeyLogin(api, authenticator);
    const before = await api.collections.sessions.countDocuments({ user_id: own.user_id });
    const answers = await flood([api, other], (pod) => post(pod, { ...body, device_id: randomUUID() }));
    expect(sessionsIn(answers).size).toBeLessThanOrEqual(1);
    expect(othersIn(answers, ['410 ERR-CODE-EXPIRED'])).toEqual([]);
    expect(await api.collections.sessions.countDocuments({ user_id: own.user_id })).toBe(before + 1);
  });

  // guarantees: one-session-per-proof
  test('one passkey assertion of one device is answered with one session, at whichever pod', async () => {
    const { authenticator } = await addPasskey(api, await newSession(api));
    const body = { ...(await passkeyLogin(api, authenticator)), device_id: randomUUID() };
    const pods = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? api : other));
    const answers = await Promise.all(pods.map((pod) => post(pod, body)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(answers.map(({ json }) => json.data.refresh_token)).size).toBe(1);
  });
});

describe('a store that does not answer', () => {
  let own: Account & TokenPair;
  let body: object;
  beforeAll(async () => {
    own = await newSession(api);
    const { authenticator } = await addPasskey(api, own);
    body = await passkeyLogin(api, authenticator);
  });

  // guarantees: passkey-deleted-only-if-gone
  // The first read finds nothing: the second one confirms it.
  test.each([
    ['at all', 'alwaysOn', 11_600],
    ['in time to confirm that there is no such passkey', { skip: 1 }, 50],
  ] as const)('a store that does not answer %s never makes a passkey unknown', async (_, mode, errorCode) => {
    const namespace = `${api.database}.users`;
    await api.collections.users.updateOne({ _id: own.user_id }, { $rename: { passkeys: 'hidden' } } as never);
    const data = { failCommands: ['find'], errorCode, namespace, appName };
    const answer = await withFailPoint(api.mongo, mode, data, () => post(other, body)).finally(() =>
      api.collections.users.updateOne({ _id: own.user_id }, { $rename: { hidden: 'passkeys' } } as never),
    );
    expect(statusAndCode(answer)).toEqual([503, 'ERR-DEPENDENCY-UNAVAILABLE']);
    expect(answer.json.details?.unknown_credential).toBeUndefined();
  });
});

describe('a squatter, who has registered an email address of another person', () => {
  // guarantees: squatter-keeps-nothing
  test('a squatter loses the passkeys when the owner of the email address resets the password', async () => {
    const squatter = await newSession(api);
    const { authenticator, passkey_id } = await addPasskey(api, squatter);
    const reset = await confirmReset(api, await requestReset(api, squatter.email));
    expect(reset.status).toBe(200);
    expect(await passkeysOf(squatter)).toEqual([]);
    expect((await logInByPasskey(api, authenticator)).json.details.unknown_credential).toBe(true);
    const removed = await api.collections.outbox.findOne({ 'event.data.passkey_id': passkey_id, topic: /removed/ });
    expect(removed?.event.data).toMatchObject({ user_id: squatter.user_id });
  });

  // guarantees: squatter-keeps-nothing
  test('a squatter cannot open a session with an assertion that was checked before the reset', async () => {
    const squatter = await newSession(api);
    const { authenticator } = await addPasskey(api, squatter);
    const body = await passkeyLogin(api, authenticator);
    const challenge_id = await requestReset(api, squatter.email);
    const [reset, login] = await Promise.all([confirmReset(api, challenge_id), post(other, body)]);
    expect(reset.status).toBe(200);
    const live = await api.collections.sessions.countDocuments({ user_id: squatter.user_id, is_revoked: false });
    expect([live, [200, 403, 410].includes(login.status)]).toEqual([0, true]);
  });

  // guarantees: squatter-keeps-nothing
  test('a squatter loses the passkeys when the email address that was registered first undoes a change', async () => {
    const squatter = await newSession(api);
    const { passkey_id } = await addPasskey(api, squatter);
    await changeEmail(api, squatter, newEmail());
    expect(await passkeysOf(squatter)).toEqual([passkey_id]);
    expect((await undo(squatter)).status).toBe(200);
    expect(await passkeysOf(squatter)).toEqual([]);
  });
});

describe('the last credential', () => {
  // guarantees: last-way-in-stays
  test('the last passkey stays, also if two are removed at once at two pods', async () => {
    const own = await newSession(api);
    const passkeys = [await addPasskey(api, own), await addPasskey(api, own)];
    await revokePassword(api, own);
    const tokens = await Promise.all(
      passkeys.map(({ authenticator }) => stepUpByPasskey(api, own, authenticator, 'passkeys')),
    );
    const answers = await Promise.all(
      passkeys.map(({ passkey_id }, at) =>
        deletePasskey(at === 0 ? api : other, own, passkey_id, { step_up_token: tokens[at] }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    // A token that comes after the first removal is unusable, because that removal has changed the sign-in methods.
    const refused = answers.find(({ status }) => status !== 200)?.json.error_code;
    expect(['ERR-LAST-CREDENTIAL', 'ERR-STEP-UP-REQUIRED']).toContain(refused);
    const left = passkeys.filter((_, at) => answers[at]?.status !== 200);
    expect(await passkeysOf(own)).toEqual(left.map(({ passkey_id }) => passkey_id));
    for (const { passkey_id, authenticator } of left) {
      const step_up_token = await stepUpByPasskey(api, own, authenticator, 'passkeys');
      const answer = await deletePasskey(api, own, passkey_id, { step_up_token });
      expect(statusAndCode(answer)).toEqual([409, 'ERR-LAST-CREDENTIAL']);
    }
  });
});

test('a login by passkey makes its device known, so that wrong passwords elsewhere do not lock out the owner', async () => {
  const own = await newSession(api);
  const { authenticator } = await addPasskey(api, own);
  const device = withHeaders(api, newDevice());
  expect((await logInByPasskey(device, authenticator)).status).toBe(200);
  const guess = () => api.logIn({ email: own.email, password: 'wrong horse battery' });
  for (let tries = 0; tries < 10; tries += 1) expect((await guess()).status).toBe(401);
  expect((await guess()).status).toBe(429);
  const right = await device.logIn({ email: own.email, password });
  expect(right.status).toBe(200);
});

// guarantees: challenges-cost-no-space
test('a flood of passkey challenges stores nothing', async () => {
  const stored = () => Promise.all(Object.values(api.collections).map((each) => each.countDocuments({})));
  const before = await stored();
  await Promise.all(Array.from({ length: 50 }, () => requestPasskeyLogin(api)));
  expect(await stored()).toEqual(before);
});

/** Undoes the latest change of the email address. */
async function undo({ user_id }: Account): Promise<Answer> {
  const undo_token = await undoTokenOf(api, user_id);
  return api.undoEmailChange({ undo_token });
}
