import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { logOut, newEmail, newSession, password, registerAccount } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { refresh } from '../../support/api/groups.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { completeDenyListOf } from '../../support/gateway/gateway-fixture.ts';
import { queriesOf, shapeOf } from '../../support/stores/query-shape.ts';
import { monitored, type SentCommand, watchSentCommands } from '../../support/stores/sent-commands.ts';
import { type SentRedisCommand, withSentRedisCommands } from '../../support/stores/sent-redis-commands.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';
import { type CountedOperation, settledApart, statements } from '../../tools/queries/statements.ts';

const sent = watchSentCommands();
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ MONGODB_URI: monitored(testEnvironment().mongodbUri) });
  await completeDenyListOf(api.keyPrefix);
});
afterAll(async () => {
  sent.close();
  await api.close();
});

/** Prepares one run of each operation. */
const operations: Readonly<Record<CountedOperation, () => Promise<() => Promise<unknown>>>> = {
  register: async () => () =>
    api.registerAccount({ email: newEmail(), password, space_creation_mode: 'CREATE_NEW_HOME' }),
  async login() {
    const session = await newSession(api, { device_id: crypto.randomUUID() });
    await logOut(api, session);
    const { email, device_id } = session;
    return () => api.logIn({ email, password, device_id });
  },
  async 'session read'() {
    const headers = bearer(await newSession(api));
    return () => api.listSessions(headers);
  },
  async refresh() {
    const session = await newSession(api);
    return () => refresh(api, session);
  },
  async 'refresh, one in eight'() {
    let newest: Parameters<typeof refresh>[1] = await newSession(api);
    for (let generation = 1; generation < 7; generation += 1) newest = await refresh(api, newest);
    return () => refresh(api, newest);
  },
  async logout() {
    const session = await newSession(api);
    return () => logOut(api, session);
  },
};

/** Returns the command in the table's form. */
function toMongoStatement({ name, command }: SentCommand): string {
  const [query] = queriesOf(command);
  if (query !== undefined) return shapeOf(query);
  return typeof command[name] === 'string' ? `${name} ${command[name]}` : name;
}

/**
 * Returns the command in the table's form: with the kind of its key, without prefix and ids. A script that Redis does
 * not know yet is sent again with its text (`eval`), which is the same statement.
 */
function toRedisStatement({ name, args }: SentRedisCommand): string {
  if (args.some((arg) => /:process(es|:)/.test(arg))) return 'process';
  if (name !== 'evalsha' && name !== 'eval') return name;
  const [kind = '', limit] = (args[2] ?? '').replace(/^\{[^}]*\}:/, '').split(':');
  return `evalsha ${kind === 'limit' ? `limit:${limit}` : kind}`;
}

const documented = (operation: CountedOperation, store: 'MongoDB' | 'Redis') =>
  statements[operation].filter((statement) => statement.store === store).map((statement) => statement.sent);

/**
 * Runs the work, and waits until the events of its registrations are published, which their answers do not wait for.
 */
async function untilPublished<T>(work: () => Promise<T>): Promise<T> {
  return withSentRedisCommands(async (commands) => {
    const { users } = api.collections;
    const before = await users.countDocuments();
    const result = await work();
    const registered = (await users.countDocuments()) - before;
    const published = () => commands.filter((command) => toRedisStatement(command) === registeredEvent).length;
    await eventually('all events are published', () => published() >= registered);
    return result;
  });
}
const registeredEvent = 'evalsha service.auth.events.registered';

/** Number of runs. A command that comes late is counted in the next run. */
const runs = 3;

test.each(Object.keys(operations) as CountedOperation[])('%s sends the statements of the table', async (operation) => {
  // The first run opens connections and loads scripts.
  await untilPublished(async () => (await operations[operation]())());
  const prepared = await untilPublished(() => Promise.all(Array.from({ length: runs }, () => operations[operation]())));
  const expected = documented(operation, 'Redis');
  const mongo: string[][] = [];
  const redis = await withSentRedisCommands(async (commands) => {
    const counted = () => commands.map(toRedisStatement).filter((command) => !settledApart.includes(command));
    for (const run of prepared) mongo.push((await sent.during(run)).map(toMongoStatement));
    await eventually('all commands are sent', () => counted().length >= runs * expected.length);
    return counted();
  });
  expect(mongo).toEqual(Array.from({ length: runs }, () => documented(operation, 'MongoDB')));
  expect(redis.toSorted()).toEqual(
    Array.from({ length: runs }, () => expected)
      .flat()
      .toSorted(),
  );
});

describe('a login', () => {
  const opens = documented('login', 'MongoDB');
  const [find, touch, ...insertAndCommit] = opens;
  const look = 'user_sessions find {is_revoked, user_id}';
  const dayMs = 86_400_000;

  test('a login with a key looks at the live sessions on the day of another login, and a repeat reads its session', async () => {
    const { email, user_id } = await registerAccount(api);
    const log = (headers?: Readonly<Record<string, string>>) => async () => {
      const { status } = await api.logIn({ email, password }, headers);
      expect(status).toBe(200);
    };
    const key = () => ({ 'Idempotency-Key': crypto.randomUUID() });
    await log()();
    await api.collections.users.updateOne({ _id: user_id }, { $set: { last_login_at: new Date(Date.now() - dayMs) } });
    const again = key();
    const commands: string[][] = [];
    for (const run of [log(key()), log(again), log(again)])
      commands.push((await sent.during(run)).map(toMongoStatement));
    expect(commands).toEqual([
      opens,
      [find, touch, look, ...insertAndCommit],
      [find, touch, look, 'user_sessions find {_id}', 'commitTransaction'],
    ]);
  });

  test('a login on the device of the registration sends no statement more, though it is the first', async () => {
    const [email, device_id] = [newEmail(), crypto.randomUUID()];
    const body = { email, password, space_creation_mode: 'CREATE_NEW_HOME', device_id };
    expect((await api.registerAccount(body)).status).toBe(201);
    const commands = await sent.during(() => api.logIn({ email, password, device_id }));
    expect(commands.map(toMongoStatement)).toEqual(opens);
  });

  test('a login on a device with a live session conflicts with it in the index, and begins again with a look', async () => {
    const device = { device_id: crypto.randomUUID() };
    const { email } = await newSession(api, device);
    const commands = await sent.during(() => api.logIn({ email, password, ...device }));
    expect(commands.map(toMongoStatement)).toEqual([
      ...[find, touch, 'insert user_sessions', 'abortTransaction', 'abortTransaction'],
      ...[touch, look, 'user_sessions update {_id in, is_revoked}', ...insertAndCommit],
    ]);
  });
});

// guarantees: codes-of-known-places
test('a request for a code sends the same statements for every email address', async () => {
  const addresses = [newEmail(), (await newSession(api)).email, (await newSession(api)).email];
  await api.collections.users.updateOne({ email: addresses[2] ?? '' }, { $set: { email_verified_at: new Date() } });
  const ask = (email: string) => api.requestPasswordReset({ email });
  await ask(newEmail());
  for (const email of addresses) {
    const redis = await withSentRedisCommands(async (commands) => {
      const mongo = (await sent.during(() => ask(email))).map(toMongoStatement);
      expect(mongo).toEqual(['users find {email_key}', 'insert challenges', 'insert outbox', 'commitTransaction']);
      // The event about an account is published later, at a random time.
      return commands.map(toRedisStatement).filter((command) => command.startsWith('evalsha limit:'));
    });
    expect(redis.filter((command) => !settledApart.includes(command))).toEqual([
      'evalsha limit:code',
      'evalsha limit:login-known',
    ]);
  }
});
