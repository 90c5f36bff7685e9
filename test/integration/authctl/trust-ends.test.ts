import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { logOut, password, type TokenPair } from '../../support/accounts.ts';
import { authctl } from '../../support/authctl.ts';
import { beginLogin, completeLogin, type GuardedAccount, guardedAccount } from '../../support/second-factor.ts';
import { type OperatorScene, openOperatorScene } from './operator-scene.ts';

let scene: OperatorScene;
beforeAll(async () => {
  scene = await openOperatorScene();
});
afterAll(() => scene.close());

const run = async (...args: string[]) =>
  expect(await authctl([...args, '--reason', 'lost phone'], scene.options)).toMatchObject({ exitCode: 0 });

/** Returns a device of the account that is trusted, with its session and what its next login sends. */
async function trustedDevice({ email, recovery_codes }: GuardedAccount, nth: number) {
  const device = { device_id: randomUUID() };
  const challenge_id = await beginLogin(scene, email, device);
  const proof = { method: 'recovery_code', code: recovery_codes[nth], trust_device: true };
  const { json } = await completeLogin(scene, challenge_id, proof);
  const { trusted_device_token, ...session }: TokenPair & { trusted_device_token: string } = json.data;
  return { session, fields: { email, password, ...device, trusted_device_token } };
}

const logIn = (fields: object) => scene.post('/api/v1/auth/login', fields);
const refused = { status: 403, json: { error_code: 'ERR-SECOND-FACTOR-REQUIRED' } };

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
  const account = await guardedAccount(scene);
  const devices = [await trustedDevice(account, 0), await trustedDevice(account, 1)] as const;
  const [{ session }] = devices;
  expect((await logOut(scene, session)).status).toBe(200);
  for (const command of commands) await run(...command, account.user_id);
  for (const { fields } of devices) expect(await logIn(fields)).toMatchObject(refused);
});

test('sessions revoke ends the trust in the device of that session only', async () => {
  const account = await guardedAccount(scene);
  const [one, other] = [await trustedDevice(account, 0), await trustedDevice(account, 1)];
  await run('sessions', 'revoke', one.session.session_id);
  expect(await logIn(one.fields)).toMatchObject(refused);
  expect((await logIn(other.fields)).status).toBe(200);
});
