import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registeredTopic } from '@auth-account/contracts';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newEmail, password } from '../../support/accounts.ts';
import { openTokenScene, type TokenApi, type TokenScene } from '../../support/token-api.ts';
import { checkStores } from './invariants/check-stores.ts';
import { checkSubscribers } from './invariants/check-subscribers.ts';
import { createHistory, type History } from './load/history.ts';
import { createLedger, type Ledger } from './load/ledger.ts';

let scene: TokenScene;
let api: TokenApi;
let dir: string;
let history: History;
let ledger: Ledger;
let userId: string;

beforeAll(async () => {
  scene = await openTokenScene();
  api = await scene.start();
  dir = await mkdtemp(join(tmpdir(), 'auth-account-invariants-'));
});
afterAll(async () => {
  await scene.close();
  await rm(dir, { recursive: true, force: true });
});

/** One user, registered and logged in, in an otherwise empty database. */
beforeEach(async () => {
  for (const collection of Object.values(scene.collections)) await collection.deleteMany({});
  history = createHistory(join(dir, 'history.jsonl'));
  ledger = createLedger();
  const email = newEmail();
  const body = { email, password, space_creation_mode: 'CREATE_NEW_HOME' };
  const { data } = (await api.post('/api/v1/auth/register', body, { 'Idempotency-Key': 'once' })).json;
  userId = data.user_id;
  const person = { groupId: data.home_group_id };
  const registration = { email, invite: undefined, person, outcome: 'acknowledged', userId } as const;
  ledger.registrations.set(email, { ...registration, firstGroupId: data.home_group_id });
  const tokens = (await api.post('/api/v1/auth/login', { email, password })).json.data;
  const { session_id: sessionId, device_id: deviceId, access_token: accessToken } = tokens;
  const common = { sessionId, userId, deviceId, accessToken, streamPath: '', streams: new Set<never>() };
  ledger.sessions.set(sessionId, { ...common, state: 'live' });
});

async function found(): Promise<string[]> {
  await checkStores(ledger, history, scene.collections);
  await history.close();
  return history.violations.map(({ what }) => what);
}

test('finds nothing where all is as the apps were told', async () => {
  expect(await found()).toEqual([]);
});

test('finds a 201 without its user, and what is left of it', async () => {
  await scene.collections.users.deleteOne({ _id: userId });
  expect(await found()).toEqual([
    'a 201 has no user',
    'a group counts other members than it has',
    'a group is closed or open wrongly',
    'a live session speaks of another group',
    'an event without a user',
    'a kept 201 without a user',
  ]);
});

test('finds a user without an event', async () => {
  await scene.collections.outbox.deleteMany({});
  expect(await found()).toEqual(['a user has not one event']);
});

test('finds a session that is over though its app was told nothing of it', async () => {
  await scene.collections.sessions.updateMany({}, { $set: { is_revoked: true } });
  expect(await found()).toEqual(['a session that its app has is revoked']);
});

test('finds a session that lives on though its app was told that it is over', async () => {
  for (const session of ledger.sessions.values()) session.state = 'ended';
  expect(await found()).toEqual(['a session that was ended is live']);
});

test('finds a user in another group than the app was told', async () => {
  for (const [email, registration] of ledger.registrations) {
    ledger.registrations.set(email, { ...registration, person: { groupId: 'another' } });
  }
  expect(await found()).toEqual(['a user is in another group than told']);
});

test('finds two users of one address', async () => {
  const { users, groups, outbox } = scene.collections;
  const [user, row] = [await users.findOneAndDelete({ _id: userId }), await outbox.findOne({})];
  if (user === null || row === null) throw new Error('nobody is registered');
  const twinId = randomUUID();
  await users.insertMany([{ ...user, _id: twinId, email_key: 'twin@example.com', role: 'member' }, user]);
  await groups.updateOne({}, { $set: { member_count: 2 } });
  await outbox.insertOne({ ...row, _id: randomUUID(), event: { ...row.event, subject: twinId } });
  expect(await found()).toEqual(['an address has several users']);
});

test('finds an event that names another group than the app was told', async () => {
  const [user, row] = [await scene.collections.users.findOne({}), await scene.collections.outbox.findOne({})];
  if (user === null || row?.event.type !== registeredTopic) throw new Error('nobody is registered');
  const { data, id } = row.event;
  const check = (home_group_id: string) => {
    const event = { userId, data: { ...data, home_group_id }, deliveries: 1 };
    const subscribers = [{ name: 'analytics', received: new Map([[id, event]]) }];
    checkSubscribers(subscribers, ledger, history, new Map([[userId, user]]));
    return history.violations.map(({ what }) => what);
  };
  expect(check(data.home_group_id)).toEqual([]);
  expect(check(randomUUID())).toEqual(['a subscriber was told something else than the app']);
  await history.close();
});
