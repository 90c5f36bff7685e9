import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Account, logIn, newDevice, newEmail, password, type TokenPair } from '../../support/api/accounts.ts';
import { bearer, withHeaders } from '../../support/api/api-driver.ts';
import {
  changeEmail,
  codeOf,
  confirmReset,
  requestReset,
  requestVerification,
  undoTokenOf,
} from '../../support/api/codes.ts';
import type { GroupApi } from '../../support/api/groups.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';

/**
 * After five wrong passwords of unknown devices an account waits for a day, so the tests may take as long as they need.
 */
const env = { TRUST_PROXY_HOPS: '1', LOGIN_ACCOUNT_FAILURES_PER_DAY: '5' };

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi(env);
});
afterAll(() => api.close());

const newPassword = 'three wrong staples';

let lastNetwork = 0;
/** Returns a network that no other test uses. */
const newNetwork = () => {
  lastNetwork += 1;
  return `198.51.${lastNetwork >> 8}.${lastNetwork & 255}`;
};

/** Returns the api as a client from this network reaches it. */
const from = (network: string): GroupApi => withHeaders(api, { 'X-Forwarded-For': network });

const logInStatus = async (
  network: string,
  email: string,
  given: string,
  device: Readonly<Record<string, string>> = {},
) => (await from(network).logIn({ email, password: given }, device)).status;

/** Lets unknown devices use up the day's wrong passwords. */
async function attack(email: string): Promise<void> {
  for (let i = 0; i < 5; i += 1) await logInStatus(newNetwork(), email, 'wrong password');
  expect(await logInStatus(newNetwork(), email, 'wrong password')).toBe(429);
}

/** Registers from this network. With the key of an earlier request, the registration is a repetition. */
async function register(
  network: string,
  email: string,
  key: string = randomUUID(),
  device: Readonly<Record<string, string>> = {},
): Promise<Account> {
  const body = { email, password, space_creation_mode: 'CREATE_NEW_HOME' };
  const headers = { 'Idempotency-Key': key, ...device };
  const { status, json } = await from(network).registerAccount(body, headers);
  expect(status).toBe(201);
  return { email, ...json.data };
}

/** Registers and logs in from this network. */
async function newSession(
  network: string,
  device: Readonly<Record<string, string>> = {},
): Promise<Account & TokenPair> {
  const account = await register(network, newEmail());
  return { ...account, ...(await logIn(withHeaders(from(network), device), account.email)) };
}

/** Verifies the email address by its code, from this network. */
async function verify(session: TokenPair, network = newNetwork()): Promise<void> {
  const challenge_id = await requestVerification(api, session);
  const code = await codeOf(api, challenge_id);
  const confirmation = { challenge_id, code };
  const { status } = await from(network).confirmEmailVerification(confirmation);
  expect(status).toBe(200);
}

const reset = async (network: string, email: string) => {
  const client = from(network);
  expect((await confirmReset(client, await requestReset(client, email))).status).toBe(200);
};

describe('a reset of the password', () => {
  // guarantees: reset-lets-owner-in
  // answers: Keycloak 45388, https://github.com/keycloak/keycloak/issues/45388
  // After a password reset the owner stayed locked out by earlier wrong passwords.
  test.each([true, false])(
    'a reset lets the owner log in from where it was made, whatever others have tried (email address verified: %p)',
    async (isVerified) => {
      const [home, away, elsewhere] = [newNetwork(), newNetwork(), newNetwork()];
      const device = newDevice();
      const session = await newSession(home, device);
      const { email } = session;
      if (isVerified) await verify(session);
      await attack(email);
      expect(await logInStatus(away, email, password)).toBe(429);
      await reset(away, email);
      expect(await logInStatus(away, email, newPassword)).toBe(200);
      // Nobody has tried to guess the new password yet.
      expect(await logInStatus(elsewhere, email, newPassword)).toBe(200);
      await attack(email);
      expect(await logInStatus(away, email, newPassword)).toBe(200);
      // If the email address was verified, the devices and networks that were known before stay known. Otherwise they
      // are forgotten.
      const known = isVerified ? 200 : 429;
      expect(await logInStatus(home, email, newPassword)).toBe(known);
      expect(await logInStatus(newNetwork(), email, newPassword, device)).toBe(known);
    },
  );
});

