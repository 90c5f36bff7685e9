import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { newEmail, password, registerAccount } from '../../support/api/accounts.ts';
import { insertInvite } from '../../support/api/groups.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { withFailPoint } from '../../support/stores/fail-point.ts';
import { type HoldingProxy, startHoldingProxy } from '../../support/stores/holding-proxy.ts';
import { mongodbAt, patienceMs, testEnvironment, uniqueName } from '../../support/test-environment.ts';

const appName = uniqueName();

let api: TestApi;
let proxy: HoldingProxy;

beforeAll(async () => {
  const direct = new URL(testEnvironment().mongodbUri);
  proxy = await startHoldingProxy(Number(direct.port));
  // Connects through the proxy only, because the replica set's member addresses would bypass it.
  const uri = `${mongodbAt(proxy.port)}&appName=${appName}`;
  api = await startTestApi({ MONGODB_URI: uri });
});
afterAll(async () => {
  await api.close();
  await proxy.close();
});

const household = (email = newEmail()) =>
  api.registerAccount({ email, password, space_creation_mode: 'CREATE_NEW_HOME' });
const join = (invite_token: string, email = newEmail()) =>
  api.registerAccount({ email, password, space_creation_mode: 'JOIN_EXISTING', invite_token });

async function everything(): Promise<unknown[]> {
  const { users, groups, invites, outbox } = api.collections;
  return Promise.all(
    [users, groups, invites, outbox].map((collection) => collection.find({}).sort({ _id: 1 }).toArray()),
  );
}

const newInvite = async () => insertInvite(api, (await registerAccount(api)).home_group_id);

describe('a registration that fails', () => {
  const operationFailed = 96;
  let invite: string;
  beforeEach(async () => {
    invite = await newInvite();
  });

  // guarantees: event-per-registration
  test.each([
    ['the user', 'insert', 'users', () => household()],
    ['the group', 'insert', 'groups', () => household()],
    ['the outbox row', 'insert', 'outbox', () => household()],
    ['the use of the invite', 'findAndModify', 'invites', () => join(invite)],
    ['the count of members', 'update', 'groups', () => join(invite)],
    ['the outbox row of one who joins', 'insert', 'outbox', () => join(invite)],
  ])('a registration whose write of %s fails leaves nothing', async (_, command, collection, register) => {
    const before = await everything();
    const failing = {
      failCommands: [command],
      errorCode: operationFailed,
      namespace: `${api.database}.${collection}`,
      appName,
    };
    const answer = await withFailPoint(api.mongo, 'alwaysOn', failing, register);
    expect(answer.status).toBe(500);
    expect(answer.json).toEqual({
      error_code: 'ERR-INTERNAL',
      message: expect.any(String),
      details: { action: expect.any(String) },
    });
    expect(await everything()).toEqual(before);
    expect((await register()).status).toBe(201);
  });

  // guarantees: registration-all-or-nothing
  test('a registration whose commit fails leaves nothing', async () => {
    const before = await everything();
    const failing = { failCommands: ['commitTransaction'], errorCode: operationFailed, appName };
    expect((await withFailPoint(api.mongo, 'alwaysOn', failing, () => household())).status).toBe(500);
    expect(await everything()).toEqual(before);
  });
});

test.each([
  ['gets no majority in time', 50],
  ['meets a primary that is stepping down', 189],
])('a search for an earlier try’s answer that %s is 503, not a refusal', async (_, errorCode) => {
  const { email } = await registerAccount(api);
  const body = { email, password, space_creation_mode: 'CREATE_NEW_HOME' };
  const retry = () => api.registerAccount(body, { 'Idempotency-Key': randomUUID() });
  const failing = { failCommands: ['find'], errorCode, namespace: `${api.database}.idempotency`, appName };
  // The first read finds nothing. The second read comes before the 409, and fails.
  const answer = await withFailPoint(api.mongo, { skip: 1 }, failing, retry);
  expect([answer.status, answer.json.error_code]).toEqual([503, 'ERR-DEPENDENCY-UNAVAILABLE']);
  expect((await retry()).status).toBe(409);
});

