import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { collectionsOf } from '@auth-account/stores';
import { hash } from '@node-rs/argon2';
import { MongoClient } from 'mongodb';
import { logIn, newEmail, password } from '../../support/api/accounts.ts';
import { apiAt } from '../../support/api/api-driver.ts';
import { seedAccounts } from '../../support/api/seed-accounts.ts';
import { keepConnections } from '../../support/http-client.ts';
import { type Timed, timed } from '../../support/timed.ts';
import type { FloodOrder } from './flood-clients.ts';
import { type FloodedApi, startFloodedApi } from './flooded-api.ts';

export interface Flood {
  readonly logins: readonly Timed[];
  /** Other requests while the logins were under way: of the public keys, and refreshes. */
  readonly keys: readonly Timed[];
  readonly refreshes: readonly Timed[];
  /** Resident memory of the api, in MiB: before, and the highest seen. */
  readonly memoryBefore: number;
  readonly memoryPeak: number;
}

export interface FloodOptions {
  /** Number of logins at once. */
  readonly logins: number;
  readonly env?: Readonly<Record<string, string>>;
}

const memoryIntervalMs = 100;

/**
 * Starts an api process with production's hashes, and sends it `logins` logins at once from a separate thread: half of
 * them right, half for addresses that do not exist. While the flood lasts, this thread reads the public keys and
 * refreshes a session, one request at a time and over a kept connection, as an ingress would.
 */
export async function floodLogins({ logins, env = {} }: FloodOptions): Promise<Flood> {
  const api = await startFloodedApi(env);
  const endings: (() => Promise<void> | void)[] = [api.close];
  try {
    const [phone = '', ...rest] = await seed(api, logins / 2 + 1);
    const probe = startProbes(
      api,
      (await logIn(apiAt(api.base, { headers: { 'X-Request-ID': randomUUID() } }), phone)).refresh_token,
    );
    endings.push(probe.close);
    const memoryBefore = await api.memory();
    let isOver = false;
    let memoryPeak = memoryBefore;
    const watchMemory = async () => {
      while (!isOver) {
        memoryPeak = Math.max(memoryPeak, await api.memory());
        await pause(memoryIntervalMs);
      }
    };
    const emails = rest.flatMap((email) => [email, newEmail()]);
    const [answers, probed] = await Promise.all([
      flood({ base: api.base, emails }).finally(() => {
        isOver = true;
      }),
      probe.until(() => isOver),
      watchMemory(),
    ]);
    return { logins: answers, ...probed, memoryBefore, memoryPeak };
  } finally {
    for (const end of endings.reverse()) await end();
  }
}

/** Writes `count` accounts, and returns their addresses. */
async function seed({ mongodbUri, database }: FloodedApi, count: number): Promise<string[]> {
  const mongo = new MongoClient(mongodbUri);
  try {
    const passwordHash = await hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
    return await seedAccounts(collectionsOf(mongo.db(database)), count, passwordHash);
  } finally {
    await mongo.close();
  }
}

async function flood(order: FloodOrder): Promise<readonly Timed[]> {
  const worker = new Worker(new URL('./flood-clients.ts', import.meta.url), { workerData: order, execArgv: [] });
  const [answers] = await once(worker, 'message');
  return answers;
}

function startProbes(api: FloodedApi, refreshToken: string) {
  const agent = keepConnections({ maxSockets: 1 });
  const probe = apiAt(api.base, { headers: { 'X-Request-ID': 'probe' }, agent });
  let token = refreshToken;
  const refresh = async () => {
    const answer = await probe.refreshTokens({ refresh_token: token });
    if (answer.status === 200) token = answer.json.data.refresh_token;
    return answer;
  };
  return {
    async until(isOver: () => boolean): Promise<Pick<Flood, 'keys' | 'refreshes'>> {
      const [keys, refreshes]: [Timed[], Timed[]] = [[], []];
      do {
        keys.push(await timed(() => probe.listPublicKeys()));
        refreshes.push(await timed(refresh));
      } while (!isOver());
      return { keys, refreshes };
    },
    close: () => agent.destroy(),
  };
}
