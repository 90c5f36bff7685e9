import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { password } from './accounts.ts';
import { keepConnections, send } from './http-client.ts';
import { type Timed, timed } from './timed.ts';

/** Input of the thread: rounds of logins. A round sends a login for each of its addresses, all at once. */
export interface FloodOrder {
  readonly base: string;
  readonly rounds: readonly (readonly string[])[];
  /**
   * Milliseconds from the start of one round to the next, on connections that are kept, as a proxy keeps them. If
   * undefined, a round starts on new connections when the last round was answered.
   */
  readonly everyMs?: number | undefined;
}

/** Result of the thread when all logins were answered. */
export interface FloodReport {
  readonly answers: readonly Timed[];
  /** Milliseconds from the first login until the last was sent. */
  readonly sendingMs: number;
}

const { base, rounds, everyMs } = workerData as FloodOrder;
const agent = everyMs === undefined ? undefined : keepConnections();

async function attempt(email: string): Promise<Timed> {
  const headers = { 'Content-Type': 'application/json', 'X-Request-ID': randomUUID() };
  try {
    return await timed(() => send(base, { path: '/api/v1/auth/login', headers, body: { email, password }, agent }));
  } catch (error) {
    return { status: 0, ms: Number.NaN, retryAfter: undefined, error: (error as NodeJS.ErrnoException).code };
  }
}

const sent: Promise<Timed[]>[] = [];
const begun = performance.now();
for (const emails of rounds) {
  const answered = Promise.all(emails.map(attempt));
  sent.push(answered);
  await (everyMs === undefined ? answered : pause(begun + sent.length * everyMs - performance.now()));
}
const sendingMs = performance.now() - begun;
const answers = (await Promise.all(sent)).flat();
agent?.destroy();
parentPort?.postMessage({ answers, sendingMs } satisfies FloodReport);
