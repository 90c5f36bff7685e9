import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '@auth-account/local-stack';
import type { Collections } from '@auth-account/stores';
import { hash } from '@node-rs/argon2';
import { password } from '../../../support/api/accounts.ts';
import { requestTo } from '../../../support/api/api-driver.ts';
import { seedAccounts } from '../../../support/api/seed-accounts.ts';
import { startTestStack } from '../../../support/processes/test-stack.ts';
import { runAtOnce } from '../concurrent-load.ts';
import { type HttpLane, openHttpLane } from '../cost/http-lane.ts';
import { type LoadClient, startLoadClient } from './load-client.ts';
import type { BenchSession } from './mint-sessions.ts';
import { monotonicNow } from './monotonic-now.ts';
import { type Percentiles, percentilesOf, rounded } from './percentiles.ts';

export interface LogoutOptions {
  /** Number of logouts that are measured one after another, after `warmUp` logouts that are not measured. */
  readonly single: number;
  readonly warmUp: number;
  /** Number of logouts started per second, and number of seconds. */
  readonly perSecond: number;
  readonly seconds: number;
  readonly log: (line: string) => void;
}

export interface LogoutResult {
  /** Time from the request to the close frame at the client, with one logout in flight. */
  readonly single: Percentiles;
  /** Time from the request to its 200, with one logout in flight. */
  readonly singleAnswer: Percentiles;
  /** Time of a write to a session's document that a majority has on disk, measured in turns with these logouts. */
  readonly bareWrite: Percentiles;
  readonly flood: {
    readonly wantedPerSecond: number;
    /** Rate from the first request to the last answer. */
    readonly donePerSecond: number;
    readonly requestToClose: Percentiles;
    readonly requestToAnswer: Percentiles;
  };
}

interface LoggedIn extends BenchSession {
  readonly refreshToken: string;
}

const loginsAtOnce = 16;
const warmUpAtOnce = 8;
const cheapHash = { memoryCost: 64, timeCost: 1, parallelism: 1 } as const;

/**
 * Logs out real sessions at the real api and watches their streams close. Hashes may be cheap, because no measured time
 * contains one.
 */
export async function measureLogouts(options: LogoutOptions): Promise<LogoutResult> {
  const [apiPort, pushPort] = [await findFreePort(), await findFreePort()];
  const stack = await startTestStack({
    API_PORT: String(apiPort),
    PUSH_PORT: String(pushPort),
    ARGON2_MEMORY_KIB: String(cheapHash.memoryCost),
    ARGON2_PASSES: String(cheapHash.timeCost),
    VALIDATE_RESPONSES: 'false',
    LOG_LEVEL: 'warn',
  });
  const directory = await mkdtemp(join(tmpdir(), 'push-bench-'));
  const api = openHttpLane(apiPort, 128);
  let client: LoadClient | undefined;
  try {
    const count = options.warmUp + options.single + options.perSecond * options.seconds;
    const emails = await seedAccounts(stack.collections, count, await hash(password, cheapHash));
    const sessions = await logInAll(api, emails);
    options.log(`  ${sessions.length} sessions logged in`);
    const file = join(directory, 'sessions.json');
    await writeFile(file, JSON.stringify(sessions));
    client = await startLoadClient({ sessions: file, network: 1 });
    await client.open({ port: pushPort, from: 0, to: count, inFlight: 64 });
    const logOut = createLogOut(api, client, sessions);
    const write = (index: number) => writeSession(stack.collections, sessions[index]?.sessionId ?? '');
    const { warmUp, single } = options;
    await runAtOnce({ count: warmUp, atOnce: warmUpAtOnce }, async (index) => {
      await logOut(index);
      await write(index);
    });
    const oneByOne = await logOutOneByOne(logOut, write, { first: warmUp, count: single });
    return { ...oneByOne, flood: await logOutAtRate(logOut, warmUp + single, options) };
  } finally {
    api.close();
    await client?.end();
    await stack.close();
    await rm(directory, { recursive: true });
  }
}

async function logInAll(api: HttpLane, emails: readonly string[]): Promise<LoggedIn[]> {
  const rest = [...emails];
  const sessions: LoggedIn[] = [];
  const lane = async () => {
    for (let email = rest.pop(); email !== undefined; email = rest.pop()) {
      const data = await api.send(requestTo('logIn', { email, password }));
      const { session_id: sessionId, access_token: token, refresh_token: refreshToken } = data;
      sessions.push({ sessionId, token, refreshToken, groupId: data.home_group_id });
    }
  };
  await Promise.all(Array.from({ length: loginsAtOnce }, lane));
  return sessions;
}

interface LoggedOut {
  readonly toClose: number;
  readonly toAnswer: number;
  readonly answeredAt: number;
}

function createLogOut(api: HttpLane, client: LoadClient, sessions: readonly LoggedIn[]) {
  return async (index: number): Promise<LoggedOut> => {
    const { token, refreshToken } = sessions[index] ?? { token: '', refreshToken: '' };
    const closed = client.closed(index);
    const begun = monotonicNow();
    const body = { refresh_token: refreshToken };
    const answered = api.send({ ...requestTo('logOut', body), token }).then(monotonicNow);
    const [{ at, code }, answeredAt] = await Promise.all([closed, answered]);
    if (code !== 1000) throw new Error(`the stream of a logout closed with ${code}`);
    return { toClose: at - begun, toAnswer: answeredAt - begun, answeredAt };
  };
}

type LogOut = ReturnType<typeof createLogOut>;

/** Does only the write of a logout. */
async function writeSession({ sessions }: Collections, _id: string): Promise<void> {
  const $set = { last_used_at: new Date() };
  const { matchedCount } = await sessions.updateOne({ _id }, { $set }, { writeConcern: { w: 'majority' } });
  if (matchedCount === 0) throw new Error('there is no such session');
}

async function logOutOneByOne(
  logOut: LogOut,
  write: (index: number) => Promise<void>,
  { first, count }: { readonly first: number; readonly count: number },
) {
  const done: LoggedOut[] = [];
  const writes: number[] = [];
  for (let index = first; index < first + count; index += 1) {
    done.push(await logOut(index));
    const begun = monotonicNow();
    await write(index);
    writes.push(monotonicNow() - begun);
  }
  return {
    single: percentilesOf(done.map(({ toClose }) => toClose)),
    singleAnswer: percentilesOf(done.map(({ toAnswer }) => toAnswer)),
    bareWrite: percentilesOf(writes),
  };
}

/** Starts each logout when it is due, even if earlier ones have not ended, so that waiting counts as latency. */
async function logOutAtRate(logOut: LogOut, first: number, { perSecond, seconds }: LogoutOptions) {
  const underWay: Promise<LoggedOut>[] = [];
  const count = perSecond * seconds;
  const begun = monotonicNow();
  while (underWay.length < count) {
    const due = Math.min(count, Math.ceil(((monotonicNow() - begun) / 1_000) * perSecond));
    while (underWay.length < due) underWay.push(logOut(first + underWay.length));
    await delay(1);
  }
  const done = await Promise.all(underWay);
  const lastAnswer = Math.max(...done.map(({ answeredAt }) => answeredAt));
  return {
    wantedPerSecond: perSecond,
    donePerSecond: rounded((count / (lastAnswer - begun)) * 1_000),
    requestToClose: percentilesOf(done.map(({ toClose }) => toClose)),
    requestToAnswer: percentilesOf(done.map(({ toAnswer }) => toAnswer)),
  };
}
