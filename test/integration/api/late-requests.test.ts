import { randomUUID } from 'node:crypto';
import { waitUntil } from '@auth-account/local-stack';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Account, logIn, newEmail, newSession, password, type TokenPair } from '../../support/accounts.ts';
import { createAuthenticator } from '../../support/authenticator.ts';
import { bearer } from '../../support/groups.ts';
import { type HoldingProxy, startHoldingProxy } from '../../support/holding-proxy.ts';
import type { Answer } from '../../support/http-client.ts';
import { addPasskey, appOrigin, deletePasskey, requestPasskey } from '../../support/passkeys.ts';
import { linkIdentity, newPerson, unlinkIdentity } from '../../support/providers.ts';
import { beginTotp, codeAt } from '../../support/second-factor.ts';
import { startTestApi, type TestApi, testEnvironment } from '../../support/test-api.ts';

let api: TestApi;
/** An api of the same deployment that reaches MongoDB through `proxy`. */
let slow: TestApi;
let proxy: HoldingProxy;
beforeAll(async () => {
  api = await startTestApi();
  proxy = await startHoldingProxy(Number(new URL(testEnvironment().mongodbUri).port));
  const MONGODB_URI = `mongodb://127.0.0.1:${proxy.port}/?directConnection=true`;
  slow = await startTestApi({ MONGODB_DATABASE: api.database, KEY_PREFIX: api.keyPrefix, MONGODB_URI });
});
afterAll(async () => {
  await slow.close({ keepData: true });
  await proxy.close();
  await api.close();
});

type Thief = Account & TokenPair;
/** Prepares a request, and returns the function that sends it. */
type Prepare = (thief: Thief) => Promise<() => Promise<Answer>>;
const post = (path: string, body: object, thief: Thief) => slow.post(`/api/v1/account/${path}`, body, bearer(thief));
const current_password = password;

const requests: [string, Prepare][] = [
  [
    'adds a passkey',
    async (thief) => {
      const { challenge_id, options } = await requestPasskey(api, thief);
      const credential = createAuthenticator({ origin: appOrigin }).create(options);
      return () => post('passkeys', { challenge_id, credential, name: 'Pixel 9' }, thief);
    },
  ],
  [
    'removes a passkey',
    async (thief) => {
      const { passkey_id } = await addPasskey(api, thief);
      return () => deletePasskey(slow, thief, passkey_id);
    },
  ],
  ['links an identity', async (thief) => () => linkIdentity(slow, thief, newPerson())],
  [
    'removes an identity',
    async (thief) => {
      const { identity_id } = (await linkIdentity(api, thief, newPerson())).json.data;
      return () => unlinkIdentity(slow, thief, identity_id);
    },
  ],
  [
    'switches the second factor on',
    async (thief) => {
      const { factor_id, secret } = await beginTotp(api, thief);
      return () => post('totp/confirm', { factor_id, code: codeAt(secret) }, thief);
    },
  ],
  [
    'changes the password',
    async (thief) => () => post('password', { current_password, new_password: randomUUID() }, thief),
  ],
  [
    'asks for a change of the address',
    async (thief) => () => post('email-change', { current_password, new_email: newEmail() }, thief),
  ],
  ['orders the deletion', async (thief) => () => post('deletion', { current_password }, thief)],
];

/** Waits until the proxy holds so many answers. */
const heldReads = (count: number) =>
  waitUntil(async () => proxy.held() === count, { what: 'the reads of the account', timeoutMs: 30_000 });

test.each(requests)(
  'a request that %s changes nothing once a logout of its session was answered',
  async (_, prepare) => {
    const thief = await newSession(api);
    const owner = await logIn(api, thief.email);
    const send = await prepare(thief);
    const state = () => api.collections.users.findOne({ _id: thief.user_id });
    proxy.hold(thief.user_id);
    const answer = send();
    await heldReads(1);
    let before: Awaited<ReturnType<typeof state>>;
    try {
      const logout = await api.post('/api/v1/auth/logout-all', { except_current: true }, bearer(owner));
      expect(logout.status).toBe(200);
      before = await state();
    } finally {
      proxy.release();
    }
    const { status, json } = await answer;
    expect([status, json.error_code]).toEqual([401, 'IAD_JWT_ACCESS_INVALID']);
    expect(await state()).toEqual(before);
  },
);

test('a confirmation of an authenticator app is refused once another app took its place', async () => {
  const owner = await newSession(api);
  const { factor_id, secret } = await beginTotp(api, owner);
  proxy.hold(owner.user_id);
  const late = post('totp/confirm', { factor_id, code: codeAt(secret) }, owner);
  await heldReads(1);
  const { factor_id: newer } = await beginTotp(api, owner).finally(() => proxy.release());
  const { status, json } = await late;
  expect([status, json.error_code]).toEqual([410, 'ERR-CODE-EXPIRED']);
  const user = await api.collections.users.findOne({ _id: owner.user_id });
  expect([user?.totp, user?.pending_totp?.factor_id]).toEqual([undefined, newer]);
});
