import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RegisteredEvent, registeredTopic } from '@auth-account/contracts';
import type { AuthEvent } from '@auth-account/contracts/events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openTokenScene, type TokenApi, type TokenScene } from '../../support/token-api.ts';
import { checkStores } from './invariants/check-stores.ts';
import { checkSubscribers } from './invariants/check-subscribers.ts';
import { readFacts } from './invariants/facts.ts';
import { type KnownAccount, noticeOf, registerKnown, rowOf } from './known-user.ts';
import { createHistory, type History } from './load/history.ts';
import { createLedger, type Ledger } from './load/ledger.ts';

let scene: TokenScene;
let api: TokenApi;
let dir: string;
let history: History;
let ledger: Ledger;
let userId: string;
let account: KnownAccount;

beforeAll(async () => {
  scene = await openTokenScene();
  api = await scene.start();
  dir = await mkdtemp(join(tmpdir(), 'auth-account-invariants-'));
});
afterAll(async () => {
  await scene.close();
  await rm(dir, { recursive: true, force: true });
});

/** Registers a user and logs in, in an otherwise empty database. */
beforeEach(async () => {
  await Promise.all(Object.values(scene.collections).map((collection) => collection.deleteMany({})));
  history = createHistory(join(dir, 'history.jsonl'));
  ledger = createLedger();
  account = await registerKnown(api, ledger);
  userId = account.userId;
});

async function found(): Promise<string[]> {
  await checkStores(ledger, history, scene.collections, await readFacts(scene.collections));
  await history.close();
  return history.violations.map(({ what }) => what);
}

test('checkStores finds nothing if the stores agree with the answers to the apps', async () => {
  expect(await found()).toEqual([]);
});

test('checkStores finds a 201 without its user, and what the user has left', async () => {
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

test('checkStores finds a user without an event', async () => {
  await scene.collections.outbox.deleteMany({});
  expect(await found()).toEqual(['a user has not one event']);
});

test('checkStores finds a revoked session whose app knows nothing of its end', async () => {
  await scene.collections.sessions.updateMany({}, { $set: { is_revoked: true } });
  expect(await found()).toEqual(['a session that its app has is revoked']);
});

test('checkStores finds a live session whose app knows of its end', async () => {
  for (const session of ledger.sessions.values()) session.state = 'ended';
  expect(await found()).toEqual(['a session that was ended is live']);
});

test('checkStores finds a user in another group than the app knows', async () => {
  for (const [email, registration] of ledger.registrations) {
    ledger.registrations.set(email, { ...registration, person: { groupId: 'another' } });
  }
  expect(await found()).toEqual(['a user is in another group than told']);
});

test('checkStores finds a user with another address than the app knows', async () => {
  account.person.holds = [{ email: 'another@example.com', password: undefined }];
  expect(await found()).toEqual(['a user has another address than told']);
});

test('checkStores finds two users of one address', async () => {
  const { users, groups, outbox } = scene.collections;
  const [user, row] = [await users.findOneAndDelete({ _id: userId }), await outbox.findOne({})];
  if (user === null || row === null) throw new Error('nobody is registered');
  const twinId = randomUUID();
  await users.insertMany([{ ...user, _id: twinId, email_key: 'twin@example.com', role: 'member' }, user]);
  await groups.updateOne({}, { $set: { member_count: 2 } });
  await outbox.insertOne({ ...row, _id: randomUUID(), event: { ...row.event, subject: twinId } });
  expect(await found()).toEqual(['an address has several users']);
});

/** Returns the violations that are found if a subscriber has received these events, each once. */
async function foundAt(received: readonly AuthEvent[], hasKey = false): Promise<string[]> {
  const once = new Map(received.map((event) => [event.id, { event, deliveries: 1 }]));
  checkSubscribers(
    [{ name: 'analytics', hasKey, received: once }],
    ledger,
    history,
    await readFacts(scene.collections),
  );
  await history.close();
  return history.violations.map(({ what }) => what);
}

describe('checkSubscribers', () => {
  let event: RegisteredEvent;
  beforeEach(async () => {
    const [row] = await scene.collections.outbox.find().toArray();
    if (row?.event.type !== registeredTopic) throw new Error('nobody is registered');
    event = row.event;
  });

  test('checkSubscribers finds nothing if a subscriber has every event', async () => {
    expect(await foundAt([event])).toEqual([]);
  });

  test('checkSubscribers finds an event with another group than the app knows', async () => {
    const data = { ...event.data, home_group_id: randomUUID() };
    expect(await foundAt([{ ...event, data }])).toEqual(['a subscriber was told something else than the app']);
  });

  test('checkSubscribers finds an event that a subscriber does not have', async () => {
    expect(await foundAt([])).toEqual(['an event has not arrived', 'a subscriber has not one event']);
  });

  test('checkSubscribers finds an event of something that has not happened', async () => {
    const lie = noticeOf(userId);
    expect(await foundAt([event, lie])).toEqual(['a subscriber was told of what has not happened']);
  });

  test('checkSubscribers finds a delivered event that was for nobody', async () => {
    const notice = noticeOf(userId);
    await scene.collections.outbox.insertOne(rowOf(notice));
    expect(await foundAt([event, notice])).toEqual(['an event for nobody was delivered']);
  });

  test.each([
    [true, []],
    [false, ['a subscriber without a key has a secret']],
  ])('checkSubscribers finds a secret at a subscriber without a key; key: %s', async (hasKey, violations) => {
    const notice = noticeOf(userId);
    await scene.collections.outbox.insertOne({ ...rowOf(notice), deliveries: { analytics: new Date() } });
    const sent = { ...notice, data: { ...notice.data, secret: 'sealed' } };
    expect(await foundAt([event, sent], hasKey)).toEqual(violations);
  });
});
