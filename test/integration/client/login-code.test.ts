import { routes } from '@auth-account/contracts';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newEmail, password } from '../../support/api/accounts.ts';
import { codeOf as mailedCodeOf, wrongCodeOf } from '../../support/api/codes.ts';
import { codeAt } from '../../support/api/second-factor.ts';
import { type ClientFixture, codeOf, noStream, openClientFixture } from '../../support/client/client-fixture.ts';

const confirmPath = '/login-code/confirm';

let fixture: ClientFixture;

beforeAll(async () => {
  fixture = await openClientFixture();
});
afterAll(() => fixture.close());

/** An app whose user has a verified email address, and has logged out. */
async function signedOut() {
  const app = await fixture.signedIn(noStream);
  await fixture.api.collections.users.updateOne({ email: app.email }, { $set: { email_verified_at: new Date(0) } });
  return app;
}

test('a code opens a session; a lost answer is asked for again', async () => {
  const { client, email, network } = await signedOut();
  await client.logOut();
  const { challenge_id } = await client.loginCode.request({ email });
  const wrong = await wrongCodeOf(fixture.api, challenge_id);
  expect(await codeOf(client.loginCode.logIn({ challenge_id, code: wrong }))).toBe('ERR-CODE-INVALID');
  network.plan(confirmPath, 'answer_lost');
  const code = await mailedCodeOf(fixture.api, challenge_id);
  const session = await client.loginCode.logIn({ challenge_id, code });
  expect(client.state()).toEqual({ status: 'signed_in', session });
  expect((await client.sessions.list()).sessions).toHaveLength(1);
  expect(await codeOf(client.loginCode.resend({ challenge_id }))).toBe('ERR-CODE-INVALID');
});

/** Digits of full width, as keyboards for Chinese and Japanese have them. */
const wide = (code: string) => code.replace(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0));

test.each([
  ['spaces', (code: string) => ` ${code.slice(0, 4)} ${code.slice(4)}\n`],
  ['no-break spaces', (code: string) => `${code.slice(0, 4)}\u00a0${code.slice(4)}\u202f`],
  ['dashes', (code: string) => [...code].join('-').replace('-', '–').replace('-', '−').replace('-', '‑')],
  ['invisible characters', (code: string) => `\u200b\u2068${code}\u2069\ufeff`],
  ['digits of full width', wide],
])('a mailed code with %s, and a pasted email address, are read as they are meant', async (_, typed) => {
  const { client, email, network } = await signedOut();
  await client.logOut();
  const { challenge_id } = await client.loginCode.request({ email: `\u200b ${email}\u00a0` });
  const code = await mailedCodeOf(fixture.api, challenge_id);
  await client.loginCode.logIn({ challenge_id, code: typed(code) });
  expect(JSON.parse(network.to(confirmPath)[0]?.body ?? '')).toMatchObject({ code });
});

test('a login whose answer was lost is the same login, however the email address is typed', async () => {
  const { client, email, network } = await signedOut();
  await client.logOut();
  network.plan(routes.logIn.path, 'request_lost');
  const lost = client.logIn({ email: `${email.toUpperCase()}\u2060`, password });
  expect(await codeOf(lost)).toBe('CLIENT_NETWORK');
  await client.logIn({ email: `\ufeff${email} `, password });
  const keys = network.to(routes.logIn.path).map(({ headers }) => headers.get('Idempotency-Key'));
  expect(keys.at(-1)).toBe(keys.at(-2));
});

test('registrations, resets and changes of the email address read a pasted email address as it is meant', async () => {
  const { client, network } = fixture.app(noStream);
  const [email, next] = [newEmail(), newEmail()];
  await client.register({ email: `\u00a0${email} `, password, space_creation_mode: 'CREATE_NEW_HOME' });
  await client.logIn({ email, password });
  await client.account.passwordReset.request({ email: `${email}\u200b` });
  await client.account.emailChange.request({ new_email: `\t${next}\ufeff`, current_password: password });
  const sent = [...network.to('/password-reset'), ...network.to('/email-change')].map(({ body }) => JSON.parse(body));
  expect(sent).toMatchObject([{ email }, { new_email: next }]);
});

test('a recovery code counts in small letters, with spaces instead of hyphens', async () => {
  const { client, email } = await signedOut();
  const { factor_id, secret } = await client.secondFactor.createTotp({ current_password: password });
  const totp = codeAt(secret);
  const spaced = `${totp.slice(0, 3)} ${totp.slice(3)}`;
  const { recovery_codes } = await client.secondFactor.confirmTotp({ factor_id, code: spaced });
  await client.logOut();
  expect(await codeOf(client.logIn({ email, password }))).toBe('ERR-SECOND-FACTOR-REQUIRED');
  const code = ` ${recovery_codes[0]?.toLowerCase().replaceAll('-', ' ')}`;
  await client.secondFactor.confirm({ method: 'recovery_code', code });
  expect(client.state().status).toBe('signed_in');
});

test('a code waits for the second factor, and a device that is trusted needs none', async () => {
  const { client, email } = await signedOut();
  const { factor_id, secret } = await client.secondFactor.createTotp({ current_password: password });
  const { recovery_codes } = await client.secondFactor.confirmTotp({ factor_id, code: codeAt(secret) });
  await client.logOut();
  const begin = async (asked: string) => {
    const { challenge_id } = await client.loginCode.request({ email: asked });
    return client.loginCode.logIn({ challenge_id, code: await mailedCodeOf(fixture.api, challenge_id) });
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
  const { client, email, network, storage } = await fixture.signedIn(noStream);
  await client.logOut();
  for (let i = 0; i < 6; i += 1) {
    await fixture.api.logIn({ email, password: 'a wrong password' });
  }
  await client.logIn({ email, password });
  await client.account.passwordReset.request({ email });
  const shown = (part: string) => network.to(part).map(({ headers }) => headers.get('X-Device-Secret'));
  const secret = await storage.get('auth-account.device-secret');
  expect(secret).toMatch(/^[\w-]{36}$/);
  expect([...shown(routes.logIn.path), ...shown('/password-reset')]).toEqual(Array(3).fill(secret));
  expect(shown('/logout')).toEqual([null]);
});

test('a device whose secret can’t be read logs in without it', async () => {
  const { client, email, network, storage } = await fixture.signedIn(noStream);
  await client.logOut();
  const again = fixture.app(noStream, {
    ...storage,
    get: async (key) => {
      if (key.endsWith('.device-secret')) throw new Error('the storage is locked');
      return storage.get(key);
    },
  });
  await again.client.logIn({ email, password });
  expect(again.network.to(routes.logIn.path)[0]?.headers.get('X-Device-Secret')).toBeNull();
  expect(await storage.get('auth-account.device-secret')).toBe(
    network.to(routes.logIn.path)[0]?.headers.get('X-Device-Secret'),
  );
});
