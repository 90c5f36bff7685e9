import { expect, test } from '@jest/globals';
import { type AppState, keychainStorage, type ReactNativeParts, secureStorage } from './react-native.ts';

/** As React Native declares it. */
interface PublishedAppState {
  currentState: 'active' | 'background' | 'inactive' | 'unknown' | 'extension';
  addEventListener(
    type: 'change' | 'memoryWarning' | 'blur' | 'focus',
    listener: (state: PublishedAppState['currentState']) => void,
  ): { remove(): void };
}

test('what is stored stays on the phone, and is readable after the first unlock', async () => {
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

test("takes React Native's own AppState", () => {
  // The compiler checks it.
  const take = (published: PublishedAppState): ReactNativeParts['appState'] => published satisfies AppState;
  expect(take).toBeInstanceOf(Function);
});
