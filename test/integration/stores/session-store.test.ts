import { randomUUID } from 'node:crypto';
import { type Collections, collectionsOf, type SessionStore } from '@auth-account/stores';
import type { SessionDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type ClientSession, type CommandStartedEvent, MongoClient, Timestamp } from 'mongodb';
import { newSessionDocument } from '../../support/api/session-document.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';

let mongo: MongoClient;
let collections: Collections;
let store: SessionStore;

beforeAll(async () => {
  mongo = new MongoClient(testEnvironment().mongodbUri, { monitorCommands: true });
  const db = mongo.db(uniqueName());
  collections = collectionsOf(db);
  store = storesOf(collections).sessions;
});
beforeEach(async () => {
  await collections.sessions.deleteMany();
  await collections.erasedSessions.deleteMany();
});
afterAll(async () => {
  await mongo.db(collections.users.dbName).dropDatabase();
  await mongo.close();
});

async function stored(fields: Partial<SessionDocument> = {}): Promise<SessionDocument> {
  const document = { ...newSessionDocument(), ...fields };
  await collections.sessions.insertOne(document);
  return document;
}

const asStored = (_id: string) => collections.sessions.findOne({ _id });
const idsOf = (documents: readonly { readonly _id: string }[]) => documents.map(({ _id }) => _id);
const at = (ms: number) => new Date(1_800_000_000_000 + ms);
const revocation = { reason: 'forced', at: at(5), requestId: 'request-1' } as const;
const logout = { ...revocation, reason: 'logout' } as const;
const revokedFields = {
  is_revoked: true,
  revoked_reason: 'forced',
  revoked_at: at(5),
  revoked_request_id: 'request-1',
} as const;
const loggedOut = { ...revokedFields, revoked_reason: 'logout' } as const;

/** Runs the work in a transaction and rolls it back. */
async function inVain<T>(work: (session: ClientSession) => Promise<T>): Promise<T> {
  return mongo.withSession(async (session) => {
    session.startTransaction();
    const result = await work(session);
    await session.abortTransaction();
    return result;
  });
}

const inTransaction = <T>(work: (session: ClientSession) => Promise<T>) =>
  mongo.withSession((session) => session.withTransaction(() => work(session)));