describe('a registration that is repeated', () => {
  test('a repeated registration makes its network known while the account has its first password', async () => {
    const [home, other] = [newNetwork(), newNetwork()];
    const [email, key] = [newEmail(), randomUUID()];
    const account = await register(home, email, key);
    expect(await register(other, email, key)).toEqual(account);
    await attack(email);
    expect(await logInStatus(other, email, password)).toBe(200);
  });

  test('a registration that is repeated after a reset gets its answer, but makes its network not known', async () => {
    const [squatters, owners] = [newNetwork(), newNetwork()];
    const [email, key] = [newEmail(), randomUUID()];
    const account = await register(squatters, email, key);
    await reset(owners, email);
    expect(await register(squatters, email, key)).toEqual(account);
    // Each registration would otherwise take one of the twenty entries that the account knows.
    for (let i = 0; i < 20; i += 1) await register(newNetwork(), email, key);
    await attack(email);
    expect(await logInStatus(squatters, email, newPassword)).toBe(429);
    expect(await logInStatus(owners, email, newPassword)).toBe(200);
  });
});

describe('the known devices and networks of an account', () => {
  const exportOf = ({ access_token }: TokenPair, network: string) =>
    from(network).exportAccount({ current_password: password }, bearer(access_token));

  // guarantees: logins-keep-places
  test('known devices and networks are not displaced by logins on devices that hold nothing, nor by their sessions', async () => {
    const [home, other, device] = [newNetwork(), newNetwork(), newDevice()];
    const { email } = await newSession(home, device);
    for (let i = 0; i < 20; i += 1) {
      const session = await logIn(from(other), email);
      expect((await exportOf(session, other)).status).toBe(200);
    }
    await attack(email);
    expect(await logInStatus(newNetwork(), email, password, device)).toBe(200);
    expect(await logInStatus(home, email, password)).toBe(200);
  });

  test('a network is not known because a session has proved the password there', async () => {
    const [home, away] = [newNetwork(), newNetwork()];
    const session = await newSession(home);
    expect((await exportOf(session, away)).status).toBe(200);
    await attack(session.email);
    expect(await logInStatus(away, session.email, password)).toBe(429);
  });

  // guarantees: logins-keep-places
  test('the devices and networks of registration and codes stay known, wherever somebody logs in with the password', async () => {
    const [home, reset_at, verified_at] = [newNetwork(), newNetwork(), newNetwork()];
    const [email, device] = [newEmail(), newDevice()];
    await register(home, email, undefined, device);
    const session = await logIn(from(home), email);
    await verify(session, verified_at);
    await reset(reset_at, email);
    for (let i = 0; i < 25; i += 1) {
      expect(await logInStatus(newNetwork(), email, newPassword, newDevice())).toBe(200);
    }
    await attack(email);
    for (const network of [home, verified_at, reset_at]) {
      expect(await logInStatus(network, email, newPassword)).toBe(200);
    }
    expect(await logInStatus(newNetwork(), email, newPassword, device)).toBe(200);
  });
});

describe('an undone change of the email address', () => {
  test.each([true, false])(
    'an undone change of the email address keeps known devices only if the former one was verified (%p)',
    async (isVerified) => {
      const [before, owners] = [newNetwork(), newNetwork()];
      const device = newDevice();
      const session = await newSession(before, device);
      const { email, user_id } = session;
      if (isVerified) await verify(session);
      await changeEmail(from(before), session, newEmail());
      const undo_token = await undoTokenOf(api, user_id);
      const { status } = await from(owners).undoEmailChange({ undo_token });
      expect(status).toBe(200);
      const user = await api.collections.users.findOne({ _id: user_id });
      expect(user?.known_devices).toEqual([]);
      await reset(owners, email);
      await attack(email);
      expect(await logInStatus(owners, email, newPassword)).toBe(200);
      const known = isVerified ? 200 : 429;
      expect(await logInStatus(before, email, newPassword)).toBe(known);
      expect(await logInStatus(newNetwork(), email, newPassword, device)).toBe(known);
    },
  );
});
