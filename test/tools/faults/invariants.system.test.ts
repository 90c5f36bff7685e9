import { randomUUID } from 'node:crypto';
import { type RegisteredEvent, registeredTopic } from '@auth-account/contracts';
import type { AuthEvent } from '@auth-account/contracts/events';
import { waitUntil } from '@auth-account/local-stack';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openTokenFixture, type TokenApi, type TokenFixture } from '../../support/api/token-api.ts';
import { checkAccounts } from './invariants/check-accounts.ts';
import { checkLogins } from './invariants/check-logins.ts';
import { checkStores } from './invariants/check-stores.ts';
import { checkSubscribers } from './invariants/check-subscribers.ts';
import { readFacts } from './invariants/facts.ts';
import { waitForErasures } from './invariants/wait-for-erasures.ts';
import { type KnownAccount, madeUp, notificationOf, registerKnown, rowOf } from './known-user.ts';
import { endAppConnections } from './load/app-request.ts';
import { createHistory, type History } from './load/history.ts';
import { type ChangeKind, createLedger, type Ledger } from './load/ledger.ts';
import { startCuttableProxy } from './stack/cuttable-proxy.ts';
import { createMailbox } from './stack/mailbox.ts';

let fixture: TokenFixture;
let api: TokenApi;
let history: History;
let ledger: Ledger;
let account: KnownAccount;
let user_id: string;
/** Events that the subscriber has received. */
let received: AuthEvent[];

beforeAll(async () => {
  fixture = await openTokenFixture();
  api = await fixture.start();
});
afterAll(async () => {
  endAppConnections();
  await fixture.close();
});

/** Registers a user and logs in, in an otherwise empty database. */
beforeEach(async () => {
  await Promise.all(Object.values(fixture.collections).map((collection) => collection.deleteMany({})));
  history = createHistory();
  ledger = createLedger();
  received = [];
  account = await registerKnown(api, ledger);
  user_id = account.userId;
});

async function violations(): Promise<string[]> {
  await history.close();
  return history.violations.map(({ what }) => what);
}

async function found(): Promise<string[]> {
  const { collections } = fixture;
  const once = new Map(received.map((event) => [event.id, { event, deliveries: 1 }]));
  const subscribers = [{ name: 'analytics', received: once }];
  await checkAccounts({ ledger, history, collections, facts: await readFacts(collections), subscribers });
  return violations();
}

async function foundInStores(): Promise<string[]> {
  await checkStores(ledger, history, fixture.collections, await readFacts(fixture.collections));
  return violations();
}

test('checkStores finds nothing if the stores agree with the answers to the apps', async () => {
  expect(await foundInStores()).toEqual([]);
});

test('checkStores finds a 201 without its user, and what the user has left', async () => {
  await fixture.collections.users.deleteOne({ _id: user_id });
  expect(await foundInStores()).toEqual([
    'a 201 has no user',
    'a group counts other members than it has',
    'a group is closed or open wrongly',
    'a live session speaks of another group',
    'an event without a user',
    'a kept 201 without a user',
  ]);
});

test('checkStores finds a user without an event', async () => {
  await fixture.collections.outbox.deleteMany({});
  expect(await foundInStores()).toEqual(['a user has not one event']);
});

test('checkStores finds a revoked session whose app knows nothing of its end', async () => {
  await fixture.collections.sessions.updateMany({}, { $set: { is_revoked: true } });
  expect(await foundInStores()).toEqual(['a session that its app has is revoked']);
});

test('checkStores finds a live session whose app knows of its end', async () => {
  for (const session of ledger.sessions.values()) session.state = 'ended';
  expect(await foundInStores()).toEqual(['a session that was ended is live']);
});

test('checkStores finds a user in another group than the app knows', async () => {
  for (const [email, registration] of ledger.registrations) {
    ledger.registrations.set(email, { ...registration, person: { groupId: 'another' } });
  }
  expect(await foundInStores()).toEqual(['a user is in another group than its app']);
});

test('checkStores finds a user with another email address than the app knows', async () => {
  account.person.holds = [{ email: 'another@example.com', password: undefined }];
  expect(await foundInStores()).toEqual(['a user has another email address than its app']);
});

