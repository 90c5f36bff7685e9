import { routes } from '@auth-account/contracts';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hash } from '@node-rs/argon2';
import { newEmail, password } from '../support/api/accounts.ts';
import { expire, makeResendDue } from '../support/api/codes.ts';
import { newAccountSeed } from '../support/api/seed-accounts.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { queriesOf, shapeOf } from '../support/stores/query-shape.ts';
import { monitored, type SentCommand, watchSentCommands } from '../support/stores/sent-commands.ts';
import { withSentRedisCommands } from '../support/stores/sent-redis-commands.ts';
import { testEnvironment } from '../support/test-environment.ts';

const sent = watchSentCommands();
let api: TestApi;
beforeAll(async () => {
  const limits = { CODE_LIMIT_PER_ACCOUNT: '100', REQUIRE_VERIFIED_EMAIL: 'true' };
  api = await startTestApi({ ...limits, MONGODB_URI: monitored(testEnvironment().mongodbUri) });
});
afterAll(async () => {
  sent.close();
  await api.close();
});

const day = 86_400_000;
const passwordHash = hash(password, { memoryCost: 8, timeCost: 1, parallelism: 1 });

/** Email addresses: one without an account, and one of an account in each state that nobody else must learn. */
const addresses: Readonly<Record<string, () => Promise<string>>> = {
  nobody: async () => newEmail(),
  'an account': () => accountWith({ email_verified_at: new Date() }),
  'an unverified account': () => accountWith({}),
  'a disabled account': () => accountWith({ disabled_at: new Date() }),
  'an account whose deletion is ordered': () => accountWith({ deletes_at: new Date(Date.now() + day) }),
  'an account with a second factor': () => accountWith({ totp: { confirmed_at: new Date(), last_step: 7 } }),
  'an account that is due for erasure': () => accountWith({ deletes_at: new Date(Date.now() - 1) }),
};

async function accountWith(fields: object): Promise<string> {
  const { user, group } = newAccountSeed(await passwordHash);
  await api.collections.groups.insertOne(group);
  await api.collections.users.insertOne({ ...user, known_devices: [], ...fields });
  return user.email;
}

/** Answer to a request, and what the request sends to the stores. */
interface Seen {
  readonly status: number;
  readonly code: unknown;
  readonly details: unknown;
  readonly mongodb: readonly string[];
  readonly redis: readonly string[];
}

function toStatement({ name, command }: SentCommand): string {
  const [query] = queriesOf(command);
  return query === undefined ? `${name} ${String(command[name])}` : shapeOf(query);
}

async function see(path: string, body: object): Promise<Seen> {
  let answer: Awaited<ReturnType<TestApi['send']>> | undefined;
  return withSentRedisCommands(async (redis) => {
    const mongodb = await sent.during(async () => {
      answer = await api.send({ path, body });
    });
    // Only limits count, because an earlier request's event may be published now.
    const limits = redis.filter(({ args }) => args.join(' ').includes(':limit:'));
    return {
      status: answer?.status ?? 0,
      code: answer?.json.error_code,
      details: answer?.json.details,
      mongodb: mongodb.filter(({ by }) => by === 'auth-api').map(toStatement),
      redis: limits.map(({ name, args }) => `${name} ${args.length}`),
    };
  });
}

const confirm = (path: string, challenge_id: string, code = '00000000') => {
  const rest = path.endsWith('password-reset') ? { new_password: 'three wrong staples' } : {};
  return see(`${path}/confirm`, { challenge_id, code, ...rest });
};

async function challengeFor(path: string, email: string): Promise<string> {
  const { status, json } = await api.send({ path, body: { email } });
  expect(status).toBe(202);
  return json.data.challenge_id;
}

const { path: reset } = routes.requestPasswordReset;
const { path: removal } = routes.requestSecondFactorRemoval;
const { path: deletion } = routes.requestDeletion;
const { path: login } = routes.requestLoginCode;

type Step = (email: string) => Promise<Seen>;

function stepsOf(path: string): Record<string, Step> {
  const other = path === reset ? deletion : reset;
  return {
    'a request': (email) => see(path, { email }),
    'a resend': async (email) => {
      const challenge_id = await challengeFor(path, email);
      await makeResendDue(api, challenge_id);
      return see(`${path}/resend`, { challenge_id });
    },
    'a resend that is not due': async (email) =>
      see(`${path}/resend`, { challenge_id: await challengeFor(path, email) }),
    'a wrong code': async (email) => confirm(path, await challengeFor(path, email)),
    'the last wrong code, and one more': async (email) => {
      const challenge_id = await challengeFor(path, email);
      const tries: Seen[] = [];
      for (let index = 0; index < 6; index += 1) tries.push(await confirm(path, challenge_id));
      return tries.reduce((all, one) => ({ ...one, mongodb: [...all.mongodb, ...one.mongodb] }));
    },
    'a code of an expired challenge': async (email) => {
      const challenge_id = await challengeFor(path, email);
      await expire(api, challenge_id);
      return confirm(path, challenge_id);
    },
    'a code of another purpose': async (email) => confirm(path, await challengeFor(other, email)),
  };
}

const steps: Readonly<Record<string, Step>> = {
  'a login with a wrong password': (email) => see(routes.logIn.path, { email, password: 'a wrong password' }),
  'a restore with a wrong password': (email) =>
    see(routes.restoreAccount.path, { email, password: 'a wrong password' }),
  ...Object.fromEntries(Object.entries(stepsOf(reset)).map(([name, step]) => [`${name} to reset`, step])),
  ...Object.fromEntries(Object.entries(stepsOf(removal)).map(([name, step]) => [`${name} to remove a factor`, step])),
  ...Object.fromEntries(Object.entries(stepsOf(login)).map(([name, step]) => [`${name} to log in`, step])),
  ...Object.fromEntries(Object.entries(stepsOf(deletion)).map(([name, step]) => [`${name} to delete`, step])),
};

// guarantees: code-login-tells-nothing
test.each(Object.entries(steps))(
  '%s gets the same answer, and the same queries to the stores, for every account as for an unknown email address',
  async (_name, step) => {
    // The first run loads scripts.
    await step(newEmail());
    const unknown = await step(newEmail());
    expect([unknown.mongodb.length > 0, unknown.redis.length > 0]).toEqual([true, true]);
    for (const [which, newEmail] of Object.entries(addresses)) {
      expect([which, await step(await newEmail())]).toEqual([which, unknown]);
    }
  },
);

test('an account that is due for erasure answers its own password as an unknown email address does', async () => {
  const email = await addresses['an account']?.();
  expect((await api.logIn({ email, password })).status).toBe(200);
  const due = await addresses['an account that is due for erasure']?.();
  for (const path of [routes.logIn.path, routes.restoreAccount.path]) {
    const seen = [await see(path, { email: due, password }), await see(path, { email: newEmail(), password })];
    expect(seen[0]).toEqual(seen[1]);
    expect(seen[0]).toMatchObject({ status: 401, code: 'ERR-INVALID-CREDENTIALS' });
  }
});
