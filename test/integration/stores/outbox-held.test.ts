import { randomUUID } from 'node:crypto';
import type { RegisteredEvent } from '@auth-account/contracts';
import { type Collections, collectionsOf, ensureIndexes, type OutboxStore, type Stores } from '@auth-account/stores';
import type { OutboxDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { storesOf } from '../../support/stores-of.ts';
import { testEnvironment, uniqueName } from '../../support/test-api.ts';
import { commitEvent, longAgo, newEvent } from '../../support/worker-events.ts';

const subscribers = ['good', 'stuck'];
const hourMs = 3_600_000;

let mongo: MongoClient;
let collections: Collections;
let outbox: OutboxStore;
let replay: Stores['replay'];
beforeAll(async () => {
  mongo = new MongoClient(testEnvironment().mongodbUri);
  const db = mongo.db(uniqueName());
  await ensureIndexes(db);
  collections = collectionsOf(db);
  const stores = storesOf(collections);
  ({ outbox, replay } = stores);
  await stores.subscribers.configure(subscribers, new Date());
});
beforeEach(() => collections.outbox.deleteMany());
afterAll(async () => {
  await mongo.db(collections.users.dbName).dropDatabase();
  await mongo.close();
});

async function pending(): Promise<RegisteredEvent> {
  const event = newEvent();
  await commitEvent(mongo, mongo.db(collections.users.dbName), event, longAgo());
  return event;
}

const claim = (now = new Date()) => outbox.claim({ lease: randomUUID(), now, limit: 10 });
const claimHeld = (opened: string[], now = new Date()) =>
  outbox.claimHeld({ lease: randomUUID(), now, limit: 10, opened });
const ids = (rows: readonly OutboxDocument[]) => rows.map(({ _id }) => _id);
const row = (event: RegisteredEvent) => collections.outbox.findOne({ _id: event.id });

/** Stores a row that waits only for `stuck`. If `isAll` is false, it waits for another subscriber too. */
async function held(isAll = true): Promise<RegisteredEvent> {
  const event = await pending();
  const [claimed] = await claim();
  if (claimed?._id !== event.id) throw new Error('another row was due');
  await outbox.hold([{ row: claimed, for: ['stuck'], isAll }], new Date());
  return event;
}

describe('a row that is held', () => {
  test('a held row is given when its subscriber has room, or after an hour, and not when other subscribers have', async () => {
    const event = await held();
    const inAnHour = () => new Date(Date.now() + hourMs + 1_000);
    expect(await claim(inAnHour())).toEqual([]);
    expect(await claimHeld(['good'])).toEqual([]);
    expect(await claimHeld([])).toEqual([]);
    expect(ids(await claimHeld(['good', 'stuck']))).toEqual([event.id]);
    expect((await row(event))?.held).toBeUndefined();
    expect(await claimHeld(['stuck'])).toEqual([]);

    const other = await held();
    expect(ids(await claimHeld([], inAnHour()))).toEqual([other.id]);
  });

  test('a held row that waits for another subscriber too comes up by its lease as well', async () => {
    const event = await held(false);
    expect(ids(await claim(new Date(Date.now() + 60_000)))).toEqual([event.id]);
  });

  test('a held row is not released when all leases end, as it was in no queue; all other rows are, however many', async () => {
    const event = await held();
    const leased = { state: 'pending', topic: 'a', event, attempts: 3, deliveries: {}, created_at: longAgo() } as const;
    const rows = Array.from({ length: 2_500 }, (_, index) => {
      const locked_until = new Date(Date.now() + 60_000 + Math.floor(index / 1_100));
      return { ...leased, _id: randomUUID(), locked_until };
    });
    await collections.outbox.insertMany(rows);
    const now = new Date();
    await outbox.release(now);
    expect(await collections.outbox.countDocuments({ locked_until: now })).toBe(2_500);
    expect((await row(event))?.held).toMatchObject({ for: ['stuck'] });
  });

  test('a held row is due at once when its event is sent again', async () => {
    const event = await held();
    await outbox.markDelivered([{ eventId: event.id, by: subscribers, at: new Date() }], subscribers);
    expect(await replay({ eventId: event.id, subscriber: 'good', deadOnly: false, at: new Date() })).toEqual(['good']);
    expect((await row(event))?.held).toBeUndefined();
    expect(ids(await claim())).toEqual([event.id]);
  });
});

test('a relay that has lost the lease of a row neither holds it nor marks it', async () => {
  const event = await pending();
  const [former] = await claim();
  const [present] = await claim(new Date(Date.now() + 60_000));
  if (former === undefined || present === undefined) throw new Error('it was not given');
  await outbox.hold([{ row: former, for: ['stuck'], isAll: true }], new Date());
  const { lease } = former;
  await outbox.markDelivered([{ eventId: event.id, by: subscribers, lease, at: new Date() }], subscribers);
  expect(await row(event)).toEqual(present);
});

test('a delivery from before the event was sent again does not count as that of the replay', async () => {
  const event = await pending();
  await outbox.markDelivered([{ eventId: event.id, by: subscribers, at: longAgo() }], subscribers);
  const at = new Date();
  await replay({ eventId: event.id, subscriber: 'good', deadOnly: false, at });
  const recorded = { eventId: event.id, attempt: { subscriber: 'good', at, outcome: 'delivered' } } as const;
  await outbox.record([recorded], subscribers);
  expect(await row(event)).toMatchObject({ state: 'pending', deliveries: { stuck: expect.any(Date) } });
  expect((await row(event))?.deliveries).not.toHaveProperty('good');
  await outbox.record([{ ...recorded, replayedAt: at }], subscribers);
  expect(await row(event)).toMatchObject({ state: 'delivered', deliveries: { good: at } });
});
