import { type AuthClient, type AuthEvent, createAuthClient } from '@auth-account/client';
import { type Account, account } from '@auth-account/client/account';
import { boundKey, memoryKeys } from '@auth-account/client/bound-key';
import { type Household, household } from '@auth-account/client/household';
import { type Passkeys, passkeys } from '@auth-account/client/passkeys';
import { type SecondFactor, secondFactor } from '@auth-account/client/second-factor';
import { type Sessions, sessions } from '@auth-account/client/sessions';

type Auth = AuthClient & Account & Household & Passkeys & SecondFactor & Sessions;

import { memoryStorage } from '@auth-account/client/testing';
import { type Authenticator, createAuthenticator } from '../../../support/api/authenticator.ts';
import { testIssuer } from '../../../support/api/device-key.ts';
import { appOrigin } from '../../../support/api/passkeys.ts';
import { type AppLife, beginLife, never } from './app-life.ts';
import { createPhoneNetwork, type NetworkOptions, type PhoneNetwork } from './phone-network.ts';
import { createSecrets, type Secrets } from './secrets.ts';
import { createSwitch, type Switch } from './switch.ts';

/** A phone with the app on it. Its storage outlives the app. */
export interface Phone {
  readonly secrets: Secrets;
  readonly network: PhoneNetwork;
  readonly foreground: Switch;
  /** The phone's passkeys. */
  readonly authenticator: Authenticator;
  /** Starts the app, which must not be running. */
  start(): App;
  /** Ends the app as a phone's system does. Nothing goes on, not even a write that has begun. */
  kill(): void;
}

/** One run of the app on a phone. */
export interface App {
  readonly auth: Auth;
  /** Returns true until the app is killed. */
  isAlive(): boolean;
}

export interface PhoneOptions extends Omit<NetworkOptions, 'secrets'> {
  readonly onEvent: (event: AuthEvent) => void;
  /** True if the app binds its sessions to a key of the phone. */
  readonly isBound: boolean;
}

export function createPhone({ onEvent, isBound, ...signInMethods }: PhoneOptions): Phone {
  const bound = isBound ? { boundKey: boundKey(memoryKeys(), { origin: testIssuer }) } : {};
  const storage = memoryStorage();
  const secrets = createSecrets();
  const network = createPhoneNetwork({ ...signInMethods, secrets });
  const foreground = createSwitch();
  const authenticator = createAuthenticator({ origin: appOrigin });
  let running: { readonly auth: Auth; readonly life: AppLife } | undefined;

  return {
    secrets,
    network,
    foreground,
    authenticator,
    start() {
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
    kill() {
      running?.life.end();
      network.cut();
      running?.auth.close();
      running = undefined;
    },
  };
}