describe('a registration whose commit loses its reply', () => {
  const expectOne = async (email: string) => {
    const users = await api.collections.users.find({ email_key: email }).toArray();
    expect(users).toHaveLength(1);
    expect(await api.collections.outbox.countDocuments({ 'event.subject': users[0]?._id as string })).toBe(1);
    expect(await api.collections.groups.countDocuments({ _id: users[0]?.home_group_id as string })).toBe(1);
  };

  // guarantees: no-409-for-own-account
  test('a registration whose commit loses its reply answers 201, and the account is there once', async () => {
    const email = newEmail();
    const before = proxy.dropped();
    proxy.dropReplyTo('commitTransaction');
    expect((await household(email)).status).toBe(201);
    expect(proxy.dropped()).toBe(before + 1);
    await expectOne(email);
  });

  // guarantees: no-409-for-own-account
  test('a registration whose commit loses its reply is read back first: never 409 for one’s own email address', async () => {
    const email = newEmail();
    const noSuchTransaction = 251;
    // The first commit takes effect, but its reply is lost. The answer to the second commit is that there is no such
    // transaction.
    const second = {
      failCommands: ['commitTransaction'],
      errorCode: noSuchTransaction,
      errorLabels: ['TransientTransactionError'],
      appName,
    };
    const before = proxy.dropped();
    const answer = await withFailPoint(api.mongo, { skip: 1 }, second, () => {
      proxy.dropReplyTo('commitTransaction');
      return household(email);
    });
    expect(proxy.dropped()).toBe(before + 1);
    expect(answer.status).toBe(201);
    await expectOne(email);
  });

  test('a registration is read back if the store never says whether it was committed', async () => {
    const email = newEmail();
    const shutdownInProgress = 91;
    const unknown = {
      failCommands: ['commitTransaction'],
      writeConcernError: { code: shutdownInProgress, errmsg: 'shutting down' },
      appName,
    };
    const realNow = performance.now.bind(performance);
    let passedMs = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => realNow() + passedMs);
    const answer = await withFailPoint(api.mongo, 'alwaysOn', unknown, async (entered) => {
      const registered = household(email);
      await entered();
      // The time for further commits is over.
      passedMs = patienceMs;
      return registered;
    }).finally(() => clock.mockRestore());
    expect(answer.status).toBe(201);
    await expectOne(email);
  });

  test('a registration whose commit never took effect is committed by another try', async () => {
    const email = newEmail();
    const lost = { failCommands: ['commitTransaction'], closeConnection: true, appName };
    const registered = () => household(email);
    expect((await withFailPoint(api.mongo, { times: 3 }, lost, registered)).status).toBe(201);
    await expectOne(email);
  });
});

// guarantees: registration-without-mongodb
test('a store that is away answers 503 with Retry-After, and leaves nothing', async () => {
  const email = newEmail();
  const away = { failCommands: ['find', 'insert'], closeConnection: true, appName };
  const answer = await withFailPoint(api.mongo, 'alwaysOn', away, () => household(email));
  expect(answer.status).toBe(503);
  expect(answer.json.error_code).toBe('ERR-DEPENDENCY-UNAVAILABLE');
  expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect(await api.collections.users.countDocuments({ email_key: email })).toBe(0);
});

// guarantees: one-account-per-address
test('50 simultaneous registrations of one email address in several spellings make one account: one 201, 49 times 409', async () => {
  const email = `race-${randomUUID()}@example.com`;
  const spellings = [email, email.toUpperCase(), email.replace('race', 'Race'), email.replace('example', 'EXAMPLE')];
  const { users, groups, outbox } = api.collections;
  const before = await groups.countDocuments();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) => household(spellings[i % spellings.length] ?? email)),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(49).fill(409)]);
  const stored = await users.find({ email_key: email }).toArray();
  expect(stored).toHaveLength(1);
  expect(await groups.countDocuments()).toBe(before + 1);
  expect(await outbox.countDocuments({ 'event.subject': stored[0]?._id as string })).toBe(1);
});

// guarantees: invite-for-n
test('50 simultaneous joins by an invite for 3 are 3 times 201 and 47 times 410', async () => {
  const invite = await newInvite();
  await api.collections.invites.updateOne({ _id: invite }, { $set: { max_uses: 3 } });
  const answers = await Promise.all(Array.from({ length: 50 }, () => join(invite)));
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(3).fill(201), ...Array(47).fill(410)]);
  const used = await api.collections.invites.findOne({ _id: invite });
  expect(used?.uses).toBe(3);
  const home_group_id = used?.home_group_id as string;
  expect(await api.collections.users.countDocuments({ home_group_id })).toBe(4);
  expect(await api.collections.groups.findOne({ _id: home_group_id })).toMatchObject({ member_count: 4 });
});
