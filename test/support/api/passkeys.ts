import type { Answer } from '../http-client.ts';
import { type Account, password } from './accounts.ts';
import { type ApiDriver, bearer, type Caller, dataOf } from './api-driver.ts';
import { type Authenticator, type AuthenticatorSettings, type Ceremony, createAuthenticator } from './authenticator.ts';
import { askStepUp, confirmStepUp } from './step-up.ts';
import type { TestApi } from './test-api.ts';

/** Settings of passkeys for the apis of tests. */
export const passkeySettings = {
  WEBAUTHN_RP_ID: 'example.com',
  WEBAUTHN_ORIGINS: 'https://app.example.com,https://pantry.example.org',
  WEBAUTHN_RELATED_ORIGINS: 'https://pantry.example.org',
  APPLE_APP_IDS: 'A1B2C3D4E5.com.example.pantry',
  ANDROID_APPS: ['14', '15'].map((first) => `com.example.pantry=${first}${':6D'.repeat(31)}`).join(),
};

/** Settings of an api without passkeys. */
export const withoutPasskeys = Object.fromEntries(Object.keys(passkeySettings).map((name) => [name, '']));

/** The origin of the app's page. */
export const appOrigin = 'https://app.example.com';

/** Asks for a challenge for a new passkey. Throws if the answer is not 200. */
export async function requestPasskey(on: ApiDriver, caller: Caller) {
  return dataOf(on.createPasskeyChallenge({ current_password: password }, bearer(caller)));
}

/** Asks for a challenge to log in by passkey. Throws if the answer is not 200. */
export async function requestPasskeyLogin(on: ApiDriver) {
  return dataOf(on.createPasskeyLoginChallenge());
}

/** Adds a passkey of a new authenticator to the account. Throws if the answer is not 201. */
export async function addPasskey(on: ApiDriver, caller: Caller, settings: Partial<AuthenticatorSettings> = {}) {
  const authenticator = createAuthenticator({ origin: appOrigin, ...settings });
  const { challenge_id, options } = await requestPasskey(on, caller);
  const credential = authenticator.create(options);
  const body = { challenge_id, credential, name: 'Pixel 9' };
  const { passkey_id } = await dataOf(on.createPasskey(body, bearer(caller)), 201);
  return { authenticator, passkey_id: String(passkey_id), credential_id: credential.id };
}

/** Returns the body of a login by passkey. */
export async function passkeyLogin(
  on: ApiDriver,
  authenticator: Authenticator,
  ceremony: Ceremony & { readonly credentialId?: string } = {},
) {
  const { challenge_id, options } = await requestPasskeyLogin(on);
  return { challenge_id, credential: authenticator.get(options, ceremony) };
}

/** Logs in by passkey. */
export async function logInByPasskey(
  on: ApiDriver,
  authenticator: Authenticator,
  fields: object = {},
): Promise<Answer> {
  return on.logInByPasskey({ ...(await passkeyLogin(on, authenticator)), ...fields });
}

/** Returns a step-up token by passkey. Throws if it gets none. */
export async function stepUpByPasskey(
  on: ApiDriver,
  caller: Caller,
  authenticator: Authenticator,
  purpose: string,
): Promise<string> {
  const { challenge_id, passkey_options } = await dataOf(askStepUp(on, caller, purpose));
  const credential = authenticator.get(passkey_options);
  return (await dataOf(confirmStepUp(on, caller, challenge_id, { method: 'passkey', credential }))).step_up_token;
}

/** Makes the password unusable, as an undo does. */
export async function revokePassword(
  on: Pick<TestApi, 'collections'>,
  { user_id }: Pick<Account, 'user_id'>,
): Promise<void> {
  await on.collections.users.updateOne({ _id: user_id }, { $set: { is_password_void: true } });
}

/** Removes a passkey. */
export const deletePasskey = (
  on: ApiDriver,
  caller: Caller,
  passkey_id: string,
  body: object = { current_password: password },
): Promise<Answer> => on.deletePasskey({ passkey_id, ...body }, bearer(caller));
