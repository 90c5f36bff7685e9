import { urgentTopic } from '@auth-account/contracts/events';
import { collectionsOf, ensureIndexes } from '@auth-account/stores';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Db, MongoClient } from 'mongodb';
import { serviceEnvironment } from '../../support/service-environment.ts';
import { plansOf } from '../../support/stores/query-plans.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { uniqueName } from '../../support/test-environment.ts';
import { commitEvent, longAgo, newCodeRequest, newEvent } from '../../support/worker/worker-events.ts';

let mongo: MongoClient;
let db: Db;

beforeAll(async () => {
  const name = uniqueName();
  mongo = new MongoClient(serviceEnvironment(name).MONGODB_URI ?? '', { monitorCommands: true });
  db = mongo.db(name);
  await ensureIndexes(db);
  for (let i = 0; i < 20; i++) await commitEvent(mongo, db, newEvent(), longAgo());
});

afterAll(async () => {
  await db.dropDatabase();
  await mongo.close();
});

// queries.test.ts tests that every query of the outbox is answered by an index.
test('the counts of waiting events and of dead letters read no row', async () => {
  const { outbox, deadLetters } = storesOf(collectionsOf(db));
  const plans = [
    ...(await plansOf(mongo, db, () => outbox.backlog(1_000))),
    ...(await plansOf(mongo, db, () => deadLetters.counts(1_000))),
  ];
  expect(plans.length).toBeGreaterThan(2);
  for (const { stages } of plans) expect(stages).not.toContain('FETCH');
});

test('urgent rows are found without a look at the other due ones', async () => {
  await commitEvent(mongo, db, newCodeRequest(), longAgo());
  const { outbox } = storesOf(collectionsOf(db));
  const claim = { lease: 'lease', now: new Date(), limit: 10, topic: urgentTopic };
  const plans = await plansOf(mongo, db, () => outbox.claim(claim));
  expect(plans.length).toBeGreaterThan(1);
  expect(Math.max(...plans.map(({ examined }) => examined))).toBe(1);
});

test('the retention of delivered rows follows the last migration', async () => {
  const retention = async () => {
    const indexes = await collectionsOf(db).outbox.indexes();
    return indexes.find(({ name }) => name === 'delivered_ttl')?.expireAfterSeconds;
  };
  expect(await retention()).toBe(7 * 86_400);
  await ensureIndexes(db, { outboxRetentionSeconds: 3_600 });
  expect(await retention()).toBe(3_600);
  await ensureIndexes(db, { outboxRetentionSeconds: 3_600 });
  await ensureIndexes(db);
  expect(await retention()).toBe(7 * 86_400);
});
