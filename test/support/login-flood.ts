import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createProcessGuard,
  findFreePort,
  type LocalService,
  runMigrations,
  startService,
} from '@auth-account/local-stack';
import { collectionsOf } from '@auth-account/stores';
import { hash } from '@node-rs/argon2';
import { MongoClient } from 'mongodb';
import { logIn, newEmail, password } from './accounts.ts';
import { type Answer, send } from './http-client.ts';
import { openKeptConnection } from './kept-connection.ts';
import { seedAccounts } from './seed-accounts.ts';
import { serviceEnvironment, uniqueName } from './test-api.ts';

/** One answer of the flooded api. */
export interface Timed {
  readonly status: number;
  readonly ms: number;
  readonly retryAfter: string | undefined;
  /** Code of the socket's error where there was no answer; the status is 0 then. */
  readonly error?: string | undefined;
}

export interface Flood {
  readonly logins: readonly Timed[];
  /** What was asked beside the logins: before they began, and while they were under way. */
  readonly quiet: Probes;
  readonly flooded: Probes;
  /** Resident memory of the api, in MiB: before, and the most that was seen. */
  readonly memoryBefore: number;
  readonly memoryPeak: number;
  /** As the api logged it: how many hashes at once. */
  readonly slots: number;
}

export interface Probes {
  readonly keys: readonly Timed[];
  readonly refreshes: readonly Timed[];
}

export interface FloodOptions {
  /** Logins at once. */
  readonly logins: number;
  /** How often as many come, each time when all were answered. */
  readonly rounds?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** False where times are of no interest. */
  readonly isWarm?: boolean;
}

const mib = 1_048_576;
const quietMs = 1_000;

/**
 * Starts an api process with production's hashes and sends it that many logins at once, half of them right, half for
 * addresses of nobody's. Meanwhile it asks for the public keys and refreshes a session, one after another and over a
 * connection that stays, as an ingress would.
 */
export async function floodLogins({ logins, rounds = 1, env = {}, isWarm = true }: FloodOptions): Promise<Flood> {
  const api = await startApi(env);
  const endings: (() => Promise<void> | void)[] = [api.close];
  try {
    const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
    const mongo = new MongoClient(api.mongodbUri);
    const emails = await seedAccounts(
      collectionsOf(mongo.db(api.database)),
      logins / 2 + 1,
      await hash(password, cost),
    );
    await mongo.close();
    const [phone = '', ...rest] = emails;
    if (isWarm) await warmUp(api);
    const probe = await startProbes(api, (await logIn(api, phone)).refresh_token);
    endings.push(probe.close);
    const quietUntil = performance.now() + quietMs;
    const quiet = await probe.until(() => performance.now() >= quietUntil);
    const memoryBefore = await api.memory();
    let isOver = false;
    let memoryPeak = memoryBefore;
    const watchMemory = async () => {
      while (!isOver) memoryPeak = Math.max(memoryPeak, await api.memory());
    };
    const attempt = (email: string) =>
      timed(() => api.post('/api/v1/auth/login', { email, password })).catch(
        (error: NodeJS.ErrnoException): Timed => ({
          status: 0,
          ms: Number.NaN,
          retryAfter: undefined,
          error: error.code,
        }),
      );
    const flood = async () => {
      const answers: Timed[] = [];
      for (let round = 0; round < rounds; round++) {
        const targets = rest.flatMap((email) => [email, newEmail()]);
        answers.push(...(await Promise.all(targets.map(attempt))));
      }
      return answers;
    };
    const [answers, flooded] = await Promise.all([
      flood().finally(() => {
        isOver = true;
      }),
      probe.until(() => isOver),
      watchMemory(),
    ]);
    return { logins: answers, quiet, flooded, memoryBefore, memoryPeak, slots: api.slots() };
  } finally {
    for (const end of endings.reverse()) await end();
  }
}

type Api = Awaited<ReturnType<typeof startApi>>;

/** What a process does for the first time takes many times as long: logins of nobody's, ten at a time. */
async function warmUp(api: Api): Promise<void> {
  for (let round = 0; round < 10; round++) {
    const emails = Array.from({ length: 10 }, newEmail);
    await Promise.all(emails.map((email) => api.post('/api/v1/auth/login', { email, password })));
  }
}

