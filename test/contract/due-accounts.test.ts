import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newEmail, newSession, password } from '../support/api/accounts.ts';
import {
  changeEmail,
  confirmReset,
  logInByCode,
  requestLoginCode,
  requestReset,
  undoTokenOf,
} from '../support/api/codes.ts';
import { addPasskey, logInByPasskey } from '../support/api/passkeys.ts';
import {
  linkByProof,
  linkIdentity,
  logInByProvider,
  newHome,
  newPerson,
  proveByCode,
} from '../support/api/providers.ts';
import { switchOn } from '../support/api/second-factor.ts';
import { askStepUp, confirmStepUp } from '../support/api/step-up.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const statusAndCode = ({ status, json }: Answer) => [status, json.error_code];

/**
 * Creates an account with every sign-in method, a second factor that waits for its removal, and a changed email
 * email address.
 */
async function everyReader() {
  const session = await newSession(api);
  const [email, person] = [newEmail(), newPerson()];
  await changeEmail(api, session, email);
  await linkIdentity(api, session, person);
  const { authenticator } = await addPasskey(api, session);
  await switchOn(api, session);
  const removal = { id: 'order', ordered_at: new Date(), due_at: new Date(Date.now() + 3_600_000), by: 'mail' };
  await update(session.user_id, { 'totp.removal': removal });
  return { ...session, email, person, authenticator, undoToken: await undoTokenOf(api, session.user_id) };
}
type SignInMethods = Awaited<ReturnType<typeof everyReader>>;

const update = (_id: string, $set: object) => api.collections.users.updateOne({ _id }, { $set });
const anHourAgo = () => new Date(Date.now() - 3_600_000);

/** Asks for a link of another identity, and proves the account by `prove`. */
async function link(
  { email }: SignInMethods,
  prove: (challenge: { link_challenge_id: string }) => Promise<object> | object,
) {
  const answer = await logInByProvider(api, newPerson({ email }), newHome);
  if (answer.json.error_code !== 'ERR-ACCOUNT-LINK-REQUIRED') return answer;
  return linkByProof(api, answer.json.details.link_challenge_id, await prove(answer.json.details));
}

async function stepUp(session: SignInMethods) {
  const asked = await askStepUp(api, session, 'totp');
  return asked.status === 200 ? confirmStepUp(api, session, asked.json.data.challenge_id) : asked;
}

const wrongPassword = [401, 'ERR-INVALID-CREDENTIALS'] as const;
const taken = [409, 'ERR-EMAIL-ALREADY-EXISTS'] as const;
const wrongCode = [403, 'ERR-CODE-INVALID'] as const;

/** Each sign-in method, and its answer once the erasure is due. */
const signInMethods: [string, (account: SignInMethods) => Promise<Answer>, readonly [number, string]][] = [
  ['the password', ({ email }) => api.logIn({ email, password }), wrongPassword],
  ['a passkey', ({ authenticator }) => logInByPasskey(api, authenticator), [403, 'ERR-PASSKEY-INVALID']],
  ['a provider', ({ person }) => logInByProvider(api, person, newHome), taken],
  ['a code', async ({ email }) => logInByCode(api, await requestLoginCode(api, email)), wrongCode],
  ['a link by the password', (account) => link(account, () => ({ password })), taken],
  ['a link by a code', (account) => link(account, (asked) => proveByCode(api, asked.link_challenge_id)), taken],
  ['a restore', ({ email }) => api.restoreAccount({ email, password }), wrongPassword],
  ['a reset', async ({ email }) => confirmReset(api, await requestReset(api, email)), wrongCode],
  ['a step-up', stepUp, [401, 'IAD_JWT_ACCESS_INVALID']],
  ['an undo', ({ undoToken: undo_token }) => api.undoEmailChange({ undo_token }), wrongCode],
];

// guarantees: factor-removal-by-owner
test.each(signInMethods)('%s needs no second factor from the time of its removal on', async (_, enter) => {
  const account = await everyReader();
  await update(account.user_id, { 'totp.removal.due_at': anHourAgo() });
  expect(statusAndCode(await enter(account))).toEqual([200, undefined]);
});

// guarantees: due-account-is-gone
test.each(signInMethods)('%s finds no account from the time of its erasure on', async (_, enter, expected) => {
  const account = await everyReader();
  await update(account.user_id, { deletes_at: anHourAgo() });
  expect(statusAndCode(await enter(account))).toEqual(expected);
});
