import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { password } from '../../support/accounts.ts';
import { type ClientScene, codeOf, noStream, openClientScene } from '../../support/client-scene.ts';
import { codeOf as mailedCodeOf, wrongCodeOf } from '../../support/codes.ts';
import { codeAt } from '../../support/second-factor.ts';

const confirmPath = '/login-code/confirm';

let scene: ClientScene;

beforeAll(async () => {
  scene = await openClientScene();
});
afterAll(() => scene.close());

/** An app whose user has a verified address, and has logged out. */
async function signedOut() {
  const app = await scene.signedIn(noStream);
  await scene.api.collections.users.updateOne({ email: app.email }, { $set: { email_verified_at: new Date(0) } });
  return app;
}

test('a code opens a session; a lost answer is asked for again', async () => {
  const { client, email, network } = await signedOut();
  await client.logOut();
  const { challenge_id } = await client.loginCode.request({ email });
  const wrong = await wrongCodeOf(scene.api, challenge_id);
  expect(await codeOf(client.loginCode.logIn({ challenge_id, code: wrong }))).toBe('ERR-CODE-INVALID');
  network.plan(confirmPath, 'answer_lost');
  const code = await mailedCodeOf(scene.api, challenge_id);
  const session = await client.loginCode.logIn({ challenge_id, code });
  expect(client.state()).toEqual({ status: 'signed_in', session });
  expect((await client.sessions.list()).sessions).toHaveLength(1);
  expect(await codeOf(client.loginCode.resend({ challenge_id }))).toBe('ERR-CODE-INVALID');
});

test('a code waits for the second factor, and a device that is trusted needs none', async () => {
  const { client, email } = await signedOut();
  const { factor_id, secret } = await client.secondFactor.createTotp({ current_password: password });
  const { recovery_codes } = await client.secondFactor.confirmTotp({ factor_id, code: codeAt(secret) });
  await client.logOut();
  const begin = async (asked: string) => {
    const { challenge_id } = await client.loginCode.request({ email: asked });
    return client.loginCode.logIn({ challenge_id, code: await mailedCodeOf(scene.api, challenge_id) });
  };
  expect(await codeOf(begin(email))).toBe('ERR-SECOND-FACTOR-REQUIRED');
  expect(client.secondFactor.waiting()).toBeDefined();
  const proof = { method: 'recovery_code', code: recovery_codes[0] ?? '', trust_device: true } as const;
  await client.secondFactor.confirm(proof);
  await client.logOut();
  await begin(email.toUpperCase());
  expect(client.state().status).toBe('signed_in');
  await client.logOut();
  await client.logIn({ email, password });
  expect(client.state().status).toBe('signed_in');
});

test('a device shows its secret where the account may know it by that, and wrong passwords of others do not lock it out', async () => {
  const { client, email, network, storage } = await scene.signedIn(noStream);
  await client.logOut();
  for (let i = 0; i < 6; i += 1) {
    await scene.api.post('/api/v1/auth/login', { email, password: 'a wrong password' });
  }
  await client.logIn({ email, password });
  await client.account.passwordReset.request({ email });
  const shown = (part: string) => network.to(part).map(({ headers }) => headers.get('X-Device-Secret'));
  const secret = await storage.get('auth-account.device-secret');
  expect(secret).toMatch(/^[\w-]{36}$/);
  expect([...shown('/auth/login'), ...shown('/password-reset')]).toEqual(Array(3).fill(secret));
  expect(shown('/logout')).toEqual([null]);
});

test('a device whose secret can’t be read logs in without it', async () => {
  const { client, email, network, storage } = await scene.signedIn(noStream);
  await client.logOut();
  const again = scene.app(noStream, {
    ...storage,
    get: async (key) => {
      if (key.endsWith('.device-secret')) throw new Error('the storage is locked');
      return storage.get(key);
    },
  });
  await again.client.logIn({ email, password });
  expect(again.network.to('/auth/login')[0]?.headers.get('X-Device-Secret')).toBeNull();
  expect(await storage.get('auth-account.device-secret')).toBe(
    network.to('/auth/login')[0]?.headers.get('X-Device-Secret'),
  );
});