test('checkStores finds two users of one email address', async () => {
  const { users, groups, outbox } = fixture.collections;
  const [user, row] = [await users.findOneAndDelete({ _id: user_id }), await outbox.findOne({})];
  if (user === null || row === null) throw new Error('nobody is registered');
  const twinId = randomUUID();
  await users.insertMany([{ ...user, _id: twinId, email_key: 'twin@example.com', role: 'member' }, user]);
  await groups.updateOne({}, { $set: { member_count: 2 } });
  await outbox.insertOne({ ...row, _id: randomUUID(), event: { ...row.event, subject: twinId } });
  expect(await foundInStores()).toEqual(['an email address has several users']);
});

/** Returns the violations that are found if a subscriber has received these events, each once. */
async function foundAt(received: readonly AuthEvent[], hasKey = false): Promise<string[]> {
  const once = new Map(received.map((event) => [event.id, { event, deliveries: 1 }]));
  checkSubscribers(
    [{ name: 'analytics', hasKey, received: once }],
    ledger,
    history,
    await readFacts(fixture.collections),
  );
  return violations();
}

describe('checkSubscribers', () => {
  let event: RegisteredEvent;
  beforeEach(async () => {
    const [row] = await fixture.collections.outbox.find().toArray();
    if (row?.event.type !== registeredTopic) throw new Error('nobody is registered');
    event = row.event;
  });

  test('checkSubscribers finds nothing if a subscriber has every event', async () => {
    expect(await foundAt([event])).toEqual([]);
  });

  test('checkSubscribers finds an event with another group than the app knows', async () => {
    const data = { ...event.data, home_group_id: randomUUID() };
    expect(await foundAt([{ ...event, data }])).toEqual(['a subscriber was notified of something else than the app']);
  });

  test('checkSubscribers finds an event that a subscriber does not have', async () => {
    expect(await foundAt([])).toEqual(['an event has not arrived', 'a subscriber has not one event']);
  });

  test('checkSubscribers finds an event of something that has not happened', async () => {
    const lie = notificationOf(user_id);
    expect(await foundAt([event, lie])).toEqual(['a subscriber was notified of what has not happened']);
  });

  test('checkSubscribers finds a delivered event that was for nobody', async () => {
    const notification = notificationOf(user_id);
    await fixture.collections.outbox.insertOne(rowOf(notification));
    expect(await foundAt([event, notification])).toEqual(['an event for nobody was delivered']);
  });

  test.each([
    [true, []],
    [false, ['a subscriber without a key has a secret']],
  ])('checkSubscribers finds a secret at a subscriber without a key; key: %s', async (hasKey, found) => {
    const notification = notificationOf(user_id);
    await fixture.collections.outbox.insertOne({ ...rowOf(notification), deliveries: { analytics: new Date() } });
    const sent = { ...notification, data: { ...notification.data, secret: 'sealed' } };
    expect(await foundAt([event, sent], hasKey)).toEqual(found);
  });
});

const time = new Date().toISOString();
const password = (reason: 'changed' | 'reset' | 'undone') =>
  madeUp('service.auth.events.password_changed', { user_id, changed_at: time, reason });
const address = (is_undone: boolean) =>
  madeUp('service.auth.events.email_changed', { user_id, changed_at: time, is_undone });
const goodbye = () => madeUp('service.auth.events.deleted', { user_id, home_group_id: user_id, deleted_at: time });

/** The event of each kind of change. */
const events: Readonly<Record<ChangeKind, () => AuthEvent>> = {
  changed: () => password('changed'),
  reset: () => password('reset'),
  undone: () => password('undone'),
  email_changed: () => address(false),
  email_undone: () => address(true),
  deletion_scheduled: () =>
    madeUp('service.auth.events.deletion_scheduled', { user_id, scheduled_at: time, deletes_at: time }),
  deletion_cancelled: () => madeUp('service.auth.events.deletion_cancelled', { user_id, cancelled_at: time }),
};
const kinds = Object.keys(events) as ChangeKind[];

