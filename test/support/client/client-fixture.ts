import {
  type AuthClient,
  type AuthClientOptions,
  AuthError,
  type AuthEvent,
  createAuthClient,
  type LogEntry,
} from '@auth-account/client';
import { type Account, account } from '@auth-account/client/account';
import { type Federated, federated } from '@auth-account/client/federated';
import { type Household, household } from '@auth-account/client/household';
import { type LoginCode, loginCode } from '@auth-account/client/login-code';
import { type PasskeyBridge, type Passkeys, passkeys } from '@auth-account/client/passkeys';
import { type SecondFactor, secondFactor } from '@auth-account/client/second-factor';
import { type Sessions, sessions } from '@auth-account/client/sessions';
import { type StepUp, stepUp } from '@auth-account/client/step-up';
import { newEmail, password } from '../api/accounts.ts';
import { type Authenticator, createAuthenticator } from '../api/authenticator.ts';
import { appOrigin } from '../api/passkeys.ts';
import { startTestGateway } from '../gateway/gateway-fixture.ts';
import { startTestServices, type TestServicesOptions } from '../processes/test-services.ts';
import type { Environment } from '../service-environment.ts';
import { createLossyNetwork, recordSockets } from './app-network.ts';
import { createHurriedTimers } from './hurried-timers.ts';
import { createMemoryStorage, type MemoryStorage } from './memory-storage.ts';

/** Options of an app that opens no stream. */
export const noStream = { stream: false } as const;

/** Returns the code of the `AuthError` that the work ends with, and `none` if it succeeds. */
export function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error) => (error instanceof AuthError ? error.code : String(error)),
  );
}

/** An app: a client, its storage and its network. */
export interface TestApp {
  readonly client: AuthClient &
    Account &
    Federated &
    Household &
    LoginCode &
    Passkeys &
    SecondFactor &
    Sessions &
    StepUp;
  readonly storage: MemoryStorage;
  readonly network: ReturnType<typeof createLossyNetwork>;
  readonly events: AuthEvent[];
  readonly log: LogEntry[];
  readonly sockets: ReturnType<typeof recordSockets>;
  /** The device's passkeys. */
  readonly phone: Authenticator;
  /** Milliseconds by which the app's clocks are ahead of the real ones. */
  readonly clock: { wall: number; monotonic: number };
  /** Lets all running time-outs elapse now. */
  giveUpWaiting(): void;
  /** Kills the app and starts it again, with the same storage. */
  restart(options?: Partial<AuthClientOptions>): TestApp;
}

/** The real api, gateway and worker, and apps that use the client. */
export type ClientFixture = Awaited<ReturnType<typeof openClientFixture>>;

/** Starts the three services with settings that fit apps. `now`: the clock of api and gateway. */
export function startClientServices(env: Environment, overrides: Pick<TestServicesOptions, 'now'> = {}) {
  const failures = { LOGIN_ACCOUNT_FREE_FAILURES: '1000000', LOGIN_FREE_FAILURES: '15' };
  const worker = { DENY_LIST_INTERVAL_MS: '1000' };
  return startTestServices({ ...failures, EVENT_SUBSCRIBERS: '[]', ...env }, { worker, ...overrides });
}

const newPhone = () => createAuthenticator({ origin: appOrigin });

const bridgeOf = (authenticator: Authenticator): PasskeyBridge => ({
  create: async (options) => authenticator.create(options),
  get: async (options) => authenticator.get(options),
});

export async function openClientFixture(env: Environment = {}) {
  const services = await startClientServices(env);
  const { api, closing } = services;
  let { gateway } = services;
  const clients: AuthClient[] = [];

  function app(options: Partial<AuthClientOptions> = {}, storage = createMemoryStorage(), phone = newPhone()): TestApp {
    const network = createLossyNetwork();
    const events: AuthEvent[] = [];
    const log: LogEntry[] = [];
    const sockets = recordSockets();
    const clock = { wall: 0, monotonic: 0 };
    const timers = createHurriedTimers();
    const client = createAuthClient({
      baseUrl: api.base,
      storage,
      fetch: network.fetch,
      WebSocket: sockets.WebSocket,
      log: (entry) => log.push(entry),
      now: () => Date.now() + clock.wall,
      monotonic: () => performance.now() + clock.monotonic,
      timers,
      groups: [account, federated, household, loginCode, passkeys(bridgeOf(phone)), secondFactor, sessions, stepUp],
      ...options,
    });
    clients.push(client);
    client.subscribe((event) => events.push(event));
    return {
      client,
      storage,
      network,
      events,
      log,
      sockets,
      phone,
      clock,
      giveUpWaiting: timers.runLong,
      restart(changed = {}) {
        client.close();
        return app({ ...options, ...changed }, storage, phone);
      },
    };
  }

  return {
    api,
    get gateway() {
      return gateway;
    },
    app,
    /** Starts an app whose user has registered and logged in. */
    async signedIn(options?: Partial<AuthClientOptions>) {
      const made = app(options);
      const email = newEmail();
      await made.client.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
      await made.client.logIn({ email, password });
      return { ...made, email };
    },
    /** Starts another gateway and stops the first. */
    async replaceGateway() {
      const former = gateway;
      gateway = closing(await startTestGateway(services));
      await former.close();
    },
    async close() {
      for (const client of clients) client.close();
      await services.close();
    },
  };
}
