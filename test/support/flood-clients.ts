import { randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { password } from './accounts.ts';
import { send } from './http-client.ts';
import { type Timed, timed } from './timed.ts';

/** What the thread is given: logins for these addresses, all at once, and then as many again. */
export interface FloodOrder {
  readonly base: string;
  readonly rounds: readonly (readonly string[])[];
}

const { base, rounds } = workerData as FloodOrder;

async function attempt(email: string): Promise<Timed> {
  const headers = { 'Content-Type': 'application/json', 'X-Request-ID': randomUUID() };
  try {
    return await timed(() => send(base, { path: '/api/v1/auth/login', headers, body: { email, password } }));
  } catch (error) {
    return { status: 0, ms: Number.NaN, retryAfter: undefined, error: (error as NodeJS.ErrnoException).code };
  }
}

const answers: Timed[] = [];
for (const emails of rounds) answers.push(...(await Promise.all(emails.map(attempt))));
parentPort?.postMessage(answers);