const write = (event: AuthEvent) => fixture.collections.outbox.insertOne(rowOf(event));

describe.each(kinds)('checkAccounts about a change: %s', (kind) => {
  test.each(['done', 'perhaps'] as const)(
    'checkAccounts accepts a change that is %s with one event',
    async (outcome) => {
      account.changes.push({ kind, outcome });
      await write(events[kind]());
      expect(await found()).toEqual([]);
    },
  );

  test('checkAccounts finds a change whose event is missing', async () => {
    account.changes.push({ kind, outcome: 'done' });
    expect(await found()).toEqual(['an acknowledged change has no event']);
  });

  test('checkAccounts finds the event of a change that was not made', async () => {
    account.changes.push({ kind, outcome: 'none' });
    await write(events[kind]());
    expect(await found()).toEqual(['a change has more events than it was made']);
  });

  test('checkAccounts finds the event of a change that nobody asked for', async () => {
    await write(events[kind]());
    expect(await found()).toEqual(['an account was changed that nobody has changed']);
  });
});

/** Removes the user as the worker does, with the event of the deletion. */
async function erase(): Promise<void> {
  const { users, sessions, idempotency, groups } = fixture.collections;
  await users.deleteMany({});
  await sessions.deleteMany({});
  await idempotency.deleteMany({});
  await groups.updateMany({}, { $set: { closed_at: new Date() } });
  const event = goodbye();
  await write(event);
  received.push(event);
}

const soon = () => Date.now() + 1_000;
const later = () => Date.now() + 14 * 86_400_000;
const schedule = (at: number) => fixture.collections.users.updateMany({}, { $set: { deletes_at: new Date(at) } });

describe('checkAccounts about a deletion', () => {
  test.each([
    ['acknowledged', () => soon()],
    ['ordered, without an answer', () => undefined],
  ])('checkAccounts finds nothing about a deletion whose account is gone: %s', async (_, deletesAt) => {
    account.person.deletion = { deletesAt: deletesAt() };
    await erase();
    expect(await found()).toEqual([]);
  });

  test('checkAccounts finds nothing about an account that waits until the time of its deletion', async () => {
    const deletesAt = later();
    account.person.deletion = { deletesAt };
    await schedule(deletesAt);
    expect(await found()).toEqual([]);
  });

  test.each<[string, number | undefined | 'none', () => Promise<unknown>]>([
    ['an acknowledged deletion has left the account', 0, async () => undefined],
    ['a deletion is not scheduled as it was announced', later(), async () => undefined],
    ['a deletion is not scheduled as it was announced', later(), () => schedule(later() + 60_000)],
    ['an account was erased before its time', later(), erase],
    ['an account was not erased in time', undefined, () => schedule(Date.now())],
    ['an account is about to go that nobody has deleted', 'none', () => schedule(later())],
    ['an account was erased that nobody has deleted', 'none', erase],
  ])('checkAccounts finds that %s', async (what, deletesAt, happen) => {
    if (deletesAt !== 'none') account.person.deletion = { deletesAt };
    await happen();
    expect(await found()).toEqual([what]);
  });

  test('checkAccounts finds the deletion event of an account that still exists', async () => {
    account.person.deletion = { deletesAt: undefined };
    const event = goodbye();
    await write(event);
    received.push(event);
    expect((await found()).slice(0, 1)).toEqual(['an account is gone and there']);
  });

  test('waitForErasures finds accounts that are not erased', async () => {
    await schedule(Date.now() - 1_000);
    await waitForErasures(fixture.collections, history, 0);
    expect(await violations()).toEqual(['accounts were not erased']);
  });
});

