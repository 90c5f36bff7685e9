import type { TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';

/** Number of requests of a flood: 200 unless `FLOOD_REQUESTS` says 1000 (`npm run test:long codes`). */
const floodRequests = Number(process.env.FLOOD_REQUESTS || 200);
const atOnce = 50;

/** Sends requests to pods of one deployment in turn, many at once, and a last one after all of them. */
export async function flood(
  pods: readonly TestApi[],
  send: (pod: TestApi, index: number) => Promise<Answer>,
  count = floodRequests,
): Promise<Answer[]> {
  const sendNumber = (index: number) => send(pods[index % pods.length] as TestApi, index);
  const answers: Answer[] = [];
  while (answers.length < count) {
    const burst = Array.from({ length: Math.min(atOnce, count - answers.length) }, (_, at) => answers.length + at);
    answers.push(...(await Promise.all(burst.map(sendNumber))));
  }
  return [...answers, await sendNumber(count)];
}

/** Returns the ids of the sessions that answers have opened. */
export const sessionsIn = (answers: readonly Answer[]): Set<string> =>
  new Set(answers.flatMap(({ status, json }) => (status === 200 ? [json.data.session_id] : [])));

/** Returns statuses and codes of the answers that are neither 200 nor in the list. */
export function othersIn(answers: readonly Answer[], allowed: readonly string[]): string[] {
  const refused = answers.filter(({ status }) => status !== 200);
  return refused.map(({ status, json }) => `${status} ${json.error_code}`).filter((text) => !allowed.includes(text));
}
