import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { collectionsOf } from '@auth-account/stores';
import { hash } from '@node-rs/argon2';
import { MongoClient } from 'mongodb';
import { logIn, newEmail, password } from './accounts.ts';
import type { FloodOrder, FloodReport } from './flood-clients.ts';
import { type FloodedApi, startFloodedApi } from './flooded-api.ts';
import { keepConnections, send } from './http-client.ts';
import { seedAccounts } from './seed-accounts.ts';
import { type Timed, timed } from './timed.ts';

export interface Flood {
  readonly logins: readonly Timed[];
  /** Milliseconds from the first login until the last was sent. */
  readonly sendingMs: number;
  /** Times of other requests: before the logins began, and while they were under way. */
  readonly quiet: Probes;
  readonly flooded: Probes;
  /** Resident memory of the api, in MiB: before, and the highest seen. */
  readonly memoryBefore: number;
  readonly memoryPeak: number;
  /** Number of concurrent hashes that the api has logged. */
  readonly slots: number;
  /** Number of restarts of its process. */
  readonly restarts: number;
}

export interface Probes {
  readonly keys: readonly Timed[];
  readonly refreshes: readonly Timed[];
}

export interface FloodOptions {
  /** Number of logins at once. */
  readonly logins: number;
  /** Number of rounds. A round starts when the round before was answered. */
  readonly rounds?: number;
  /** Milliseconds from the start of one round to the next, even if answers are still missing. */
  readonly everyMs?: number;
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Number of logins before the flood, by default 100, because V8 compiles code that runs often. 0 if times do not
   * matter.
   */
  readonly warmUpLogins?: number;
}

const quietMs = 1_000;
const memoryIntervalMs = 100;

/**
 * Starts an api process with production's hashes, and sends it `logins` logins at once from a separate thread: half of
 * them right, half for addresses that do not exist. While the flood lasts, this thread reads the public keys and
 * refreshes a session, one request at a time and over a kept connection, as an ingress would.
 */
export async function floodLogins(options: FloodOptions): Promise<Flood> {
  const { logins, rounds = 1, everyMs, env = {}, warmUpLogins = 100 } = options;
  const api = await startFloodedApi(env);
  const endings: (() => Promise<void> | void)[] = [api.close];
  try {
    const [phone = '', ...rest] = await seed(api, logins / 2 + 1);
    const post = postTo(api);
    await warmUp(post, warmUpLogins);
    const probe = startProbes(api, (await logIn({ post }, phone)).refresh_token);
    endings.push(probe.close);
    const quietUntil = performance.now() + quietMs;
    const quiet = await probe.until(() => performance.now() >= quietUntil);
    const memoryBefore = await api.memory();
    let isOver = false;
    let memoryPeak = memoryBefore;
    const watchMemory = async () => {
      while (!isOver) {
        memoryPeak = Math.max(memoryPeak, await api.memory());
        await pause(memoryIntervalMs);
      }
    };
    const targets = () => rest.flatMap((email) => [email, newEmail()]);
    const [{ answers, sendingMs }, flooded] = await Promise.all([
      flood({ base: api.base, rounds: Array.from({ length: rounds }, targets), everyMs }).finally(() => {
        isOver = true;
      }),
      probe.until(() => isOver),
      watchMemory(),
    ]);
    return {
      logins: answers,
      sendingMs,
      quiet,
      flooded,
      memoryBefore,
      memoryPeak,
      slots: api.slots(),
      restarts: api.restarts(),
    };
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

type Post = ReturnType<typeof postTo>;

function postTo({ base }: FloodedApi) {
  return (path: string, body: unknown) =>
    send(base, { path, body, headers: { 'Content-Type': 'application/json', 'X-Request-ID': randomUUID() } });
}

/**
 * Sends logins for addresses that do not exist, twenty at a time, because the first run of any code in a process takes
 * many times as long as later runs.
 */
async function warmUp(post: Post, logins: number): Promise<void> {
  for (let done = 0; done < logins; done += 20) {
    const emails = Array.from({ length: 20 }, newEmail);
    await Promise.all(emails.map((email) => post('/api/v1/auth/login', { email, password })));
  }
}

async function flood(order: FloodOrder): Promise<FloodReport> {
  const worker = new Worker(new URL('./flood-clients.ts', import.meta.url), { workerData: order, execArgv: [] });
  const [report] = await once(worker, 'message');
  return report;
}

function startProbes(api: FloodedApi, refreshToken: string) {
  const agent = keepConnections({ maxSockets: 1 });
  const headers = { 'Content-Type': 'application/json', 'X-Request-ID': 'probe' };
  let token = refreshToken;
  const refresh = async () => {
    const answer = await send(api.base, {
      path: '/api/v1/auth/refresh',
      headers,
      body: { refresh_token: token },
      agent,
    });
    if (answer.status === 200) token = answer.json.data.refresh_token;
    return answer;
  };
  return {
    async until(isOver: () => boolean): Promise<Probes> {
      const [keys, refreshes]: [Timed[], Timed[]] = [[], []];
      do {
        keys.push(await timed(() => send(api.base, { method: 'GET', path: '/.well-known/jwks.json', headers, agent })));
        refreshes.push(await timed(refresh));
      } while (!isOver());
      return { keys, refreshes };
    },
    close: () => agent.destroy(),
  };
}
