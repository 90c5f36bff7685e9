import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type Account, newSession, type TokenPair } from '../../support/api/accounts.ts';
import {
  accept,
  currentGroup,
  expectSound,
  insertInvite,
  joinByInvite,
  leave,
  refresh,
} from '../../support/api/groups.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { type FailCommand, withFailPoint } from '../../support/stores/fail-point.ts';
import { type HoldingProxy, startHoldingProxy } from '../../support/stores/holding-proxy.ts';
import { mongodbAt, testEnvironment, uniqueName } from '../../support/test-environment.ts';

const appName = uniqueName();

let api: TestApi;
let proxy: HoldingProxy;

beforeAll(async () => {
  proxy = await startHoldingProxy(Number(new URL(testEnvironment().mongodbUri).port));
  // Connects through the proxy only, because the replica set's member addresses would bypass it.
  const uri = `${mongodbAt(proxy.port)}&appName=${appName}`;
  api = await startTestApi({ MONGODB_URI: uri });
});
afterEach(() => expectSound(api));
afterAll(async () => {
  await api.close();
  await proxy.close();
});

type Person = Account & TokenPair;

async function everything(): Promise<unknown[]> {
  const { users, groups, invites, sessions } = api.collections;
  return Promise.all(
    [users, groups, invites, sessions].map((collection) => collection.find({}).sort({ _id: 1 }).toArray()),
  );
}

/** Creates an owner with a member, and an invite into another household. */
async function newFixture() {
  const [owner, target] = [await newSession(api), await newSession(api)];
  const member = await joinByInvite(api, await insertInvite(api, owner.home_group_id));
  return { owner, member, target, invite: await insertInvite(api, target.home_group_id, { max_uses: 1 }) };
}

const operationFailed = 96;

describe('a change of group that fails', () => {
  test.each([
    ['the use of the invite', 'findAndModify', 'invites', 0],
    ['the count of the group that is joined', 'update', 'groups', 0],
    ['the user', 'findAndModify', 'users', 0],
    ['the count of the group that is left', 'findAndModify', 'groups', 0],
    ['the heir', 'findAndModify', 'users', 1],
    ['the claims', 'update', 'user_sessions', 0],
  ])('an acceptance whose write of %s fails leaves everything as it was', async (_, command, collection, skip) => {
    const { owner, invite } = await newFixture();
    const before = await everything();
    const namespace = `${api.database}.${collection}`;
    const failing = { failCommands: [command], errorCode: operationFailed, namespace, appName };
    const answer = await withFailPoint(api.mongo, { skip }, failing, () => accept(api, owner, invite));
    expect([answer.status, answer.json.error_code]).toEqual([500, 'ERR-INTERNAL']);
    expect(await everything()).toEqual(before);
    expect((await currentGroup(api, owner)).status).toBe(200);
    expect((await accept(api, owner, invite)).status).toBe(200);
  });

  test.each([
    ['the new household', 'insert', 'groups'],
    ['the invites of a group that is closed', 'update', 'invites'],
  ])('a leave whose write of %s fails leaves everything as it was', async (_, command, collection) => {
    const { owner, invite } = await newFixture();
    const office = await lastOfAnOffice();
    const before = await everything();
    const namespace = `${api.database}.${collection}`;
    const failing = { failCommands: [command], errorCode: operationFailed, namespace, appName };
    const answer = await withFailPoint(api.mongo, 'alwaysOn', failing, () => leave(api, office));
    expect(answer.status).toBe(500);
    expect(await everything()).toEqual(before);
    expect((await accept(api, owner, invite)).status).toBe(200);
  });
});

/** Creates a user whose leaving opens a household and closes an office. */
async function lastOfAnOffice(): Promise<Person> {
  const last = await newSession(api);
  const { home_group_id } = last;
  const office = { $set: { account_type: 'OFFICE' } } as const;
  await api.collections.groups.updateOne({ _id: home_group_id }, office);
  await api.collections.users.updateOne({ _id: last.user_id }, office);
  await api.collections.sessions.updateOne({ _id: last.session_id }, { $set: { 'claims.account_type': 'OFFICE' } });
  await insertInvite(api, home_group_id);
  return last;
}

describe('a change of group whose commit loses its reply', () => {
  async function expectMoved({ owner, member, target, invite }: Awaited<ReturnType<typeof newFixture>>): Promise<void> {
    expect(await api.collections.invites.findOne({ _id: invite })).toMatchObject({ uses: 1 });
    const { data } = (await currentGroup(api, await refresh(api, owner))).json;
    expect(data).toMatchObject({ home_group_id: target.home_group_id, role: 'member' });
    expect((await currentGroup(api, member)).json.data.role).toBe('owner');
    expect(await api.collections.sessions.findOne({ _id: owner.session_id })).toMatchObject({ claims: { ver: 2 } });
  }

  // guarantees: move-complete
  test('a change of group whose commit loses its reply answers 200, and is made once', async () => {
    const fixture = await newFixture();
    const before = proxy.dropped();
    proxy.dropReplyTo('commitTransaction');
    expect((await accept(api, fixture.owner, fixture.invite)).status).toBe(200);
    expect(proxy.dropped()).toBe(before + 1);
    await expectMoved(fixture);
  });

  test('a change of group whose commit loses its reply is read back first: nobody finds the invite used up by their own move', async () => {
    const fixture = await newFixture();
    const noSuchTransaction = 251;
    const second: FailCommand = {
      failCommands: ['commitTransaction'],
      errorCode: noSuchTransaction,
      errorLabels: ['TransientTransactionError'],
      appName,
    };
    const answer = await withFailPoint(api.mongo, { skip: 1 }, second, () => {
      proxy.dropReplyTo('commitTransaction');
      return accept(api, fixture.owner, fixture.invite);
    });
    expect(answer.status).toBe(200);
    await expectMoved(fixture);
  });
});

// guarantees: move-complete
test('a change of group whose answer is lost is repaired by the refresh that the app sends anyway', async () => {
  const { owner, target, invite } = await newFixture();
  await accept(api, owner, invite);
  // The app did not get the answer, so it sends the same request again.
  const repeated = await accept(api, owner, invite);
  expect([repeated.status, repeated.json.error_code]).toEqual([401, 'IAD_JWT_ACCESS_INVALID']);
  const tokens = await refresh(api, owner);
  const again = await accept(api, tokens, invite);
  expect([again.status, again.json.error_code]).toEqual([400, 'IAD_GROUP_ALREADY_MEMBER']);
  expect(tokens.home_group_id).toBe(target.home_group_id);
});
