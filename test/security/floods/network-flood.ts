import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { newEmail, password, registerAccount } from '../../support/api/accounts.ts';
import { apiAt } from '../../support/api/api-driver.ts';
import { keepConnections } from '../../support/http-client.ts';
import { type Timed, timed } from '../../support/timed.ts';
import { startFloodedApi } from './flooded-api.ts';
import type { NetworkFloodOrder, NetworkFloodReport } from './network-flood-clients.ts';

export interface NetworkFloodOptions {
  /** Number of IP addresses that flood. */
  readonly addresses: number;
  /** Number of connections of each IP address. */
  readonly connections: number;
  readonly seconds: number;
  /** Ends the flood early when users elsewhere have sent this number of logins, successful or not. */
  readonly logins?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export interface NetworkFlood {
  /** Logins of users elsewhere. Each user logs in again and again while the flood lasts. */
  readonly victims: readonly Timed[];
  /** The answers that the flood got. */
  readonly flood: NetworkFloodReport;
}

const victims = 5;
const warmUps = 10;
/** Milliseconds between a user's answer and the next login. */
const pauseMs = 200;

/** Limits of one IP address in production, which the tests' environment raises. */
const productionLimits = { REGISTER_LIMIT_PER_ADDRESS: '100', LOGIN_LIMIT_PER_ADDRESS: '300' };

/**
 * Starts an api process with production's hashes and limits, and floods it from IP addresses of the loopback network.
 * Each connection repeats one registration under its idempotency key, or logs in to unknown accounts. Users elsewhere
 * log in at the same time.
 */
export async function floodFromNetworks(options: NetworkFloodOptions): Promise<NetworkFlood> {
  const { addresses, connections, seconds, logins: enough = Number.POSITIVE_INFINITY, env = {} } = options;
  const api = await startFloodedApi({ ...productionLimits, ...env });
  const users = Array.from({ length: victims }, (_, index) => {
    const email = newEmail();
    const agent = keepConnections({ localAddress: `127.0.1.${index + 1}` });
    const client = apiAt(api.base, { agent, headers: { 'X-Request-ID': 'victim' } });
    return {
      agent,
      register: () => registerAccount(client, email),
      logIn: () => timed(() => client.logIn({ email, password })),
    };
  });
  let flood: Flood | undefined;
  try {
    for (const user of users) {
      await user.register();
      // The first run of any code in a process takes many times as long as later runs.
      for (let each = 0; each < warmUps; each += 1) await user.logIn();
    }
    const floodFrom = Array.from({ length: addresses }, (_, index) => `127.0.2.${index + 1}`);
    flood = await startFlood({ base: api.base, addresses: floodFrom, connections });
    const logins: Timed[] = [];
    const keepLoggingIn = async ({ logIn }: (typeof users)[number]) => {
      while (performance.now() < until && logins.length < enough) {
        await pause(pauseMs);
        logins.push(await logIn());
      }
    };
    const until = performance.now() + seconds * 1_000;
    await Promise.all(users.map(keepLoggingIn));
    return { victims: logins, flood: await flood.end() };
  } finally {
    await flood?.terminate();
    for (const { agent } of users) agent.destroy();
    await api.close();
  }
}

type Flood = Awaited<ReturnType<typeof startFlood>>;

/** Starts a flood in a separate thread. `end` stops the flood and returns its answers. */
async function startFlood(workerData: NetworkFloodOrder) {
  const thread = new Worker(new URL('./network-flood-clients.ts', import.meta.url), { workerData, execArgv: [] });
  const report = once(thread, 'message');
  await once(thread, 'online');
  return {
    async end(): Promise<NetworkFloodReport> {
      thread.postMessage('enough');
      const [answers] = await report;
      return answers;
    },
    terminate: () => thread.terminate(),
  };
}
