import { setTimeout as pause } from 'node:timers/promises';
import { password } from '../../../support/api/accounts.ts';
import { apiAt } from '../../../support/api/api-driver.ts';
import { keepConnections } from '../../../support/http-client.ts';
import type { TestServers } from '../../../support/stores/start-test-servers.ts';
import { type Timed, timed } from '../../../support/timed.ts';
import { percentilesOf, rounded } from '../report/figures.ts';
import { apiOf, newTestBed, startOwnCandidate } from './own-candidate.ts';

export type OverloadResult = Awaited<ReturnType<typeof measureOverload>>;

/** As many as in Zitadel's benchmark of logins. */
const people = 600;
const seconds = 30;

/**
 * Lets people log in again and again, each as soon as the answer is there, or after the time that a refusal names. The
 * api's queue of hashes has its usual limit.
 */
export async function measureOverload(servers: TestServers) {
  const plan = { ...apiOf('api'), env: { HASH_QUEUE_TIMEOUT_MS: '1000' } };
  const candidate = await startOwnCandidate(plan, servers);
  const agent = keepConnections({ maxSockets: people });
  const api = apiAt(candidate.base, { agent });
  const answers: Timed[] = [];
  try {
    const emails = await newTestBed(candidate.collections, servers.keys).accounts(people);
    const end = performance.now() + seconds * 1_000;
    const logInAgainAndAgain = async (email: string) => {
      for (let left = end - performance.now(); left > 0; left = end - performance.now()) {
        const answer = await timed(() => api.logIn({ email, password }));
        answers.push(answer);
        if (answer.status === 503) await pause(Math.min(Number(answer.retryAfter) * 1_000, left));
      }
    };
    await Promise.all(emails.map(logInAgainAndAgain));
  } finally {
    agent.destroy();
    await candidate.end();
  }
  const timesOf = (status: number) => answers.filter((answer) => answer.status === status).map(({ ms }) => ms);
  const [served, refused] = [timesOf(200), timesOf(503)];
  if (served.length + refused.length < answers.length) throw new Error('a login got neither 200 nor 503');
  return {
    perSecond: rounded(served.length / seconds),
    refusedPercent: rounded((refused.length / answers.length) * 100),
    /** Times from the request to the 200, and to the 503. */
    served: percentilesOf(served),
    refused: percentilesOf(refused),
  };
}