async function startProbes(api: Api, refreshToken: string) {
  const connection = openKeptConnection(api.base);
  let token = refreshToken;
  const refresh = async () => {
    const answer = await connection.send({ path: '/api/v1/auth/refresh', body: { refresh_token: token } });
    if (answer.status === 200) token = JSON.parse(answer.text).data.refresh_token;
    return answer;
  };
  return {
    async until(isOver: () => boolean): Promise<Probes> {
      const [keys, refreshes]: [Timed[], Timed[]] = [[], []];
      do {
        keys.push(await timed(() => connection.send({ method: 'GET', path: '/.well-known/jwks.json' })));
        refreshes.push(await timed(refresh));
      } while (!isOver());
      return { keys, refreshes };
    },
    close: connection.close,
  };
}

async function timed(work: () => Promise<Pick<Answer, 'status' | 'headers'>>): Promise<Timed> {
  const start = performance.now();
  const { status, headers } = await work();
  return { status, ms: performance.now() - start, retryAfter: headers['retry-after'] };
}

async function startApi(settings: Readonly<Record<string, string>>) {
  const dir = await mkdtemp(join(tmpdir(), 'auth-account-flood-'));
  const guard = createProcessGuard(dir);
  const database = uniqueName();
  const [port, opsPort] = [await findFreePort(), await findFreePort()];
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...serviceEnvironment(database),
    API_PORT: String(port),
    API_OPS_PORT: String(opsPort),
    LOG_LEVEL: 'info',
    // As in production: four threads beside those of the hashes.
    UV_THREADPOOL_SIZE: String(availableParallelism() + 4),
    ...settings,
  };
  await runMigrations({ env, onLine: () => undefined, onSpawn: guard.watch });
  const lines: string[] = [];
  const onLine = (line: string) => lines.push(line);
  const api: LocalService = startService('api', { env, onLine, log: onLine, onSpawn: guard.watch });
  const base = `http://127.0.0.1:${port}`;
  const mongodbUri = env.MONGODB_URI ?? '';
  await api.waitUntilReady(40_000);
  const needed = { 'Content-Type': 'application/json' };
  return {
    base,
    database,
    mongodbUri,
    post: (path: string, body: unknown) =>
      send(base, { path, body, headers: { ...needed, 'X-Request-ID': randomUUID() } }),
    async memory() {
      const { text } = await send(`http://127.0.0.1:${opsPort}`, { method: 'GET', path: '/metrics' });
      return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / mib;
    },
    slots: () => Number(/"slots":(\d+)/.exec(lines.find((line) => line.includes('hash gate')) ?? '')?.[1]),
    async close() {
      await api.stop();
      const mongo = new MongoClient(mongodbUri);
      await mongo.db(database).dropDatabase();
      await mongo.close();
      await rm(dir, { recursive: true, force: true });
      guard.dismiss();
    },
  };
}

/** Number, median and 99th percentile of the times, in words. */
function inWords(answers: readonly Timed[]): string {
  const sorted = answers.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(1);
  return `n=${sorted.length} p50=${at(0.5)} p99=${at(0.99)} max=${at(1)} ms`;
}

/** What a flood came to, in lines. */
export function describeFlood({ logins, quiet, flooded, memoryBefore, memoryPeak, slots }: Flood): string {
  const others = logins.filter(({ status }) => ![200, 401, 503].includes(status));
  const of = (...statuses: number[]) => logins.filter(({ status }) => statuses.includes(status));
  return [
    `${logins.length} logins, ${slots} hashes at once: ${of(200).length} × 200, ${of(401).length} × 401, ${of(503).length} × 503`,
    ...(others.length === 0 ? [] : [`others: ${others.map(({ status, error }) => error ?? status).join(' ')}`]),
    `admitted: ${inWords(of(200, 401))}`,
    `shed: ${inWords(of(503))}`,
    `public keys: quiet ${inWords(quiet.keys)}; flooded ${inWords(flooded.keys)}`,
    `refresh: quiet ${inWords(quiet.refreshes)}; flooded ${inWords(flooded.refreshes)}`,
    `memory of the process: ${memoryBefore.toFixed(0)} MiB before, ${memoryPeak.toFixed(0)} MiB at most`,
  ].join('\n');
}
