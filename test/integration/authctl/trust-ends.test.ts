import { randomUUID } from 'node:crypto';
import { waitUntil } from '@auth-account/local-stack';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logOut, newSession, password, type TokenPair } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { codeOf, requestLoginCode } from '../../support/api/codes.ts';
import { refresh } from '../../support/api/groups.ts';
import { linkIdentity, newPerson, provePerson } from '../../support/api/providers.ts';
import {
  beginLogin,
  completeLogin,
  type GuardedAccount,
  guardedAccount,
  switchOn,
} from '../../support/api/second-factor.ts';
import type { TestApi } from '../../support/api/test-api.ts';
import { authctl } from '../../support/processes/authctl.ts';
import { type HoldingProxy, startHoldingProxy } from '../../support/stores/holding-proxy.ts';
import { mongodbAt, testEnvironment } from '../../support/test-environment.ts';
import { type OperatorFixture, openOperatorFixture } from './operator-fixture.ts';

let fixture: OperatorFixture;
beforeAll(async () => {
  fixture = await openOperatorFixture();
});
afterAll(() => fixture.close());

const run = async (...args: string[]) =>
  expect(await authctl([...args, '--reason', 'lost phone'], fixture.options)).toMatchObject({ exitCode: 0 });

/** Returns a device of the account that is trusted, with its session and what its next login sends. */
async function trustedDevice({ email, recovery_codes }: GuardedAccount, nth: number) {
  const device = { device_id: randomUUID() };
  const challenge_id = await beginLogin(fixture, email, device);
  const proof = { method: 'recovery_code', code: recovery_codes[nth], trust_device: true };
  const { json } = await completeLogin(fixture, challenge_id, proof);
  const { trusted_device_token, ...session }: TokenPair & { trusted_device_token: string } = json.data;
  return { session, fields: { email, password, ...device, trusted_device_token } };
}

const logIn = (fields: object) => fixture.logIn(fields);
const refused = { status: 403, json: { error_code: 'ERR-SECOND-FACTOR-REQUIRED' } };

// guarantees: trust-ends-with-session
test.each<[string, readonly (readonly string[])[]]>([
  ['user logout', [['user', 'logout']]],
  [
    'user disable and enable',
    [
      ['user', 'disable'],
      ['user', 'enable'],
    ],
  ],
])('%s ends the trust in all devices of the account, also in one that has logged out', async (_, commands) => {
  const account = await guardedAccount(fixture);
  const devices = [await trustedDevice(account, 0), await trustedDevice(account, 1)] as const;
  const [{ session }] = devices;
  expect((await logOut(fixture, session)).status).toBe(200);
  for (const command of commands) await run(...command, account.user_id);
  for (const { fields } of devices) expect(await logIn(fields)).toMatchObject(refused);
});

test('sessions revoke ends the trust in the device of that session only', async () => {
  const account = await guardedAccount(fixture);
  const [one, other] = [await trustedDevice(account, 0), await trustedDevice(account, 1)];
  await run('sessions', 'revoke', one.session.session_id);
  expect(await logIn(one.fields)).toMatchObject(refused);
  expect((await logIn(other.fields)).status).toBe(200);
});

describe('a login that has found its device trusted', () => {
  /** An api that reaches MongoDB through `proxy`. */
  let slow: TestApi;
  let proxy: HoldingProxy;
  beforeAll(async () => {
    proxy = await startHoldingProxy(Number(new URL(testEnvironment().mongodbUri).port));
    const MONGODB_URI = mongodbAt(proxy.port);
    slow = await fixture.api.beside({ MONGODB_URI });
  });
  afterAll(async () => {
    await slow.close();
    await proxy.close();
  });

  type Device = Awaited<ReturnType<typeof trustedDevice>>;
  type End = (account: GuardedAccount, device: Device) => Promise<unknown>;
  const done = async (answer: Promise<{ readonly status: number }>) =>
    expect(await answer).toMatchObject({ status: 200 });
  const ends: [string, End][] = [
    ['a logout of all others', (account) => done(fixture.logOutAll({ except_current: true }, bearer(account)))],
    [
      'the end of the trust',
      (account, { fields: { device_id } }) =>
        done(fixture.deleteTrustedDevice({ device_id: device_id.toUpperCase() }, bearer(account))),
    ],
    [
      'the end of its session',
      (account, { session: { session_id } }) => done(fixture.revokeSession({ session_id }, bearer(account))),
    ],
    [
      'the theft of its refresh token',
      async (_, { session }) => {
        await refresh(fixture, await refresh(fixture, session));
        const _id = session.session_id;
        await fixture.collections.sessions.updateOne({ _id }, { $set: { handed_out_at: new Date(0) } });
        const { json } = await fixture.refreshTokens({ refresh_token: session.refresh_token });
        expect(json.error_code).toBe('IAD_JWT_REFRESH_STOLEN');
      },
    ],
    ['user logout', ({ user_id }) => run('user', 'logout', user_id)],
    ['sessions revoke', (_, { session }) => run('sessions', 'revoke', session.session_id)],
  ];

  /** Waits until the proxy holds so many answers. */
  const heldReads = (count: number) =>
    waitUntil(async () => proxy.held() === count, { what: 'the reads of the account', timeoutMs: 30_000 });

  // guarantees: trust-ends-with-session
  test.each(ends)(
    'a login by any method that has found its device trusted opens no session after %s',
    async (_, end) => {
      const owner = await newSession(fixture, { device_id: randomUUID() });
      const { email, user_id } = owner;
      await fixture.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date(0) } });
      // The reads of the account by email address and by identity have the same text, for which the proxy waits.
      const person = newPerson({ sub: email });
      expect((await linkIdentity(fixture, owner, person)).status).toBe(201);
      const account = { ...owner, ...(await switchOn(fixture, owner)) };
      const device = await trustedDevice(account, 0);
      const { password: _password, email: _email, ...fields } = device.fields;
      const proof = await provePerson(fixture, person);
      const challenge_id = await requestLoginCode(fixture, email);
      const code = await codeOf(fixture, challenge_id);

      proxy.hold(email);
      const first = [slow.logIn(device.fields), slow.logInByProvider({ provider: 'office', ...proof, ...fields })];
      await heldReads(2);
      proxy.hold(user_id);
      const byCode = slow.logInByCode({ challenge_id, code, ...fields });
      await heldReads(3);
      try {
        await end(account, device);
      } finally {
        proxy.release();
      }
      const answers = await Promise.all([...first, byCode]);
      expect(answers.map(({ status, json }) => [status, json.error_code])).toEqual([
        [401, 'ERR-INVALID-CREDENTIALS'],
        [410, 'ERR-CODE-EXPIRED'],
        [403, 'ERR-CODE-INVALID'],
      ]);
      const live = { user_id, device_id: fields.device_id, is_revoked: false, created_at: { $gt: new Date(0) } };
      const left = await fixture.collections.sessions.find(live).toArray();
      expect(left.filter(({ _id }) => _id !== device.session.session_id)).toEqual([]);
    },
  );
});
