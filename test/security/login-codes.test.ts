import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Account, newSession, password, registerAccount } from '../support/api/accounts.ts';
import { codeOf, logInByCode, requestLoginCode } from '../support/api/codes.ts';
import { completeLogin, guardedAccount } from '../support/api/second-factor.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { flood, othersIn, sessionsIn } from './flood.ts';

/** Rounds of a race: 4 unless `CODE_RACE_ROUNDS` says 50. */
const rounds = Number(process.env.CODE_RACE_ROUNDS || 4);

/** Two pods of one deployment. */
let api: TestApi;
let other: TestApi;

beforeAll(async () => {
  api = await startTestApi({ CODE_LIMIT_PER_ACCOUNT: '100', TRUST_PROXY_HOPS: '1' });
  other = await api.beside();
});
afterAll(() => api.close());

const verify = ({ user_id }: Pick<Account, 'user_id'>) =>
  api.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date(0) } });
const opened = ({ user_id }: Pick<Account, 'user_id'>) => api.collections.sessions.countDocuments({ user_id });

describe('one login code in many requests', () => {
  const device = randomUUID();
  // guarantees: one-session-per-proof
  test.each([
    ['a verified email address', verify, () => device],
    ['an email address that it verifies', async () => undefined, () => device],
    ['a verified email address, sent by many devices,', verify, () => randomUUID()],
  ] as const)(
    'one login code of %s opens one session, however many requests send it at once',
    async (_, prepare, by) => {
      const account = await registerAccount(api);
      await prepare(account);
      const challenge_id = await requestLoginCode(api, account.email);
      const code = await codeOf(api, challenge_id);
      const answers = await flood([api, other], (pod) => pod.logInByCode({ challenge_id, code, device_id: by() }));
      expect([sessionsIn(answers).size <= 1, await opened(account)]).toEqual([true, 1]);
      expect(othersIn(answers, ['410 ERR-CODE-EXPIRED'])).toEqual([]);
    },
  );

  // guarantees: one-session-per-proof
  test('one login code with many second factors opens one session', async () => {
    const account = await guardedAccount(api);
    await verify(account);
    const before = await opened(account);
    const challenge_id = await requestLoginCode(api, account.email);
    const pendingLogins = await Promise.all(account.recovery_codes.map(() => logInByCode(api, challenge_id)));
    const answers = await Promise.all(
      pendingLogins.map(({ json }, at) =>
        completeLogin(at % 2 ? api : other, json.details.challenge_id, {
          method: 'recovery_code',
          code: account.recovery_codes[at],
        }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await opened(account)) - before).toBe(1);
    const user = await api.collections.users.findOne({ _id: account.user_id });
    expect(user?.recovery_codes).toHaveLength(account.recovery_codes.length - 1);
  });
});

// guarantees: squatter-keeps-nothing
test('a login by code to an unverified email address ends all other sessions, also those that begin meanwhile', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const squatter = await newSession(api);
    const challenge_id = await requestLoginCode(api, squatter.email);
    const [answer] = await Promise.all([
      logInByCode(api, challenge_id),
      api.logIn({ email: squatter.email, password }),
      other.logIn({ email: squatter.email, password }),
      other.refreshTokens({ refresh_token: squatter.refresh_token }),
    ]);
    expect(answer.status).toBe(200);
    const filter = { user_id: squatter.user_id, is_revoked: false };
    const live = await api.collections.sessions.find(filter).toArray();
    expect(live.map(({ _id }) => _id)).toEqual([answer.json.data.session_id]);
  }
});
