import {
  type AuthClient,
  type AuthClientOptions,
  type AuthEvent,
  createAuthClient,
  type LogEntry,
} from '@auth-account/client';
import { newEmail, password } from './accounts.ts';
import { startTestGateway, type TestGateway } from './gateway-scene.ts';
import { cheapHashes } from './groups.ts';
import { createLossyNetwork, type LossyNetwork } from './lossy-network.ts';
import { createMemoryStorage, type MemoryStorage } from './memory-storage.ts';
import { serviceEnvironment, startTestApi, type TestApi, uniqueName } from './test-api.ts';
import { eventually } from './worker-scene.ts';
import { startTestWorker } from './worker-service.ts';

/** An app: a client, its storage and its network. */
export interface TestApp {
  readonly client: AuthClient;
  readonly storage: MemoryStorage;
  readonly network: LossyNetwork;
  readonly events: AuthEvent[];
  readonly log: LogEntry[];
  /** Kills the app and starts it again, with the same storage. */
  restart(options?: Partial<AuthClientOptions>): TestApp;
}

/** The real api, gateway and worker, and apps that use the client. */
export interface ClientScene {
  readonly api: TestApi;
  readonly gateway: TestGateway;
  app(options?: Partial<AuthClientOptions>): TestApp;
  /** An app whose user has registered and logged in. */
  signedIn(options?: Partial<AuthClientOptions>): Promise<TestApp & { readonly email: string }>;
  close(): Promise<void>;
}

export async function openClientScene(env: Readonly<Record<string, string>> = {}): Promise<ClientScene> {
  const name = uniqueName();
  const gateway = await startTestGateway({ env: { ...serviceEnvironment(name), DRAIN_SECONDS: '0' } });
  const api = await startTestApi({
    ...cheapHashes,
    MONGODB_DATABASE: name,
    KEY_PREFIX: name,
    PUSH_PUBLIC_URL: gateway.base,
    LOGIN_ACCOUNT_FREE_FAILURES: '1000000',
    LOGIN_FREE_FAILURES: '15',
    ...env,
  });
  const worker = await startTestWorker({
    ...serviceEnvironment(name),
    EVENT_SUBSCRIBERS: '[]',
    DENY_LIST_INTERVAL_MS: '1000',
  });
  await eventually('the gateway is ready', async () => (await gateway.unreadiness()).length === 0);
  const clients: AuthClient[] = [];

  function app(options: Partial<AuthClientOptions> = {}, storage = createMemoryStorage()): TestApp {
    const network = createLossyNetwork();
    const events: AuthEvent[] = [];
    const log: LogEntry[] = [];
    const client = createAuthClient({
      baseUrl: api.base,
      storage,
      fetch: network.fetch,
      log: (entry) => log.push(entry),
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
      restart(changed = {}) {
        client.close();
        return app({ ...options, ...changed }, storage);
      },
    };
  }

  return {
    api,
    gateway,
    app: (options) => app(options),
    async signedIn(options) {
      const made = app(options);
      const email = newEmail();
      await made.client.register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
      await made.client.logIn({ email, password });
      return { ...made, email };
    },
    async close() {
      for (const client of clients) client.close();
      await worker.close();
      await api.close();
      await gateway.close();
    },
  };
}
