import { randomUUID } from 'node:crypto';
import { type Route, type RouteName, routes } from '@auth-account/contracts';
import { waitUntil } from '@auth-account/local-stack';
import type { AccessTokenClaims } from '@auth-account/verifier/access-token';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { type Account, logIn, newEmail, newSession, password, type TokenPair } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { createAuthenticator } from '../../support/api/authenticator.ts';
import { goodRequests, sendTo } from '../../support/api/good-requests.ts';
import { addPasskey, appOrigin, deletePasskey, requestPasskey } from '../../support/api/passkeys.ts';
import { linkIdentity, newPerson, unlinkIdentity } from '../../support/api/providers.ts';
import { beginTotp, codeAt } from '../../support/api/second-factor.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { completeDenyListOf } from '../../support/gateway/gateway-fixture.ts';
import type { Answer } from '../../support/http-client.ts';
import { type HoldingProxy, startHoldingProxy } from '../../support/stores/holding-proxy.ts';
import { mongodbAt, testEnvironment } from '../../support/test-environment.ts';

let api: TestApi;
/** An api of the same deployment that reaches MongoDB through `proxy`. */
let slow: TestApi;
let proxy: HoldingProxy;
beforeAll(async () => {
  api = await startTestApi();
  proxy = await startHoldingProxy(Number(new URL(testEnvironment().mongodbUri).port));
  const MONGODB_URI = mongodbAt(proxy.port);
  slow = await api.beside({ MONGODB_URI });
});
afterAll(async () => {
  await slow.close();
  await proxy.close();
  await api.close();
});

type Thief = Account & TokenPair;
/** Prepares a request, and returns the function that sends it. */
type Prepare = (thief: Thief) => Promise<() => Promise<Answer>>;
const current_password = password;

const requests: [string, Prepare][] = [
  [
    'adds a passkey',
    async (thief) => {
      const { challenge_id, options } = await requestPasskey(api, thief);
      const credential = createAuthenticator({ origin: appOrigin }).create(options);
      return () => slow.createPasskey({ challenge_id, credential, name: 'Pixel 9' }, bearer(thief));
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
      return () => slow.confirmTotp({ factor_id, code: codeAt(secret) }, bearer(thief));
    },
  ],
  [
    'changes the password',
    async (thief) => () => slow.changePassword({ current_password, new_password: randomUUID() }, bearer(thief)),
  ],
  [
    'asks for a change of the email address',
    async (thief) => () => slow.requestEmailChange({ current_password, new_email: newEmail() }, bearer(thief)),
  ],
  ['names the group', async (thief) => () => slow.renameGroup({ name: 'Mine' }, bearer(thief))],
  ['orders the deletion', async (thief) => () => slow.scheduleDeletion({ current_password }, bearer(thief))],
];

/** Waits until the proxy holds so many answers. */
const heldReads = (count: number) =>
  waitUntil(async () => proxy.held() === count, { what: 'the reads of the account', timeoutMs: 30_000 });

// guarantees: logout-is-final
test.each(requests)(
  'a request that %s changes nothing once a logout of its session was answered',
  async (_, prepare) => {
    const thief = await newSession(api);
    const owner = await logIn(api, thief.email);
    const send = await prepare(thief);
    const state = () =>
      Promise.all([
        api.collections.users.findOne({ _id: thief.user_id }),
        api.collections.groups.findOne({ _id: thief.home_group_id }),
      ]);
    proxy.hold(thief.user_id);
    const answer = send();
    await heldReads(1);
    let before: unknown;
    try {
      const logout = await api.logOutAll({ except_current: true }, bearer(owner));
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

const changing = (Object.entries(routes) as [RouteName, Route][])
  .filter(([, { auth, method }]) => auth === 'bearer' && method !== 'get')
  .map(([name]) => name);

/** They read, have nothing to change, or grant a challenge that only a live session can answer. */
const changingNothing = [
  ...['exportAccount', 'deleteTotp', 'createRecoveryCodes', 'deleteSecondFactorRemoval'],
  ...['createStepUpChallenge', 'createPasskeyChallenge'],
];

/**
 * Returns all that the database holds, but for proofs, which a request uses up whatever its answer, and the
 * generations, which the api notes in the background.
 */
async function stored() {
  const { consumedProofs: _, upgrades: __, ...collections } = api.collections;
  const documents = Object.entries(collections).map(async ([name, each]) => [name, await each.find().toArray()]);
  return Object.fromEntries(await Promise.all(documents));
}

// guarantees: logout-is-final
test.each(changing)('%s changes nothing for a session that has ended since its token was checked', async (name) => {
  const { headers = {}, ...good } = await goodRequests[name](api);
  const { sid = '', user_id = '' } = decodeJwt<AccessTokenClaims>(headers.Authorization?.slice(7) ?? '');
  // The end is not in the deny list, which is complete, so the request is like one that is past the check of its token.
  const end = { is_revoked: true, revoked_at: new Date(), revoked_reason: 'revoked_by_user' } as const;
  const { modifiedCount } = await api.collections.sessions.updateMany({ _id: sid, user_id }, { $set: end });
  expect(modifiedCount).toBe(1);
  await completeDenyListOf(api.keyPrefix);
  const before = await stored();
  const { status, json } = await sendTo(name, api, { headers, ...good });
  expect(await stored()).toEqual(before);
  if (!changingNothing.includes(name)) expect([status, json.error_code]).toEqual([401, 'IAD_JWT_ACCESS_INVALID']);
});

test('a confirmation of an authenticator app is refused once another app took its place', async () => {
  const owner = await newSession(api);
  const { factor_id, secret } = await beginTotp(api, owner);
  proxy.hold(owner.user_id);
  const late = slow.confirmTotp({ factor_id, code: codeAt(secret) }, bearer(owner));
  await heldReads(1);
  const { factor_id: newer } = await beginTotp(api, owner).finally(() => proxy.release());
  const { status, json } = await late;
  expect([status, json.error_code]).toEqual([410, 'ERR-CODE-EXPIRED']);
  const user = await api.collections.users.findOne({ _id: owner.user_id });
  expect([user?.totp, user?.pending_totp?.factor_id]).toEqual([undefined, newer]);
});
