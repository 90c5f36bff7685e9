import { expect, test } from '@jest/globals';
import { createAuthClient } from '../create-auth-client.ts';
import { createFakeService, memoryStorage } from '../testing/fake-service.ts';
import {
  type AppState,
  keychainStorage,
  promptedStorage,
  type ReactNativeParts,
  secureStorage,
} from './react-native.ts';

/** `AppState` as React Native declares it. */
interface PublishedAppState {
  currentState: 'active' | 'background' | 'inactive' | 'unknown' | 'extension';
  addEventListener(
    type: 'change' | 'memoryWarning' | 'blur' | 'focus',
    listener: (state: PublishedAppState['currentState']) => void,
  ): { remove(): void };
}

test('stored data stays on the phone, and is readable after the first unlock', async () => {
  const options: unknown[] = [];
  const note = async (...given: readonly unknown[]) => {
    options.push(given.at(-1));
    return null;
  };
  const expo = secureStorage({
    AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY: 3,
    getItemAsync: note,
    setItemAsync: note as never,
    deleteItemAsync: note as never,
  });
  await expo.set('auth-account.session.0', 'a');
  const keychain = keychainStorage({
    ACCESSIBLE: { AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY: 'AccessibleAfterFirstUnlockThisDeviceOnly' },
    getGenericPassword: async () => false,
    setGenericPassword: async (_name, _value, given) => options.push(given),
    resetGenericPassword: async () => true,
  });
  await keychain.set('auth-account.session.0', 'a');
  // A backup on a second phone would be a second holder of the tokens, which is theft.
  expect(options).toEqual([
    { keychainAccessible: 3 },
    { service: 'auth-account.session.0', accessible: 'AccessibleAfterFirstUnlockThisDeviceOnly' },
  ]);
});

// answers: expo 23426, https://github.com/expo/expo/issues/23426
// After a restored backup no entry of the secure store could be decrypted.
test.each([
  ['E_CRYPTO_FAILED', 'Decryption failed: Authentication tag verification failed.', true],
  ['ERR_SECURESTORE_DECRYPT', 'Could not decrypt: javax.crypto.AEADBadTagException', true],
  ['E_CRYPTO_FAILED', 'android.security.keystore.KeyPermanentlyInvalidatedException', true],
  ['E_CRYPTO_FAILED', 'Could not decrypt bytes: Keystore operation failed', false],
  ['-25308', 'User interaction is not allowed.', false],
])('a key store that fails with %s (%s) has lost its content for good: %s', async (code, message, isLost) => {
  const fail = async () => {
    throw Object.assign(new Error(message), { code });
  };
  const parts = {
    AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY: 3,
    getItemAsync: fail,
    setItemAsync: fail,
    deleteItemAsync: fail,
  };
  const accessible = { ACCESSIBLE: { AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY: 'x' } };
  const calls = { getGenericPassword: fail, setGenericPassword: fail, resetGenericPassword: fail };
  for (const storage of [secureStorage(parts), keychainStorage({ ...accessible, ...calls })]) {
    await expect(storage.get('auth-account.session.0')).rejects.toMatchObject({ isLost });
  }
});

test('the adapter uses React Native’s own AppState', () => {
  // The compiler checks the assignment.
  const take = (published: PublishedAppState): ReactNativeParts['appState'] => published satisfies AppState;
  expect(take).toBeInstanceOf(Function);
});

test('nothing secret is read before the prompt', async () => {
  const storage = promptedStorage(memoryStorage(), async () => undefined);
  const names = ['session.0', 'session.1', 'trusted', 'device-secret'];
  const secret = names.map((name) => `auth-account.${name}`);
  for (const key of secret) await expect(storage.get(key)).rejects.toThrow('the storage is locked');
  expect(await storage.get('auth-account.device')).toBeUndefined();
  await storage.unlock();
  for (const key of secret) expect(await storage.get(key)).toBeUndefined();
});

test('a prompt that is dismissed signs nobody out, and the client itself never asks', async () => {
  const inner = memoryStorage();
  const service = createFakeService();
  const credentials = { email: 'anna@example.com', password: 'a long password' };
  const first = createAuthClient({ ...service, storage: inner });
  await first.register({ ...credentials, space_creation_mode: 'CREATE_NEW_HOME' });
  const { session_id } = await first.logIn(credentials);
  first.close();

  let prompts = 0;
  let isDismissed = true;
  const storage = promptedStorage(inner, async () => {
    prompts += 1;
    if (isDismissed) throw new Error('User canceled the authentication');
  });
  const auth = createAuthClient({ ...service, storage });
  const ends: string[] = [];
  auth.subscribe(({ type }) => type === 'signed_out' && ends.push(type));
  const unknown = { code: 'CLIENT_STATE_UNKNOWN' };
  await expect(auth.ready()).rejects.toMatchObject(unknown);
  await expect(storage.unlock()).rejects.toThrow('User canceled');
  for (const work of [auth.ready, auth.accessToken, () => auth.logIn(credentials)]) {
    await expect(work()).rejects.toMatchObject(unknown);
  }
  expect([auth.state(), prompts]).toEqual([{ status: 'unknown', isUnreadable: true }, 1]);

  isDismissed = false;
  await storage.unlock();
  expect(await auth.ready()).toMatchObject({ status: 'signed_in', session: { session_id } });
  for (let renewals = 0; renewals < 3; renewals += 1) {
    service.expireAccessTokens();
    expect((await auth.fetch('/api/v1/account')).status).toBe(200);
  }
  expect([prompts, ends]).toEqual([2, []]);
  auth.close();
});
