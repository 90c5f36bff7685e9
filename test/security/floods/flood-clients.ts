import { randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { password } from '../../support/api/accounts.ts';
import { apiAt } from '../../support/api/api-driver.ts';
import { type Timed, timed } from '../../support/timed.ts';

/** Input of the thread, which logs in to each email address, all at once, and posts its answers. */
export interface FloodOrder {
  readonly base: string;
  readonly emails: readonly string[];
}

const { base, emails } = workerData as FloodOrder;

async function attempt(email: string): Promise<Timed> {
  const api = apiAt(base, { headers: { 'X-Request-ID': randomUUID() } });
  try {
    return await timed(() => api.logIn({ email, password }));
  } catch (error) {
    return { status: 0, ms: Number.NaN, retryAfter: undefined, error: (error as NodeJS.ErrnoException).code };
  }
}

parentPort?.postMessage(await Promise.all(emails.map(attempt)));
