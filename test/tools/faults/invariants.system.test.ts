import { randomUUID } from 'node:crypto';
import { type RegisteredEvent, registeredTopic } from '@auth-account/contracts';
import type { AccountEventOf, AccountTopic, AuthEvent } from '@auth-account/contracts/events';
import { waitUntil } from '@auth-account/local-stack';
import { createAccountEvent } from '@auth-account/messaging';
import { createDenyList, type Denial, type DenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { redisKeys } from '@auth-account/redis';
import type { Collections } from '@auth-account/stores';
import type { OutboxDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { openTokenFixture, type TokenApi, type TokenFixture } from '../../support/api/token-api.ts';
import { completeDenyList, startTestGateway, type TestGateway } from '../../support/gateway/gateway-fixture.ts';
import { startHoldingProxy } from '../../support/stores/holding-proxy.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { checkAccounts } from './invariants/check-accounts.ts';
import { checkEnded, findEnded } from './invariants/check-ended-sessions.ts';
import { checkLogins } from './invariants/check-logins.ts';
import { checkStores } from './invariants/check-stores.ts';
import { checkSubscribers } from './invariants/check-subscribers.ts';
import { type Evidence, readEvidence, waitForErasures } from './invariants/evidence.ts';
import { createApp, createWorld, type Person, type World } from './load/app.ts';
import { endAppConnections } from './load/app-request.ts';
import type { AccountRecord, ChangeKind, SessionRecord } from './load/ledger.ts';
import { type AppStream, openAppStream } from './load/push.ts';
import { logIn } from './load/sessions.ts';
import { register } from './load/spaces.ts';

let fixture: TokenFixture;
let api: TokenApi;
let gateway: TestGateway;
let collections: Collections;
let world: World;
let person: Person;
let account: AccountRecord;
let user_id: string;
/** Events that the subscriber has received. */
let received: AuthEvent[];

beforeAll(async () => {
  fixture = await openTokenFixture();
  api = await fixture.start();
  gateway = await startTestGateway(fixture);
  ({ collections } = fixture);
});
afterAll(async () => {
  endAppConnections();
  await gateway.close();
  await fixture.close();
});

/** Registers a user and logs in, as the load does. */
async function newPerson(): Promise<Person> {
  const app = createApp(world, 1, { random: () => 0.5, timeoutMs: 20_000 });
  await register(world, app.person);
  await logIn(app);
  return app.person;
}

beforeEach(async () => {
  await Promise.all(Object.values(collections).map((collection) => collection.deleteMany({})));
  world = await createWorld({ apis: [api.base], gateways: [gateway.base] });
  received = [];
  person = await newPerson();
  if (person.account === undefined) throw new Error('nobody is registered');
  account = person.account;
  user_id = account.userId;
});

async function violations(): Promise<string[]> {
  const { history } = world;
  await history.close();
  return history.violations.map(({ what }) => what);
}

/** Returns the violations that the check finds if the subscriber has received the events, each once. */
async function foundBy(check: (evidence: Evidence) => unknown, hasKey = false): Promise<string[]> {
  const { ledger, history } = world;
  const subscribers = [{ name: 'analytics', hasKey, received: received.map((event) => ({ event })) }];
  await check(await readEvidence({ ledger, history, collections, subscribers }));
  return violations();
}

/** Adds a user with the same email address, and with everything else that a user needs. */
async function addTwin(): Promise<void> {
  const { users, groups, outbox } = collections;
  const [user, row] = [await users.findOneAndDelete({ _id: user_id }), await outbox.findOne({})];
  if (user === null || row === null) throw new Error('nobody is registered');
  const twinId = randomUUID();
  await users.insertMany([{ ...user, _id: twinId, email_key: 'twin@example.com', role: 'member' }, user]);
  await groups.updateOne({}, { $set: { member_count: 2 } });
  await outbox.insertOne({ ...row, _id: randomUUID(), event: { ...row.event, subject: twinId } });
}

test('checkStores finds nothing if the stores agree with the answers to the apps', async () => {
  expect(await foundBy(checkStores)).toEqual([]);
});

test('checkStores finds a 201 without its user, and what the user has left', async () => {
  await collections.users.deleteOne({ _id: user_id });
  expect(await foundBy(checkStores)).toEqual([
    'a 201 has no user',
    'a group counts other members than it has',
    'a group is closed or open wrongly',
    'a live session speaks of another group',
    'an event without a user',
    'a kept 201 without a user',
  ]);
});

const endAll = () => [...world.ledger.sessions.values()].map((session) => Object.assign(session, { state: 'ended' }));
const renamed = [{ email: 'another@example.com', password: undefined }];

test.each<[string, () => unknown]>([
  ['a user has not one event', () => collections.outbox.deleteMany({})],
  ['a session that its app has is revoked', () => collections.sessions.updateMany({}, { $set: { is_revoked: true } })],
  ['a session that was ended is live', endAll],
  ['a user is in another group than its app', () => Object.assign(person, { groupId: 'another' })],
  ['a user has another email address than its app', () => Object.assign(person, { holds: renamed })],
  ['an email address has several users', addTwin],
])('checkStores finds that %s', async (what, happen) => {
  await happen();
  expect(await foundBy(checkStores)).toEqual([what]);
});

/** Creates an event with the present time. */
const madeUp = <Topic extends AccountTopic>(topic: Topic, data: AccountEventOf<Topic>['data']): AccountEventOf<Topic> =>
  createAccountEvent(topic, data, { id: randomUUID(), requestId: 'made-up', at: new Date() });

/** Writes an event that was sent to no subscriber, or to those. */
async function write(event: AuthEvent, deliveries: OutboxDocument['deliveries'] = {}): Promise<void> {
  const at = new Date();
  const state = { state: 'delivered', created_at: at, locked_until: at, attempts: 0, deliveries } as const;
  await collections.outbox.insertOne({ _id: event.id, topic: event.type, event, ...state });
}

describe('checkSubscribers', () => {
  let event: RegisteredEvent;
  beforeEach(async () => {
    const [row] = await collections.outbox.find().toArray();
    if (row?.event.type !== registeredTopic) throw new Error('nobody is registered');
    event = row.event;
  });

  const notification = () => madeUp('service.auth.events.notice', { user_id, purpose: 'new_device', locale: 'en' });
  const elsewhere = () => ({ ...event, data: { ...event.data, home_group_id: randomUUID() } });
  /** Writes a notification that was sent to no subscriber, or to those. */
  async function notify(deliveries: OutboxDocument['deliveries'] = {}) {
    const notice = notification();
    await write(notice, deliveries);
    return notice;
  }
  async function notifySecretly() {
    const notice = await notify({ analytics: new Date() });
    return { ...notice, data: { ...notice.data, secret: 'sealed' } };
  }

  test.each<[string, () => Promise<readonly AuthEvent[]>, boolean?]>([
    ['', async () => [event]],
    ['a subscriber was notified of something else than the app', async () => [elsewhere()]],
    ['an event has not arrived, a subscriber has not one event', async () => []],
    ['a subscriber was notified of what has not happened', async () => [event, notification()]],
    ['an event for nobody was delivered', async () => [event, await notify()]],
    ['a subscriber without a key has a secret', async () => [event, await notifySecretly()]],
    ['', async () => [event, await notifySecretly()], true],
  ])('checkSubscribers finds, if it shall: %s', async (what, events, hasKey = false) => {
    received.push(...(await events()));
    expect((await foundBy(checkSubscribers, hasKey)).join(', ')).toBe(what);
  });
});

const time = new Date().toISOString();
/** The topic and data of each kind of change. */
const changes: Readonly<Record<ChangeKind, readonly [topic: string, data: object]>> = {
  changed: ['password_changed', { changed_at: time, reason: 'changed' }],
  reset: ['password_changed', { changed_at: time, reason: 'reset' }],
  undone: ['password_changed', { changed_at: time, reason: 'undone' }],
  email_changed: ['email_changed', { changed_at: time, is_undone: false }],
  email_undone: ['email_changed', { changed_at: time, is_undone: true }],
  deletion_scheduled: ['deletion_scheduled', { scheduled_at: time, deletes_at: time }],
  deletion_cancelled: ['deletion_cancelled', { cancelled_at: time }],
};
const unmade = ['a change has more events than it was made'];
const missing = ['an acknowledged change has no event'];
const unasked = ['an account was changed that nobody has changed'];

describe.each(Object.keys(changes) as ChangeKind[])('checkAccounts about a change: %s', (kind) => {
  test.each([
    ['accepts a change that is done with one event', 'done', 1, []],
    ['accepts a change that is perhaps done with one event', 'perhaps', 1, []],
    ['finds a change whose event is missing', 'done', 0, missing],
    ['finds the event of a change that was not made', 'none', 1, unmade],
    ['finds the event of a change that nobody asked for', undefined, 1, unasked],
  ] as const)('checkAccounts %s', async (_, outcome, count, found) => {
    if (outcome !== undefined) account.changes.push({ kind, outcome });
    const [topic, data] = changes[kind];
    if (count > 0) await write(madeUp(`service.auth.events.${topic}` as AccountTopic, { user_id, ...data } as never));
    expect(await foundBy(checkAccounts)).toEqual(found);
  });
});

/** Writes the event of the deletion, and delivers it. */
async function announceDeletion(): Promise<void> {
  const event = madeUp('service.auth.events.deleted', { user_id, home_group_id: user_id, deleted_at: time });
  await write(event);
  received.push(event);
}

/** Removes the user as the worker does, with the event of the deletion. */
async function erase(): Promise<void> {
  const { users, sessions, idempotency, groups } = collections;
  await users.deleteMany({});
  await sessions.deleteMany({});
  await idempotency.deleteMany({});
  await groups.updateMany({}, { $set: { closed_at: new Date() } });
  await announceDeletion();
}

const later = Date.now() + 14 * 86_400_000;
const schedule = (at: number) => collections.users.updateMany({}, { $set: { deletes_at: new Date(at) } });

describe('checkAccounts about a deletion', () => {
  test.each<[string, number | undefined, () => Promise<unknown>]>([
    ['an account that is gone after an acknowledged deletion', Date.now(), erase],
    ['an account that is gone after an order without an answer', undefined, erase],
    ['an account that waits until the time of its deletion', later, () => schedule(later)],
  ])('checkAccounts finds nothing about %s', async (_, deletesAt, happen) => {
    person.deletion = { deletesAt };
    await happen();
    expect(await foundBy(checkAccounts)).toEqual([]);
  });

  test.each<[string, number | undefined | 'none', () => Promise<unknown>]>([
    ['an acknowledged deletion has left the account', 0, async () => undefined],
    ['a deletion is not scheduled as it was announced', later, async () => undefined],
    ['a deletion is not scheduled as it was announced', later, () => schedule(later + 60_000)],
    ['an account was erased before its time', later, erase],
    ['an account was not erased in time', undefined, () => schedule(Date.now())],
    ['an account is about to go that nobody has deleted', 'none', () => schedule(later)],
    ['an account was erased that nobody has deleted', 'none', erase],
  ])('checkAccounts finds that %s', async (what, deletesAt, happen) => {
    if (deletesAt !== 'none') person.deletion = { deletesAt };
    await happen();
    expect(await foundBy(checkAccounts)).toEqual([what]);
  });

  test('checkAccounts finds the deletion event of an account that still exists', async () => {
    person.deletion = { deletesAt: undefined };
    await announceDeletion();
    expect((await foundBy(checkAccounts)).slice(0, 1)).toEqual(['an account is gone and there']);
  });

  test('waitForErasures finds accounts that are not erased', async () => {
    await schedule(Date.now() - 1_000);
    await waitForErasures(collections, world.history, 0);
    expect(await violations()).toEqual(['accounts were not erased']);
  });
});

describe('checkAccounts about an erased account', () => {
  beforeEach(async () => {
    person.deletion = { deletesAt: Date.now() };
    await erase();
  });

  const announceFalsely = async () => {
    user_id = 'somebody else';
    await announceDeletion();
    await collections.outbox.deleteOne({ 'event.subject': user_id });
  };

  test.each<[string, () => unknown]>([
    ['an account was erased several times, a subscriber has not one goodbye', announceDeletion],
    ['a subscriber has not one goodbye', () => received.pop()],
    ['a subscriber was notified of a false erasure', announceFalsely],
  ])('checkAccounts finds that %s', async (what, happen) => {
    await happen();
    expect((await foundBy(checkAccounts)).join(', ')).toBe(what);
  });

  test.each<[keyof Collections, () => object]>([
    ['sessions', () => ({ user_id })],
    ['challenges', () => ({ user_id })],
    ['idempotency', () => ({ user_id })],
    ['invites', () => ({ created_by: user_id })],
    ['groups', () => ({ owner_id: user_id, closed_at: null })],
    ['users', () => ({ email_key: person.holds[0]?.email })],
    ['users', () => ({ former_emails: [{ email_key: person.holds[0]?.email }] })],
  ])('checkAccounts finds traces in %s', async (name, trace) => {
    await collections[name].insertOne({ _id: 'left', ...trace() } as never);
    expect(await foundBy(checkAccounts)).toEqual(['an erased account has left traces']);
  });
});

describe('checkLogins', () => {
  async function tried(base = api.base): Promise<string[]> {
    account.changes.push({ kind: 'changed', outcome: 'done' });
    await checkLogins({ ...world, apis: [base], isOver: true });
    return violations();
  }
  test('checkLogins tries again without an answer, although the apps have given up', async () => {
    const proxy = await startHoldingProxy(Number(new URL(api.base).port));
    proxy.cut('reset');
    const result = tried(`http://127.0.0.1:${proxy.port}`);
    const isTried = async () => (world.history.counts.get('final try')?.unknown ?? 0) > 0;
    await waitUntil(isTried, { what: 'a try without an answer', timeoutMs: 60_000, intervalMs: 5 });
    proxy.fix();
    expect(await result).toEqual([]);
    await proxy.close();
  });

  const email = () => person.holds[0]?.email ?? '';
  const hold = (...passwords: readonly string[]) => {
    person.holds = passwords.map((password) => ({ email: email(), password }));
  };
  const holdTwo = async () => {
    person.holds = [...person.holds, ...(await newPerson()).holds];
  };
  const wait = (deletesAt: number) => Object.assign(person, { deletion: { deletesAt } });
  const refused = 'credentials that hold were refused';
  const accepted = 'unusable credentials were not refused';
  const gone = `${accepted}, the email address of an account that is gone is not free`;

  test.each<[string, string, () => unknown]>([
    ['former credentials that do not', '', () => account.former.push({ email: email(), password: 'an earlier one' })],
    ['former credentials that do', accepted, () => account.former.push(...person.holds)],
    ['present credentials that do not', refused, () => hold('another password')],
    ['both of two possible credentials, which do', 'two pairs of credentials hold', holdTwo],
    ['both of two possible credentials, which do not', refused, () => hold('one password', 'another password')],
    ['an account that waits for its erasure', refused, () => wait(later)],
    ['an erased account', gone, () => wait(Date.now())],
  ])('checkLogins tries to log in by %s, and finds: %s', async (_, what, happen) => {
    await happen();
    expect((await tried()).join(', ')).toBe(what);
  });
});

describe('checkEnded', () => {
  let redis: Redis;
  let denyList: DenyList;
  /** A session with a stream, whose app believes it to be live. */
  let session: SessionRecord;
  let stream: AppStream;

  beforeAll(async () => {
    redis = new Redis(fixture.env.REDIS_URL ?? '');
    denyList = createDenyList(redis, redisKeys(fixture.keyPrefix), denialLifetimeMs(600));
    // No worker repairs the list, so an entry that the tests don't write into it is lost.
    await completeDenyList(denyList);
  });
  afterAll(() => redis.disconnect());

  beforeEach(async () => {
    session = [...world.ledger.sessions.values()][0] as SessionRecord;
    const { streamPath, accessToken } = session;
    const request = { url: gateway.base + streamPath, accessToken, requestId: 'ended-sessions', timeoutMs: 15_000 };
    // As apps do, if a stream is lost before any frame (ADR 0004).
    const opened = (await openAppStream(request)) ?? (await openAppStream(request));
    if (typeof opened !== 'object') throw new Error(`no stream: ${opened}`);
    stream = opened;
    session.streams.add(stream);
  });

  async function found(): Promise<string[]> {
    await checkEnded(world, await findEnded(world, collections));
    stream.terminate();
    return (await violations()).sort();
  }

  const at = new Date();

  const revoke = () =>
    storesOf(collections).sessions.revokeAll([session.sessionId], { reason: 'logout', at, requestId: 'r' });

  /** Moves the session's user to another group. */
  const move = () =>
    fixture.mongo.withSession((transaction) => {
      const change = { home_group_id: 'another', account_type: 'HOME', at, requestId: 'r' } as const;
      return storesOf(collections).sessions.changeClaims(session.userId, change, transaction);
    });

  async function denyAndClose(denial: Denial): Promise<void> {
    await denyList.denyAndClose([{ sessionId: session.sessionId, denial, requestId: 'r', decidedAt: at.getTime() }]);
    await waitUntil(async () => !stream.isOpen(), { what: 'The end of the stream', timeoutMs: 60_000, intervalMs: 10 });
  }

  test('checkEnded finds nothing about a live session', async () => {
    expect(await findEnded(world, collections)).toEqual([]);
    expect(await found()).toEqual([]);
  });

  const over: Denial = { kind: 'revoked', reason: 'LOGOUT_CONFIRMED' };
  const former: Denial = { kind: 'below', ver: 2 };

  describe.each<[string, string, SessionRecord['state'], () => Promise<unknown>, Denial]>([
    ['that MongoDB says is over, whose app had no answer', 'session', 'unsure', revoke, over],
    ['that MongoDB says is over, whose app knows nothing', 'session', 'live', revoke, over],
    ['whose app was notified that it is over', 'session', 'ended', revoke, over],
    ['whose user has changed the group', 'claims', 'live', move, former],
  ])('checkEnded about a session %s', (_, what, state, end, denial) => {
    beforeEach(async () => {
      session.state = state;
      await end();
    });

    test('checkEnded finds nothing if all services refuse its token', async () => {
      await denyAndClose(denial);
      expect(await found()).toEqual([]);
    });

    test('checkEnded finds each service that accepts its token', async () => {
      expect(await found()).toEqual([
        `a stream outlived its ${what}`,
        `a token outlived its ${what} at a gateway`,
        `a token outlived its ${what} at the api`,
      ]);
    });
  });

  test('checkEnded finds a session that goes on although its app knows of its end', async () => {
    session.state = 'ended';
    await denyAndClose(over);
    expect(await found()).toEqual(['a session that has ended was refreshed']);
  });

  test('checkEnded finds nothing about streams and tokens that are newer than the ended claims', async () => {
    await move();
    const ended = await findEnded(world, collections);
    await denyAndClose(former);
    session.streams.add({ isOpen: () => true });
    session.accessToken = 'a newer one';
    await checkEnded(world, ended);
    expect(await violations()).toEqual([]);
  });
});
