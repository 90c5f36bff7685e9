import { type AuthClient, type AuthEvent, createAuthClient, type Timers } from '@auth-account/client';
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

/** Begins a run of an app. Returns the parts of the platform that end with the app. */
function beginLife() {
  const running = new Set<NodeJS.Timeout>();
  let isOver = false;
  return {
    isOver: () => isOver,
    end() {
      isOver = true;
      for (const timer of running) clearTimeout(timer);
    },
    /** Returns the same work, which is not begun after the end of the app, and whose outcome it does not learn then. */
    whileItLives:
      <A extends unknown[], T>(work: (...args: A) => T | Promise<T>) =>
      async (...args: A): Promise<T> => {
        if (isOver) return never();
        try {
          return await work(...args);
        } finally {
          if (isOver) await never();
        }
      },
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
      const life = beginLife();
      const { whileItLives } = life;
      const bridge = {
        create: whileItLives((options: never) => authenticator.create(options)),
        get: whileItLives((options: never) => authenticator.get(options)),
      };
      const auth = createAuthClient({
        groups: [account, household, passkeys(bridge), secondFactor, sessions],
        baseUrl: 'http://api.example.com',
        storage: {
          get: whileItLives(storage.get),
          set: whileItLives(storage.set),
          remove: whileItLives(storage.remove),
        },
        timers: life.timers,
        fetch: whileItLives(network.fetch),
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
