import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type RouteName, routes } from '@auth-account/contracts';
import { openApiPath } from '@auth-account/contracts/openapi';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type GoodRequest, goodRequests, requestFor } from '../../support/api/good-requests.ts';
import { openApiChecker } from '../../support/api/openapi-checker.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { type Answer, keepConnections, send } from '../../support/http-client.ts';
import { bodiesLike } from './arbitrary-bodies.ts';

/**
 * The answer to any body must be one that the document describes, and never a 5xx. Each operation gets
 * `CONFORMANCE_BODIES` bodies, which `CONFORMANCE_SEED` determines.
 */
const { CONFORMANCE_BODIES = '20', CONFORMANCE_SEED = '1' } = process.env;
const names = Object.keys(routes) as RouteName[];
const bodiesEach = Number(CONFORMANCE_BODIES);
/** Operations whose answers the last test reads. They get five times as many bodies, or it would depend on the seed. */
const sampled: readonly RouteName[] = ['registerAccount', 'logIn', 'refreshTokens', 'logOut'];
/** Number of bodies that are sent at once, in one run of the property. */
const batch = 20;

const checker = openApiChecker(
  JSON.parse(await readFile(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')),
);
const agent = keepConnections({ maxSockets: batch });

let api: TestApi;
let goods: ReadonlyMap<RouteName, GoodRequest>;
beforeAll(async () => {
  api = await startTestApi();
  goods = new Map(await Promise.all(names.map(async (name) => [name, await goodRequests[name](api)] as const)));
});
afterAll(async () => {
  agent.destroy();
  await api.close();
});

/** Each operation gets other bodies, which do not change with a new operation before it. */
const seedOf = (name: RouteName) => createHash('sha256').update(`${CONFORMANCE_SEED} ${name}`).digest().readInt32BE();

let sent = 0;
const statuses = new Map<string, number>();

async function sendBytes(name: RouteName, body: Buffer): Promise<Answer & { readonly requestId: string }> {
  const { method, path, headers } = requestFor(name, goods.get(name) ?? {});
  sent += 1;
  const requestId = `body-${sent}`;
  const needed = {
    'Content-Type': 'application/json',
    'X-Request-ID': requestId,
    // Every other body has an idempotency key, which is always new, so that no answer is a repeated one.
    ...(sent % 2 === 0 ? { 'Idempotency-Key': requestId } : {}),
  };
  return { requestId, ...(await send(api.base, { method, path, headers: { ...needed, ...headers }, body, agent })) };
}

/** Returns the answer's fault; undefined if there is none. */
async function faultOf(name: RouteName, body: Buffer): Promise<string | undefined> {
  const { path, method } = routes[name];
  const answer = await sendBytes(name, body);
  const key = `${name} ${answer.status}`;
  statuses.set(key, (statuses.get(key) ?? 0) + 1);
  if (answer.status >= 500) return `${answer.status} ${answer.text}`;
  if (answer.headers['x-request-id'] !== answer.requestId) return 'X-Request-ID is not the one that was sent';
  return checker.answerFault({ path: openApiPath(path), method }, answer);
}

// guarantees: no-500-from-body
test.each(names)(
  '%s answers any body as its document says, and never with a 5xx',
  async (name) => {
    const bodies = fc.array(bodiesLike(goods.get(name)?.body ?? {}), { minLength: batch, maxLength: batch });
    await fc.assert(
      fc.asyncProperty(bodies, async (list) => {
        const faults = await Promise.all(list.map((body) => faultOf(name, body)));
        expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
      }),
      { numRuns: Math.ceil(bodiesEach / batch) * (sampled.includes(name) ? 5 : 1), seed: seedOf(name) },
    );
  },
  300_000 + 75 * bodiesEach,
);

test('the generated bodies get past the first check, and as many were sent as planned', () => {
  const seen = [...statuses.keys()];
  for (const [name, wanted] of Object.entries({
    registerAccount: [201, 409, 422],
    logIn: [200, 401],
    refreshTokens: [200, 401],
    logOut: [404, 422],
    listPublicKeys: [200],
  })) {
    expect(seen).toEqual(expect.arrayContaining(wanted.map((status) => `${name} ${status}`)));
  }
  expect(seen.some((key) => key.endsWith(' 413'))).toBe(true);
  expect(sent).toBeGreaterThanOrEqual(bodiesEach * names.length);
  if (process.env.CONFORMANCE_BODIES !== undefined) {
    const counts = [...statuses].sort().map(([key, count]) => `${key}: ${count}`);
    console.info(`${sent} bodies: ${counts.join(', ')}`);
  }
});
