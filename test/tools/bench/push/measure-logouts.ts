import { setTimeout as delay } from 'node:timers/promises';
import type { KeyFiles } from '@auth-account/local-stack';
import type { Collections } from '@auth-account/stores';
import { logOut as requestLogout } from '../../../support/api/accounts.ts';
import { apiAt, dataOf } from '../../../support/api/api-driver.ts';
import { keepConnections } from '../../../support/http-client.ts';
import { startTestStack } from '../../../support/processes/test-stack.ts';
import { runAtOnce } from '../concurrent-load.ts';
import { newTestBed } from '../cost/own-candidate.ts';
import { type SeededSession, seededTokenSeconds } from '../cost/session-seeds.ts';
import { monotonicNow, percentilesOf, rounded } from '../report/figures.ts';
import { type LoadClient, startLoadClient } from './load-client.ts';

export type LogoutResult = Awaited<ReturnType<typeof measureLogouts>>;

/** Number of logouts that are measured one after another, after others that are not measured. */
const [warmUpCount, singleCount] = [2_000, 300];
const warmUpAtOnce = 8;
const perSecond = 200;
const floodCount = 10 * perSecond;

/**
 * Logs out sessions at the real api and watches their streams close. The times are from the request to its 200, and to
 * the close frame at the client.
 */
export async function measureLogouts(keys: KeyFiles) {
  const stack = await startTestStack({
    ACCESS_TOKEN_MAX_TTL_SECONDS: String(seededTokenSeconds),
    VALIDATE_RESPONSES: 'false',
    LOG_LEVEL: 'warn',
  });
  const agent = keepConnections({ maxSockets: 128 });
  const client = startLoadClient(warmUpCount + singleCount + floodCount);
  try {
    const { sessions: seedSessions } = newTestBed(stack.collections, keys);
    const sessions = await seedSessions(warmUpCount + singleCount + floodCount);
    const streams = sessions.map(({ session_id, access_token }) => ({ sessionId: session_id, token: access_token }));
    const port = Number(new URL(stack.pushUrl).port);
    await client.call('open', { port, sessions: streams, from: 0, inFlight: 64 });
    const logOut = createLogOut(apiAt(stack.apiUrl, { agent }), client, sessions);
    const write = (index: number) => writeSession(stack.collections, sessions[index]?.session_id ?? '');
    await runAtOnce({ count: warmUpCount, atOnce: warmUpAtOnce }, async (index) => {
      await logOut(index);
      await write(index);
    });
    const oneByOne = await logOutOneByOne(logOut, write);
    return { ...oneByOne, flood: await logOutAtRate(logOut) };
  } finally {
    agent.destroy();
    await client.close();
    await stack.close();
  }
}

interface LoggedOut {
  readonly toClose: number;
  readonly toAnswer: number;
  readonly answeredAt: number;
}

type LogOut = (index: number) => Promise<LoggedOut>;

function createLogOut(api: ReturnType<typeof apiAt>, client: LoadClient, sessions: readonly SeededSession[]): LogOut {
  return async (index) => {
    const session = sessions[index] as SeededSession;
    const closed = client.call('closed', index);
    const begun = monotonicNow();
    const answered = dataOf(requestLogout(api, session)).then(monotonicNow);
    const [{ at, code }, answeredAt] = await Promise.all([closed, answered]);
    if (code !== 1000) throw new Error(`the stream of a logout closed with ${code}`);
    return { toClose: at - begun, toAnswer: answeredAt - begun, answeredAt };
  };
}

/** Does only the write of a logout. */
async function writeSession({ sessions }: Collections, _id: string): Promise<void> {
  const $set = { last_used_at: new Date() };
  const { matchedCount } = await sessions.updateOne({ _id }, { $set }, { writeConcern: { w: 'majority' } });
  if (matchedCount === 0) throw new Error('there is no such session');
}

/** Measures in turns a logout, and a write to a session's document that a majority has on disk. */
async function logOutOneByOne(logOut: LogOut, write: (index: number) => Promise<void>) {
  const done: LoggedOut[] = [];
  const writes: number[] = [];
  for (let index = warmUpCount; index < warmUpCount + singleCount; index += 1) {
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
async function logOutAtRate(logOut: LogOut) {
  const underWay: Promise<LoggedOut>[] = [];
  const begun = monotonicNow();
  while (underWay.length < floodCount) {
    const due = Math.min(floodCount, Math.ceil(((monotonicNow() - begun) / 1_000) * perSecond));
    while (underWay.length < due) underWay.push(logOut(warmUpCount + singleCount + underWay.length));
    await delay(1);
  }
  const done = await Promise.all(underWay);
  const lastAnswer = Math.max(...done.map(({ answeredAt }) => answeredAt));
  return {
    wantedPerSecond: perSecond,
    /** Rate from the first request to the last answer. */
    donePerSecond: rounded((floodCount / (lastAnswer - begun)) * 1_000),
    requestToClose: percentilesOf(done.map(({ toClose }) => toClose)),
    requestToAnswer: percentilesOf(done.map(({ toAnswer }) => toAnswer)),
  };
}
