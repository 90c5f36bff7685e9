import { type AuthClient, type AuthEvent, type AuthStorage, createAuthClient, type Timers } from '@auth-account/client';
import { type Account, account } from '@auth-account/client/account';
import { boundKey, memoryKeys } from '@auth-account/client/bound-key';
import { type Household, household } from '@auth-account/client/household';
import { type Passkeys, passkeys } from '@auth-account/client/passkeys';
import { type SecondFactor, secondFactor } from '@auth-account/client/second-factor';
import { type Sessions, sessions } from '@auth-account/client/sessions';
import { memoryStorage } from '@auth-account/client/testing';
import { createAuthenticator } from '../../../support/api/authenticator.ts';
import { testIssuer } from '../../../support/api/device-key.ts';
import { appOrigin } from '../../../support/api/passkeys.ts';
import { createPhoneNetwork, createSwitch, type NetworkOptions } from './phone-network.ts';
import { createSecrets } from './secrets.ts';

type Auth = AuthClient & Account & Household & Passkeys & SecondFactor & Sessions;

/** One run of the app on a phone. */
export interface App {
  readonly auth: Auth;
  /** Returns true until the app is killed. */
  isAlive(): boolean;
}

export interface PhoneOptions extends NetworkOptions {
  readonly onEvent: (event: AuthEvent) => void;
  /** True if the app binds its sessions to a key of the phone. */
  readonly isBound: boolean;
}

/** A promise for the code of a killed app, which never settles. */
export const never = () => new Promise<never>(() => undefined);

/** Starts a run of an app on a storage that outlives it. Returns the parts of the platform that end with the app. */
function beginLife(kept: AuthStorage) {
  const running = new Set<NodeJS.Timeout>();
  let isOver = false;
  const unlessOver = <T>(work: () => Promise<T>): Promise<T> => (isOver ? never() : work());
  return {
    isOver: () => isOver,
    end() {
      isOver = true;
      for (const timer of running) clearTimeout(timer);
    },
    /** Passes the outcome on to the app, unless the app has ended before. */
    notify: <T>(outcome: Promise<T>): Promise<T> =>
      outcome.then(
        (value) => unlessOver(async () => value),
        (error) => unlessOver(() => Promise.reject(error)),
      ),
    storage: {
      get: (key) => unlessOver(() => kept.get(key)),
      set: (key, value) => unlessOver(() => kept.set(key, value)),
      remove: (key) => unlessOver(() => kept.remove(key)),
    } satisfies AuthStorage,
    timers: {
      after(ms, work) {
        if (isOver) return () => undefined;
        const timer = setTimeout(work, ms);
        running.add(timer);
        return () => clearTimeout(timer);
      },
    } satisfies Timers,
  };
}

/** Creates a phone with the app on it. Its storage outlives the app. */
export function createPhone({ onEvent, isBound, ...options }: PhoneOptions) {
  const bound = isBound ? { boundKey: boundKey(memoryKeys(), { origin: testIssuer }) } : {};
  const storage = memoryStorage();
  const secrets = createSecrets();
  const network = createPhoneNetwork(options, secrets);
  const foreground = createSwitch();
  const authenticator = createAuthenticator({ origin: appOrigin });
  let running: { readonly auth: Auth; readonly life: ReturnType<typeof beginLife> } | undefined;

  return {
    secrets,
    network,
    foreground,
    /** The phone's passkeys. */
    authenticator,
    /** Starts the app, which must not be running. */
    start(): App {
      const life = beginLife(storage);
      const bridge = {
        create: (options: never) => life.notify(Promise.resolve(authenticator.create(options))),
        get: (options: never) => life.notify(Promise.resolve(authenticator.get(options))),
      };
      const auth = createAuthClient({
        groups: [account, household, passkeys(bridge), secondFactor, sessions],
        baseUrl: 'http://api.example.com',
        storage: life.storage,
        timers: life.timers,
        fetch: (url, init) => (life.isOver() ? never() : life.notify(network.fetch(url, init))),
        WebSocket: network.WebSocket,
        connectivity: network.signal,
        appState: foreground.signal,
        device: { name: 'Phone', platform: 'android' },
        log: secrets.hear,
        ...bound,
      });
      auth.subscribe((event) => life.isOver() || onEvent(event));
      running = { auth, life };
      return { auth, isAlive: () => !life.isOver() };
    },
    /** Ends the app as a phone's system does. Nothing goes on, not even a write that has begun. */
    kill() {
      running?.life.end();
      network.cut();
      running?.auth.close();
      running = undefined;
    },
  };
}
