import { randomUUID } from 'node:crypto';
import type { RegisteredEvent } from '@auth-account/contracts';
import { type Collections, collectionsOf, type OutboxStore, publishGraceMs } from '@auth-account/stores';
import type { OutboxDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { storesOf } from '../../support/stores/stores-of.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';
import { dueRow, newEvent } from '../../support/worker/worker-events.ts';

const subscribers = ['analytics', 'billing'];
const topic = 'service.auth.events.registered';
const at = (ms: number) => new Date(1_800_000_000_000 + ms);

let mongo: MongoClient;
let collections: Collections;
let outbox: OutboxStore;
beforeAll(async () => {
  mongo = new MongoClient(testEnvironment().mongodbUri);
  const db = mongo.db(uniqueName());
  collections = collectionsOf(db);
  outbox = storesOf(collections).outbox;
});
beforeEach(() => collections.outbox.deleteMany());
afterAll(async () => {
  await mongo.db(collections.users.dbName).dropDatabase();
  await mongo.close();
});

/** Stores a row as at an event's commit, except for the given fields. */
async function stored(fields: Partial<OutboxDocument> = {}): Promise<OutboxDocument> {
  const row = dueRow({ created_at: at(0), locked_until: at(5_000), ...fields });
  await collections.outbox.insertOne(row);
  return row;
}

const row = (_id: string) => collections.outbox.findOne({ _id });
const idsOf = (rows: readonly { readonly _id: string }[]) => rows.map(({ _id }) => _id);

describe('an event', () => {
  const append = (event: RegisteredEvent, isKept: boolean) =>
    mongo.withSession(async (session) => {
      session.startTransaction();
      await outbox.append(event, at(0), session);
      await (isKept ? session.commitTransaction() : session.abortTransaction());
    });

  test('an event is stored with its content, pending, and left to the publish for five seconds', async () => {
    const event = newEvent();
    await append(event, true);
    expect(await row(event.id)).toEqual({
      _id: event.id,
      topic,
      event,
      state: 'pending',
      created_at: at(0),
      locked_until: at(5_000),
      attempts: 0,
      deliveries: {},
    });
    expect(publishGraceMs).toBe(5_000);
  });

  test('an event is not stored if its transaction is rolled back', async () => {
    const event = newEvent();
    await append(event, false);
    expect(await row(event.id)).toBeNull();
  });
});

describe('a claim', () => {
  const claim = (now: Date, limit = 10, lease: string = randomUUID()) => outbox.claim({ lease, now, limit });

  test('a claim returns the rows that are due, from that very moment, and leases them', async () => {
    const { _id, ...rest } = await stored({ locked_until: at(100), attempt_log: [] });
    expect(await claim(at(99))).toEqual([]);
    const { attempt_log: _, ...shown } = rest;
    const leased = { attempts: 1, locked_until: at(5_100), lease: 'mine' };
    expect(await claim(at(100), 10, 'mine')).toEqual([{ _id, ...shown, ...leased }]);
    expect(await row(_id)).toEqual({ _id, ...rest, ...leased });
    expect(await claim(at(5_099))).toEqual([]);
    expect(idsOf(await claim(at(5_100)))).toEqual([_id]);
  });

  test.each([
    [1, 10_000],
    [3, 40_000],
    [6, 320_000],
    [7, 600_000],
    [40, 600_000],
  ])('a claim of a row that was claimed %d times holds it for %d ms', async (attempts, pause) => {
    const { _id } = await stored({ attempts, locked_until: at(0) });
    await claim(at(0));
    expect(await row(_id)).toMatchObject({ attempts: attempts + 1, locked_until: at(pause) });
  });

  test('a claim takes no more than its limit, the rows that are due for the longest, and none that is settled', async () => {
    const [third, first, second] = [
      await stored({ locked_until: at(30) }),
      await stored({ locked_until: at(10) }),
      await stored({ locked_until: at(20) }),
    ];
    await stored({ state: 'delivered', locked_until: at(0) });
    await stored({ state: 'dead', locked_until: at(0) });
    expect(new Set(idsOf(await claim(at(99), 2)))).toEqual(new Set(idsOf([first, second])));
    expect(idsOf(await claim(at(99), 2))).toEqual([third._id]);
  });

  test('a claim finds other rows if another relay was quicker with those it saw', async () => {
    // Three concurrent claims see the same twenty rows. By chance they may divide these rows without a conflict, so
    // several rounds are tried.
    for (let last = 0, round = 0; last <= 20; round += 1) {
      expect(round).toBeLessThan(50);
      await Promise.all(Array.from({ length: 60 }, () => stored({ locked_until: at(0) })));
      const claimed = (await Promise.all(Array.from({ length: 3 }, () => claim(at(0), 20)))).flat();
      expect(new Set(idsOf(claimed)).size).toBe(claimed.length);
      last = claimed.length;
    }
  });
});

describe('rows that are held', () => {
  const hold = (row: OutboxDocument, isAll: boolean) => outbox.hold([{ row, for: ['stuck'], isAll }], at(0));

  test('held rows say for whom and until when, and for how long no claim gives them', async () => {
    const [alone, shared] = [await stored({ lease: 'l' }), await stored({ lease: 'l' })];
    await hold(alone, true);
    await hold(shared, false);
    const held = { for: ['stuck'], until: at(3_600_000) };
    expect(await row(alone._id)).toEqual({ ...alone, held, locked_until: new Date(8_640_000_000_000_000) });
    expect(await row(shared._id)).toEqual({ ...shared, held });
  });

  test('held rows are only those that are pending and under the lease', async () => {
    const settled = await stored({ state: 'delivered', lease: 'l' });
    const [lost, bare] = [await stored({ lease: 'other' }), await stored()];
    await hold(settled, true);
    await hold({ ...lost, lease: 'l' }, true);
    await hold(bare, true);
    for (const before of [settled, lost, bare]) expect(await row(before._id)).toEqual(before);
    await outbox.hold([], at(0));
  });

  test('held rows are released up to the limit, pending ones only', async () => {
    const held = { for: ['stuck'], until: at(11) };
    const rows = [await stored({ held }), await stored({ held }), await stored({ held })];
    await stored({ held, state: 'delivered' });
    const claimHeld = (opened: string[], limit: number, now = at(10)) =>
      outbox.claimHeld({ lease: 'mine', now, limit, opened });
    expect(await claimHeld(['good'], 2)).toEqual([]);
    expect(await claimHeld([], 2)).toEqual([]);
    const first = await claimHeld(['good', 'stuck'], 2);
    const second = await claimHeld([], 2, at(11));
    expect(new Set(idsOf([...first, ...second]))).toEqual(new Set(idsOf(rows)));
    expect([first.length, second.length]).toEqual([2, 1]);
    expect(await claimHeld(['stuck'], 2)).toEqual([]);
  });

  test('held rows are due at once when their event is sent again', async () => {
    const { replay, subscribers: known } = storesOf(collections);
    await known.configure(subscribers, at(0));
    const { _id } = await stored({ state: 'delivered', deliveries: { analytics: at(1), billing: at(1) } });
    const held = { for: ['billing'], until: at(3_600_000) };
    await collections.outbox.updateOne({ _id }, { $set: { held, locked_until: new Date(8_640_000_000_000_000) } });
    expect(await replay({ eventId: _id, subscriber: 'analytics', deadOnly: false, at: at(9) })).toEqual({
      to: ['analytics'],
    });
    expect((await row(_id))?.held).toBeUndefined();
    expect(idsOf(await outbox.claim({ lease: 'mine', now: at(9), limit: 1 }))).toEqual([_id]);
  });
});

test('the end of the leases touches only rows that were claimed and are still leased', async () => {
  const leased = await stored({ attempts: 1, locked_until: at(9_000) });
  const untouched = [
    await stored({ attempts: 0, locked_until: at(9_000) }),
    await stored({ attempts: 1, locked_until: at(10) }),
    await stored({ attempts: 1, locked_until: at(9_000), state: 'delivered' }),
    await stored({ attempts: 1, locked_until: new Date(8_640_000_000_000_000) }),
  ];
  await outbox.release(at(20));
  expect(await row(leased._id)).toEqual({ ...leased, locked_until: at(20) });
  for (const before of untouched) expect(await row(before._id)).toEqual(before);
});

test('the leases of more rows than one update covers end too, those of one moment among them', async () => {
  const { _id: _, ...row } = await stored({ attempts: 1, locked_until: at(9_000) });
  const rows = Array.from({ length: 2_100 }, (_, i) => ({
    ...row,
    _id: randomUUID(),
    locked_until: at(9_000 + i / 700),
  }));
  await collections.outbox.insertMany(rows);
  await outbox.release(at(20));
  expect(await collections.outbox.countDocuments({ locked_until: at(20) })).toBe(2_101);
});

describe('an error', () => {
  test('an error is recorded in the rows that wait, and in no other', async () => {
    const [a, settled, other] = [await stored(), await stored({ state: 'delivered' }), await stored()];
    await outbox.noteError([a._id, settled._id], 'relay: no capacity');
    expect(await row(a._id)).toEqual({ ...a, last_error: 'relay: no capacity' });
    expect(await row(settled._id)).toEqual(settled);
    expect(await row(other._id)).toEqual(other);
  });
});

describe('an attempt', () => {
  const delivered = (subscriber: string, ms: number) => ({ subscriber, at: at(ms), outcome: 'delivered' }) as const;
  const failed = (subscriber: string, ms: number) =>
    ({ subscriber, at: at(ms), outcome: 'failed', error: `answered ${ms}` }) as const;

  test('an attempt that succeeds is recorded, and the row is delivered once all subscribers have the event', async () => {
    const before = await stored();
    const eventId = before._id;
    await outbox.record([{ eventId, attempt: delivered('billing', 1) }], subscribers);
    const attempt_log = [delivered('billing', 1)];
    expect(await row(eventId)).toEqual({ ...before, deliveries: { billing: at(1) }, attempt_log });
    await outbox.record([{ eventId, attempt: delivered('analytics', 2) }], subscribers);
    expect(await row(eventId)).toEqual({
      ...before,
      state: 'delivered',
      deliveries: { billing: at(1), analytics: at(2) },
      attempt_log: [...attempt_log, delivered('analytics', 2)],
      delivered_at: at(2),
    });
  });

  test('an attempt that fails is recorded with its error, and since when it does', async () => {
    const before = await stored();
    const eventId = before._id;
    for (const ms of [1, 2]) await outbox.record([{ eventId, attempt: failed('billing', ms) }], subscribers);
    expect(await row(eventId)).toEqual({
      ...before,
      last_error: 'billing: answered 2',
      first_failures: { billing: at(1) },
      attempt_log: [failed('billing', 1), failed('billing', 2)],
    });
  });

  test('an attempt at a row that waits for nobody changes nothing', async () => {
    const before = await stored({ state: 'delivered' });
    await outbox.record([{ eventId: before._id, attempt: failed('billing', 1) }], subscribers);
    expect(await row(before._id)).toEqual(before);
    await outbox.record([], subscribers);
  });

  test('an attempt is remembered with the 29 before it', async () => {
    const attempt_log = Array.from({ length: 30 }, (_, ms) => failed('billing', ms));
    const { _id: eventId } = await stored({ attempt_log });
    await outbox.record([{ eventId, attempt: failed('billing', 30) }], subscribers);
    expect((await row(eventId))?.attempt_log).toEqual([...attempt_log.slice(1), failed('billing', 30)]);
  });

  test('an attempt counts only for the delivery or the replay that it belongs to', async () => {
    const [first, again] = [await stored(), await stored({ replays: { billing: at(3) } })];
    const attempt = delivered('billing', 9);
    await outbox.record(
      [
        { eventId: first._id, attempt, replayedAt: at(3) },
        { eventId: again._id, attempt },
        { eventId: again._id, attempt, replayedAt: at(4) },
      ],
      subscribers,
    );
    expect(await row(first._id)).toEqual(first);
    expect(await row(again._id)).toEqual(again);
    await outbox.record([{ eventId: again._id, attempt, replayedAt: at(3) }], subscribers);
    expect(await row(again._id)).toMatchObject({ deliveries: { billing: at(9) } });
  });

  test('an attempt of several is written although one of them fits no row', async () => {
    const { _id: eventId } = await stored();
    const gone = { eventId: randomUUID(), attempt: delivered('billing', 1) };
    await outbox.record([gone, { eventId, attempt: delivered('billing', 2) }], subscribers);
    expect(await row(eventId)).toMatchObject({ deliveries: { billing: at(2) } });
  });
});

describe('deliveries that are found later', () => {
  const mark = (eventId: string, by: string[], lease?: string) =>
    outbox.markDelivered([{ eventId, by, at: at(7), ...(lease === undefined ? {} : { lease }) }], subscribers);

  test('a delivery is recorded without an attempt, and keeps the time that was recorded first', async () => {
    const before = await stored({ deliveries: { analytics: at(1) } });
    await mark(before._id, ['analytics']);
    expect(await row(before._id)).toEqual(before);
    await mark(before._id, subscribers);
    const deliveries = { analytics: at(1), billing: at(7) };
    expect(await row(before._id)).toEqual({ ...before, state: 'delivered', deliveries, delivered_at: at(7) });
    await outbox.markDelivered([], subscribers);
  });

  test.each<[string, Partial<OutboxDocument>, OutboxDocument['state']]>([
    ['the event', { deliveries: { billing: at(1) } }, 'delivered'],
    ['a dead letter of it', { dead: { billing: at(1) } }, 'dead'],
    ['no need of it any more', { discarded: { billing: at(1) } }, 'delivered'],
    ['none of them', {}, 'pending'],
  ])('a delivery settles the row depending on the other subscriber, which has %s', async (_, fields, state) => {
    const { _id } = await stored(fields);
    await mark(_id, ['analytics']);
    const after = await row(_id);
    expect(after?.state).toBe(state);
    expect(after?.delivered_at).toEqual(state === 'delivered' ? at(7) : undefined);
  });

  test('a delivery to a subscriber that is no longer configured does not matter', async () => {
    const { _id } = await stored();
    await mark(_id, ['gone']);
    expect(await row(_id)).toMatchObject({ state: 'pending' });
    await outbox.markDelivered([{ eventId: _id, by: [], at: at(8) }], []);
    expect(await row(_id)).toMatchObject({ state: 'delivered', delivered_at: at(8) });
  });

  test('a delivery is recorded only in a row that waits, and under the lease that it was found with', async () => {
    const [settled, leased] = [await stored({ state: 'dead' }), await stored({ lease: 'theirs' })];
    await mark(settled._id, subscribers);
    expect(await row(settled._id)).toEqual(settled);
    await mark(leased._id, subscribers, 'mine');
    expect(await row(leased._id)).toEqual(leased);
    await mark(leased._id, subscribers, 'theirs');
    expect(await row(leased._id)).toMatchObject({ state: 'delivered' });
    const known = await stored({ lease: 'theirs' });
    await mark(known._id, subscribers);
    expect(await row(known._id)).toMatchObject({ state: 'delivered' });
  });
});

describe('the search for rows', () => {
  test('rows are found by their event, or not at all', async () => {
    const before = await stored();
    expect(await outbox.find(before._id)).toEqual(before);
    expect(await outbox.find(randomUUID())).toBeUndefined();
  });

  test('rows are found by their request, oldest first, a hundred at most', async () => {
    const requestid = `request-${randomUUID()}`;
    const event = { ...newEvent(), requestid };
    const made = await Promise.all(Array.from({ length: 101 }, () => stored({ event, _id: randomUUID() })));
    await stored();
    const expected = idsOf(made).sort();
    expect(idsOf(await outbox.findByRequest(requestid))).toEqual(expected.slice(0, 100));
  });

  const idAt = (ms: number, end: string) => {
    const hex = (1_800_000_000_000 + ms).toString(16).padStart(12, '0');
    return `${hex.slice(0, 8)}-${hex.slice(8)}-7${end}`;
  };

  test('rows are found in pages of their order, by state and by the time in their ids', async () => {
    const at9 = await stored({ _id: idAt(9, '000-8000-000000000000') });
    const at0 = await stored({ _id: idAt(0, '000-8000-000000000000') });
    const at5 = await stored({ _id: idAt(5, 'fff-8fff-ffffffffffff'), state: 'dead' });
    const list = async (filter: object) => idsOf(await outbox.list({ limit: 10, ...filter }));
    expect(await list({})).toEqual(idsOf([at0, at5, at9]));
    expect(await list({ limit: 2 })).toEqual(idsOf([at0, at5]));
    expect(await list({ limit: 2, after: at0._id })).toEqual(idsOf([at5, at9]));
    expect(await list({ state: 'dead' })).toEqual([at5._id]);
    expect(await list({ since: at(5) })).toEqual(idsOf([at5, at9]));
    expect(await list({ since: at(6) })).toEqual([at9._id]);
    expect(await list({ until: at(5) })).toEqual([at0._id]);
    expect(await list({ until: at(6), since: at(1) })).toEqual([at5._id]);
    expect(await list({ state: 'pending', since: at(1), until: at(9) })).toEqual([]);
  });

  test('rows of a time long ago, whose ids begin with zeros, are found', async () => {
    const early = await stored({ _id: '00000000-0005-7000-8000-000000000000' });
    await stored({ _id: idAt(0, '000-8000-000000000000') });
    expect(idsOf(await outbox.list({ limit: 10, until: new Date(6) }))).toEqual([early._id]);
    expect(idsOf(await outbox.list({ limit: 10, until: new Date(5) }))).toEqual([]);
  });
});

test('the backlog counts the waiting events, up to a limit, and says since when the oldest waits', async () => {
  expect(await outbox.backlog(10)).toEqual({ depth: 0, oldest: undefined });
  await stored({ created_at: at(30) });
  await stored({ created_at: at(20) });
  await stored({ created_at: at(10), state: 'delivered' });
  expect(await outbox.backlog(10)).toEqual({ depth: 2, oldest: at(20) });
  expect(await outbox.backlog(1)).toEqual({ depth: 1, oldest: at(20) });
});
