import type { AuthStorage, DeviceSignal, Platform } from '../platform/platform.ts';

/** The part of `expo-secure-store` that the adapter uses. */
export interface SecureStore {
  readonly AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY?: number;
  getItemAsync(key: string, options?: SecureStoreOptions): Promise<string | null>;
  setItemAsync(key: string, value: string, options?: SecureStoreOptions): Promise<void>;
  deleteItemAsync(key: string, options?: SecureStoreOptions): Promise<void>;
}
interface SecureStoreOptions {
  keychainAccessible?: number;
  keychainService?: string;
}

/** The part of `react-native-keychain` that the adapter uses. */
export interface Keychain {
  readonly ACCESSIBLE: { readonly AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY: string };
  getGenericPassword(options: { service: string }): Promise<false | { readonly password: string }>;
  setGenericPassword(
    username: string,
    password: string,
    options: { service: string; accessible: never },
  ): Promise<unknown>;
  resetGenericPassword(options: { service: string }): Promise<unknown>;
}

/** The part of `@react-native-community/netinfo` that the adapter uses. */
export interface NetInfo {
  addEventListener(listener: (state: { readonly isConnected: boolean | null }) => void): () => void;
}

/** The part of React Native's `AppState` that the adapter uses. */
export interface AppState {
  readonly currentState: string;
  addEventListener(type: 'change', listener: (state: string) => void): { remove(): void };
}

export interface ReactNativeParts {
  /** `expo-secure-store`, or {@link keychainStorage} of `react-native-keychain`. */
  readonly storage: AuthStorage;
  readonly appState: AppState;
  readonly netInfo?: NetInfo;
  /** `randomUUID` of `expo-crypto`. It is not needed if `crypto.getRandomValues` exists. */
  readonly randomUUID?: () => string;
}

/** Creates the platform's options for `createAuthClient` from the packages that the app has. */
export function reactNativePlatform({
  storage,
  appState,
  netInfo,
  randomUUID,
}: ReactNativeParts): Pick<Platform, 'storage' | 'appState'> & Partial<Pick<Platform, 'connectivity' | 'randomUUID'>> {
  return {
    storage,
    appState: appStateSignal(appState),
    ...(netInfo && { connectivity: networkSignal(netInfo) }),
    ...(randomUUID && { randomUUID }),
  };
}

/** Returns the key's name in the key store. Such a name may have only letters, digits, `.`, `-` and `_`. */
const nameOf = (key: string) => key.replace(/[^\w.-]/g, '_');

/**
 * Texts of Android and iOS about a value whose key is gone, as after a restored backup. A key store that is locked, or
 * busy, has other texts.
 */
const lost = /AEADBadTag|BadPadding|BAD_DECRYPT|tag verification failed|permanently ?invalidated|errSecDecode|-26275/i;

/** Reads a value. Marks the error if the value can never be read again. */
async function reading<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const { message, code } = (error ?? {}) as { readonly message?: unknown; readonly code?: unknown };
    throw Object.assign(new Error('the key store has failed'), { isLost: lost.test(`${code} ${message}`) });
  }
}

/**
 * Creates a storage in `expo-secure-store`. It is readable after the first unlock, because a refresh in the background
 * of a locked phone must find the token. Without the token, the client would take the user for signed out. It is not
 * copied to other devices, because a second holder of the tokens counts as theft.
 */
export function secureStorage(store: SecureStore): AuthStorage {
  const { AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY: keychainAccessible } = store;
  const options = keychainAccessible === undefined ? {} : { keychainAccessible };
  return {
    get: (key) => reading(() => store.getItemAsync(nameOf(key), options)),
    set: (key, value) => store.setItemAsync(nameOf(key), value, options),
    remove: (key) => store.deleteItemAsync(nameOf(key), options),
  };
}

/** Creates a storage in `react-native-keychain`. It is readable under the same conditions as {@link secureStorage}. */
export function keychainStorage(keychain: Keychain): AuthStorage {
  const accessible = keychain.ACCESSIBLE.AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY as never;
  return {
    async get(key) {
      const found = await reading(() => keychain.getGenericPassword({ service: nameOf(key) }));
      return found ? found.password : undefined;
    },
    async set(key, value) {
      const service = nameOf(key);
      // `setGenericPassword` reports a refusal with `false`.
      if (!(await keychain.setGenericPassword(service, value, { service, accessible }))) {
        throw new Error('the keychain has refused a value');
      }
    },
    async remove(key) {
      await keychain.resetGenericPassword({ service: nameOf(key) });
    },
  };
}

/** A storage whose sessions can't be read until the user has passed the app's prompt. */
export interface PromptedStorage extends AuthStorage {
  /**
   * Shows the prompt. If the prompt rejects, this rejects too and nothing changes. Call the client's `ready()`
   * afterwards.
   */
  unlock(): Promise<void>;
}

/**
 * Creates a storage behind a biometric prompt, which the user passes once for each start of the app. Until `unlock` the
 * state is `unknown`. The client itself never shows the prompt, because it also reads the storage for refreshes in the
 * background.
 */
export function promptedStorage(storage: AuthStorage, prompt: () => Promise<unknown>): PromptedStorage {
  let isUnlocked = false;
  return {
    set: (key, value) => storage.set(key, value),
    remove: (key) => storage.remove(key),
    async unlock() {
      await prompt();
      isUnlocked = true;
    },
    async get(key) {
      // The device's id and the keys of intents are not secret.
      if (!isUnlocked && /\.(session\.\d|trusted|device-secret)$/.test(key)) throw new Error('the storage is locked');
      return storage.get(key);
    },
  };
}

function networkSignal(netInfo: NetInfo): DeviceSignal {
  // Null means not known yet.
  return { subscribe: (listener) => netInfo.addEventListener(({ isConnected }) => listener(isConnected !== false)) };
}

function appStateSignal(appState: AppState): DeviceSignal {
  return {
    subscribe(listener) {
      const report = (state: string) => listener(state === 'active');
      const subscription = appState.addEventListener('change', report);
      report(appState.currentState);
      return () => subscription.remove();
    },
  };
}