describe('the search for a session', () => {
  test('a session is found as it is stored, or not at all', async () => {
    const document = await stored();
    expect(await store.find(document._id)).toEqual(document);
    expect(await store.findConfirmed(document._id)).toEqual(document);
    expect(await store.find(randomUUID())).toBeUndefined();
    expect(await store.findConfirmed(randomUUID())).toBeUndefined();
  });

  test('a session is found to exist, revoked or not', async () => {
    const [live, dead] = [await stored(), await stored({ is_revoked: true })];
    expect(await Promise.all([live._id, dead._id, randomUUID()].map((id) => store.exists(id)))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('a session’s status is found, and nothing else of it', async () => {
    const { _id } = await stored({ is_revoked: true });
    expect(await store.findStatus(_id)).toEqual({ _id, is_revoked: true, claims: { ver: 1 } });
    expect(await store.findStatus(randomUUID())).toBeUndefined();
  });
});

/** Returns the read concern of each command. */
async function concernsOf(work: () => Promise<unknown>): Promise<unknown[]> {
  const concerns: unknown[] = [];
  const keep = ({ command }: CommandStartedEvent) => concerns.push({ ...command.readConcern });
  mongo.on('commandStarted', keep);
  await work().finally(() => mongo.off('commandStarted', keep));
  return concerns;
}

async function readAll<T>(pages: AsyncIterable<T[]>): Promise<T[][]> {
  const read: T[][] = [];
  for await (const page of pages) read.push(page);
  return read;
}

test.each<[string, string, () => Promise<unknown>]>([
  ['whether it exists', 'majority', () => store.exists(randomUUID())],
  ['whether all are revoked', 'majority', () => store.areRevoked([randomUUID()])],
  ['it, to be certain', 'linearizable', () => store.findConfirmed(randomUUID())],
])('the read of %s has concern "%s": what it says cannot be rolled back', async (_, concern, work) => {
  expect(await concernsOf(work)).toEqual([{ level: concern }]);
});

test('the read of a session’s status has concern "local": nothing is missing that the primary has', async () => {
  expect(await concernsOf(() => store.findStatus(randomUUID()))).toEqual([{ level: 'local' }]);
});

describe('the sessions of a user', () => {
  test('the live sessions of a user are listed with what their owner may see, the one used last first', async () => {
    const user_id = randomUUID();
    const elder = await stored({
      user_id,
      last_used_at: at(1),
      expires_at: at(11),
      device_name: 'Pixel 9',
      platform: 'android',
    });
    const newer = await stored({ user_id, last_used_at: at(3), expires_at: at(11) });
    const middle = await stored({ user_id, last_used_at: at(2), expires_at: at(11) });
    await stored({ user_id, is_revoked: true, expires_at: at(11) });
    await stored({ user_id, expires_at: at(10) });
    await stored({ expires_at: at(11) });
    const listed = await store.listOwn(user_id, at(10));
    expect(idsOf(listed)).toEqual(idsOf([newer, middle, elder]));
    const { _id, device_id, device_name, platform, created_at, last_used_at, expires_at } = elder;
    expect(listed.at(-1)).toEqual({ _id, device_id, device_name, platform, created_at, last_used_at, expires_at });
  });

  test('the sessions of a user include those that have ended: the newest ends, and whether there are more', async () => {
    const user_id = randomUUID();
    const endedAt = (ms: number) => {
      const end = { is_revoked: true, revoked_at: at(ms), revoked_reason: 'logout' } as const;
      return stored({ user_id, ...end, revoked_request_id: 'request-1' });
    };
    const [second, third, first] = [await endedAt(2), await endedAt(1), await endedAt(3)];
    const live = await stored({ user_id, expires_at: at(0) });
    await stored();
    await stored({ is_revoked: true, revoked_at: at(4) });
    const held = await store.listHeld(user_id, 2);
    expect(idsOf(held.sessions)).toEqual(idsOf([live, first, second]));
    expect(held.hasMore).toBe(true);
    const all = await store.listHeld(user_id, 3);
    expect(idsOf(all.sessions)).toEqual(idsOf([live, first, second, third]));
    expect(all.hasMore).toBe(false);
    const { _id, device_id, device_name, platform, created_at, last_used_at, expires_at, claims } = first;
    expect(held.sessions[1]).toEqual({
      ...{ _id, device_id, device_name, platform, created_at, last_used_at, expires_at },
      ...{ claims: { home_group_id: claims.home_group_id }, revoked_at: at(3), revoked_reason: 'logout' },
    });
  });

  test('the sessions of a user that are not revoked are listed in the transaction, the one unused for longest first', async () => {
    const user_id = randomUUID();
    const newer = await stored({ user_id, last_used_at: at(3) });
    const elder = await stored({ user_id, last_used_at: at(1), expires_at: at(0) });
    await stored({ user_id, is_revoked: true });
    await stored();
    const made = { ...newSessionDocument(), user_id, last_used_at: at(2) };
    const listed = await inVain(async (session) => {
      await store.insert(made, session);
      return store.listLive(user_id, session);
    });
    const summaries = [elder, made, newer].map(({ _id, device_id, last_used_at, created_at, expires_at }) => ({
      _id,
      device_id,
      last_used_at,
      created_at,
      expires_at,
    }));
    expect(listed).toEqual(summaries);
    expect(await asStored(made._id)).toBeNull();
  });

  test('a live session of a user is found in the transaction with its owner', async () => {
    const [live, dead] = [await stored(), await stored({ is_revoked: true })];
    const found = ({ _id, user_id }: SessionDocument) => ({ _id, user_id });
    expect(await inVain((session) => store.findLive(live._id, session))).toEqual(found(live));
    expect(await inVain((session) => store.findLive(dead._id, session))).toBeUndefined();
    const made = newSessionDocument();
    const inserted = await inVain(async (session) => {
      await store.insert(made, session);
      return store.findLive(made._id, session);
    });
    expect(inserted).toEqual(found(made));
  });
});

describe('a revocation', () => {
  test('a revocation of several sessions writes why, when and by whom, and leaves an ended one as it was', async () => {
    const [a, b, other] = [await stored(), await stored(), await stored()];
    const before = await stored({ is_revoked: true, revoked_reason: 'logout', revoked_at: at(1) });
    await store.revokeAll(idsOf([a, b, before]), revocation);
    expect(await asStored(a._id)).toEqual({ ...a, ...revokedFields });
    expect(await asStored(b._id)).toEqual({ ...b, ...revokedFields });
    expect(await asStored(before._id)).toEqual(before);
    expect(await asStored(other._id)).toEqual(other);
  });

  test('a revocation of all sessions of a user spares the named one, and says whether that one is live', async () => {
    const user_id = randomUUID();
    const [a, b] = [await stored({ user_id }), await stored({ user_id })];
    const [before, other] = [await stored({ user_id, is_revoked: true, revoked_reason: 'logout' }), await stored()];
    const revoke = (spare?: string) => inTransaction((session) => store.revokeOf(user_id, revocation, session, spare));
    expect(await revoke(b._id)).toEqual({ ended: [a._id], isSpareLive: true });
    for (const spared of [b, before, other]) expect(await asStored(spared._id)).toEqual(spared);
    expect(await asStored(a._id)).toEqual({ ...a, ...revokedFields });
    expect(await revoke(a._id)).toEqual({ ended: [b._id], isSpareLive: false });
    expect(await revoke()).toEqual({ ended: [], isSpareLive: false });
    expect(await asStored(before._id)).toEqual(before);
  });

  test('a revocation of all sessions of several users returns those that it has ended', async () => {
    const [a, b, other] = [await stored(), await stored(), await stored()];
    await stored({ user_id: a.user_id, is_revoked: true });
    const users = [a.user_id, b.user_id];
    const ended = await inTransaction((session) => store.revokeOfUsers(users, revocation, session));
    expect(new Set(ended)).toEqual(new Set([a, b].map(({ _id, user_id }) => ({ _id, user_id }))));
    expect(await asStored(a._id)).toEqual({ ...a, ...revokedFields });
    expect(await asStored(other._id)).toEqual(other);
  });

  test('a revocation in a transaction is undone with it', async () => {
    const document = await stored();
    await inVain((session) => store.revokeAll([document._id], revocation, session));
    expect(await asStored(document._id)).toEqual(document);
    await inTransaction((session) => store.revokeAll([document._id], revocation, session));
    expect(await asStored(document._id)).toEqual({ ...document, ...revokedFields });
  });

  test('a revocation remembers whose stream is to close with it', async () => {
    const document = await stored();
    await store.revokeAll([document._id], { ...revocation, alsoClose: 'another' });
    expect(await asStored(document._id)).toEqual({ ...document, ...revokedFields, revoked_also_close: 'another' });
  });

  test('a revocation of one’s own session says whether it was there to end', async () => {
    const { _id: sessionId, user_id: userId, ...rest } = await stored({ expires_at: at(6) });
    expect(await store.revokeOwn({ sessionId, userId }, logout)).toBe(true);
    expect(await asStored(sessionId)).toEqual({ _id: sessionId, user_id: userId, ...rest, ...loggedOut });
    expect(await store.revokeOwn({ sessionId, userId }, logout)).toBe(false);
  });

  test('a revocation by a session’s newest token says whether it was there to end', async () => {
    const { _id: sessionId, user_id: userId, ...rest } = await stored({ expires_at: at(6) });
    const own = { sessionId, userId, tokenHash: rest.token };
    expect(await store.revokeNewest(own, logout)).toBe(true);
    expect(await asStored(sessionId)).toEqual({ _id: sessionId, user_id: userId, ...rest, ...loggedOut });
    expect(await store.revokeNewest(own, logout)).toBe(false);
  });

  test.each<[string, (document: SessionDocument) => object, Partial<SessionDocument>]>([
    ['another user', () => ({ userId: randomUUID() }), {}],
    ['another session', () => ({ sessionId: randomUUID() }), {}],
    ['another token', () => ({ tokenHash: 'x' }), {}],
    ['one that expires at that moment', () => ({}), { expires_at: at(5) }],
  ])('a revocation for %s changes nothing', async (_, change, fields) => {
    const document = await stored({ expires_at: at(6), ...fields });
    const { _id: sessionId, user_id: userId, token: tokenHash } = document;
    const own = { sessionId, userId, tokenHash, ...change(document) };
    expect(await store.revokeNewest(own, logout)).toBe(false);
    if (own.tokenHash === tokenHash) expect(await store.revokeOwn(own, logout)).toBe(false);
    expect(await asStored(sessionId)).toEqual(document);
  });

  test('a revocation is known of all sessions or of none', async () => {
    const [live, dead] = [await stored(), await stored({ is_revoked: true })];
    expect(await store.areRevoked([dead._id, randomUUID()])).toBe(true);
    expect(await store.areRevoked([dead._id, live._id])).toBe(false);
    expect(await store.areRevoked([])).toBe(true);
  });
});

describe('a rotation', () => {
  const rotation = {
    token: 'next',
    kid: 'key-2',
    gen: 2,
    parent: 1,
    floor: 1,
    handed_out_at: at(7),
    last_used_at: at(7),
    expires_at: at(99),
  };

  test('a rotation returns the session as it is afterwards', async () => {
    const seen = await stored();
    expect(await store.rotate(seen, rotation)).toEqual({ ...seen, ...rotation });
    expect(await asStored(seen._id)).toEqual({ ...seen, ...rotation });
  });

  test.each<[string, Partial<SessionDocument>]>([
    ['its generation', { gen: 3 }],
    ['its parent', { parent: 1 }],
    ['that it is live', { is_revoked: true }],
    ['its group', { claims: { home_group_id: 'other', account_type: 'HOME', ver: 1 } }],
    ['its kind of account', { claims: { home_group_id: 'group', account_type: 'OFFICE', ver: 1 } }],
    ['the version of its claims', { claims: { home_group_id: 'group', account_type: 'HOME', ver: 2 } }],
  ])('a rotation does nothing if somebody has changed %s since', async (_, change) => {
    const seen = { ...newSessionDocument(), claims: { home_group_id: 'group', account_type: 'HOME', ver: 1 } as const };
    await collections.sessions.insertOne({ ...seen, ...change });
    expect(await store.rotate(seen, rotation)).toBeUndefined();
    expect(await asStored(seen._id)).toEqual({ ...seen, ...change });
  });
});

describe('new claims', () => {
  const change = { home_group_id: 'there', account_type: 'OFFICE', at: at(8), requestId: 'request-2' } as const;

  test('new claims go into every live session of the user, each with its next version', async () => {
    const user_id = randomUUID();
    const a = await stored({ user_id });
    const b = await stored({ user_id, claims: { ...a.claims, ver: 4 } });
    const dead = await stored({ user_id, is_revoked: true });
    const other = await stored();
    const versions = await inTransaction((session) => store.changeClaims(user_id, change, session));
    const byId = (left: { _id: string }, right: { _id: string }) => left._id.localeCompare(right._id);
    const expected = [
      { _id: a._id, claims: { ver: 2 } },
      { _id: b._id, claims: { ver: 5 } },
    ];
    expect([...versions].sort(byId)).toEqual(expected.sort(byId));
    expect(await asStored(b._id)).toEqual({
      ...b,
      claims: { home_group_id: 'there', account_type: 'OFFICE', ver: 5 },
      claims_changed_at: at(8),
      claims_request_id: 'request-2',
    });
    expect(await asStored(dead._id)).toEqual(dead);
    expect(await asStored(other._id)).toEqual(other);
  });

  test('new claims are undone with their transaction', async () => {
    const document = await stored();
    expect(await inVain((session) => store.changeClaims(document.user_id, change, session))).toEqual([
      { _id: document._id, claims: { ver: 2 } },
    ]);
    expect(await asStored(document._id)).toEqual(document);
  });
});

describe('changes since a time', () => {
  const listChangedSince = (since: Date, pageSize: number) =>
    store.withFence((fenced) => readAll(fenced.listChangedSince(since, pageSize)));
  const listRevokedSince = (since: Date, pageSize: number) =>
    store.withFence((fenced) => readAll(fenced.listRevokedSince(since, pageSize)));

  test('changes since a time are read behind a fence: a linearizable read, and no older state with majority concern', async () => {
    const concerns = await concernsOf(() =>
      store.withFence(async (fenced) => {
        await readAll(fenced.listChangedSince(at(0), 10));
        await readAll(fenced.listRevokedSince(at(0), 10));
      }),
    );
    const majority = { level: 'majority', afterClusterTime: expect.any(Timestamp) };
    expect(concerns).toEqual([{ level: 'linearizable' }, majority, majority, majority]);
  });

  test('changes since a time include every live session with new claims, oldest change first, in pages', async () => {
    const changed = (ms: number) => stored({ claims_changed_at: at(ms), claims_request_id: `request-${ms}` });
    const [third, first, second] = [await changed(30), await changed(10), await changed(20)];
    await changed(9);
    await stored({ claims_changed_at: at(15), is_revoked: true });
    await stored();
    const pages = await listChangedSince(at(10), 2);
    expect(pages.map(idsOf)).toEqual([idsOf([first, second]), idsOf([third])]);
    expect((await listChangedSince(at(20), 2)).map(idsOf)).toEqual([idsOf([second, third])]);
    expect(await listChangedSince(at(31), 2)).toEqual([]);
    expect(pages[0]?.[0]).toEqual({
      _id: first._id,
      claims: { ver: 1 },
      claims_changed_at: at(10),
      claims_request_id: 'request-10',
    });
  });

  test('changes since a time include every revoked session, oldest revocation first, in pages', async () => {
    const end = (ms: number) =>
      stored({
        is_revoked: true,
        revoked_at: at(ms),
        revoked_reason: 'logout',
        revoked_request_id: `request-${ms}`,
        revoked_also_close: 'another',
      });
    const [third, first, second] = [await end(30), await end(10), await end(20)];
    await end(9);
    await stored({ revoked_at: at(15) });
    const pages = await listRevokedSince(at(10), 2);
    expect(pages.map(idsOf)).toEqual([idsOf([first, second]), idsOf([third])]);
    expect(pages[0]?.[0]).toEqual({
      _id: first._id,
      revoked_at: at(10),
      revoked_reason: 'logout',
      revoked_request_id: 'request-10',
      revoked_also_close: 'another',
    });
  });

  test('changes since a time include every revoked session of an erased account', async () => {
    const end = { revoked_at: at(10), revoked_reason: 'password_changed', revoked_request_id: 'request-10' } as const;
    const kept = await stored({ is_revoked: true, ...end });
    const erased = (ms: number) => ({ _id: `erased-${ms}`, ...end, revoked_at: at(ms) });
    await collections.erasedSessions.insertMany([11, 9, 10].map((ms) => ({ ...erased(ms), purge_at: at(60_000) })));
    expect(await listRevokedSince(at(10), 2)).toEqual([
      [{ _id: kept._id, ...end }],
      [10, 11].map((ms) => expect.objectContaining(erased(ms))),
    ]);
  });
});
