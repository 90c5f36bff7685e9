import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { signIdToken } from '../support/api/providers.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { testEnvironment, unlimitedRequests } from '../support/test-environment.ts';
import { createWorld } from '../tools/faults/load/app.ts';
import { endAppConnections } from '../tools/faults/load/app-request.ts';
import { createHistory } from '../tools/faults/load/history.ts';
import { checkGuesses, createGuessedUser, guessSecret } from '../tools/faults/sign-in/guessed-user.ts';
import type { SignInWorld } from '../tools/faults/sign-in/sign-in-user.ts';

const redis = new Redis(testEnvironment().redisUrl);
/** Two apis with one database and one Redis. */
let apis: readonly [TestApi, TestApi];
let world: SignInWorld;

beforeAll(async () => {
  const limits = { ...unlimitedRequests, LOGIN_FREE_FAILURES: '15', LOGIN_ACCOUNT_FREE_FAILURES: '1000' };
  const env = { TRUST_PROXY_HOPS: '1', ...limits };
  const api = await startTestApi(env);
  apis = [api, await api.beside()];
  world = {
    ...(await createWorld({ apis: apis.map(({ base }) => base) })),
    provider: { sign: (claims) => signIdToken('office', claims) },
    redisAge: 0,
    insured: async () => 0,
    async forgetTries() {
      const names = await redis.keys(`{${api.keyPrefix}}:limit:second-factor:*`);
      if (names.length > 0) await redis.unlink(names);
    },
  };
});
afterAll(async () => {
  endAppConnections();
  redis.disconnect();
  await apis[0].close();
});

test.each([
  ['password', 80],
  ['factor', 80],
  ['code', 4],
] as const)('a thief who guesses a %s by every path gets %i verdicts at most', async (secret, most) => {
  const history = createHistory();
  const user = await createGuessedUser({ ...world, history }, 1, secret);
  for (let round = 0; round < 11; round += 1) await guessSecret(user);
  checkGuesses(user, []);
  expect(history.violations).toEqual([]);
  expect(new Set(user.verdicts.values())).toEqual(new Set([most]));
  for (const by of user.verdicts.keys()) user.verdicts.set(by, 91);
  checkGuesses(user, []);
  expect(history.violations).toHaveLength(user.verdicts.size);
});