describe('checkAccounts about an erased account', () => {
  beforeEach(async () => {
    account.person.deletion = { deletesAt: soon() };
    await erase();
  });

  test('checkAccounts finds two erasures of one account', async () => {
    const event = goodbye();
    await write(event);
    received.push(event);
    expect(await found()).toEqual(['an account was erased several times', 'a subscriber has not one goodbye']);
  });

  test('checkAccounts finds a subscriber without the event of a deletion', async () => {
    received = [];
    expect(await found()).toEqual(['a subscriber has not one goodbye']);
  });

  test('checkAccounts finds a subscriber with the deletion event of another account', async () => {
    user_id = 'somebody else';
    received.push(goodbye());
    expect(await found()).toEqual(['a subscriber was notified of a false erasure']);
  });

  test.each(['sessions', 'challenges', 'idempotency'] as const)('checkAccounts finds traces in %s', async (name) => {
    await fixture.collections[name].insertOne({ _id: 'left', user_id } as never);
    expect(await found()).toEqual(['an erased account has left traces']);
  });

  test.each<[string, object]>([
    ['invite', { created_by: 'erased' }],
    ['group', { owner_id: 'erased', closed_at: null }],
  ])('checkAccounts finds the %s of an erased account', async (name, fields) => {
    const own = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, value && user_id]));
    const collection = name === 'invite' ? fixture.collections.invites : fixture.collections.groups;
    await collection.insertOne({ _id: 'left', ...own } as never);
    expect(await found()).toEqual(['an erased account has left traces']);
  });

  test.each(['email_key', 'former_emails'])('checkAccounts finds an erased %s elsewhere', async (field) => {
    const email_key = account.person.holds[0]?.email;
    const fields = field === 'email_key' ? { email_key } : { former_emails: [{ email_key }] };
    await fixture.collections.users.insertOne({ _id: 'another', ...fields } as never);
    expect(await found()).toEqual(['an erased account has left traces']);
  });
});

describe('checkLogins', () => {
  const apiPort = () => Number(new URL(api.base).port);
  async function tried(port = apiPort()): Promise<string[]> {
    account.changes.push({ kind: 'changed', outcome: 'done' });
    const ports = { apiPorts: [port], gatewayPorts: [] };
    const world = { history, ledger, ...ports, mailbox: await createMailbox(), isOver: true };
    await checkLogins({ ...world, nextRequestId: () => 'final' });
    return violations();
  }
  const held = () => account.person.holds.slice(0, 1);

  test('checkLogins finds nothing if the present credentials log in, and no former ones', async () => {
    account.former.push({ email: held()[0]?.email ?? '', password: 'an earlier password' });
    expect(await tried()).toEqual([]);
  });

  test('checkLogins tries again without an answer, although the apps have given up', async () => {
    const proxy = await startCuttableProxy(apiPort());
    proxy.cut('reset');
    const result = tried(proxy.port);
    const isTried = async () => (history.counts.get('final try')?.unknown ?? 0) > 0;
    await waitUntil(isTried, { what: 'a try without an answer', timeoutMs: 60_000, intervalMs: 5 });
    proxy.fix();
    expect(await result).toEqual([]);
    await proxy.close();
  });

  test('checkLogins finds former credentials that log in', async () => {
    account.former.push(...held());
    expect(await tried()).toEqual(['unusable credentials were not refused']);
  });

  test('checkLogins finds present credentials that do not log in', async () => {
    account.person.holds = held().map(({ email }) => ({ email, password: 'another password' }));
    expect(await tried()).toEqual(['credentials that hold were refused']);
  });

  test('checkLogins finds that both of two possible credentials log in', async () => {
    account.person.holds = [...held(), ...(await registerKnown(api, ledger)).person.holds];
    expect(await tried()).toEqual(['two pairs of credentials hold']);
  });

  test('checkLogins finds that neither of two possible credentials logs in', async () => {
    account.person.holds = ['one', 'two'].map((word) => ({ email: held()[0]?.email ?? '', password: word.repeat(4) }));
    expect(await tried()).toEqual(['credentials that hold were refused']);
  });

  test('checkLogins finds a login to an account that waits for its erasure', async () => {
    account.person.deletion = { deletesAt: later() };
    expect(await tried()).toEqual(['credentials that hold were refused']);
  });

  test('checkLogins finds a login to an erased account, and that its email address is not free', async () => {
    account.person.deletion = { deletesAt: soon() };
    const gone = ['unusable credentials were not refused', 'the email address of an account that is gone is not free'];
    expect(await tried()).toEqual(gone);
  });
});
