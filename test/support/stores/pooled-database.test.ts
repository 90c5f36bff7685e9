import { collectionsOf } from '@auth-account/stores';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Db, MongoClient } from 'mongodb';
import { testEnvironment, uniqueName } from '../test-environment.ts';
import { giveBackDatabase, takeDatabase } from './pooled-database.ts';

const { mongodbUri } = testEnvironment();
let mongo: MongoClient;

beforeAll(() => {
  mongo = new MongoClient(mongodbUri);
});
afterAll(() => mongo.close());

const isThere = async ({ databaseName }: Db) =>
  (await mongo.db().admin().listDatabases({ nameOnly: true })).databases.some(({ name }) => name === databaseName);

test.each([
  ['another index', (db: Db) => collectionsOf(db).users.createIndex({ locale: 1 })],
  ['one index less', (db: Db) => collectionsOf(db).outbox.dropIndex('request')],
  ['another collection', (db: Db) => db.createCollection('others')],
  [
    'another retention',
    (db: Db) => db.command({ collMod: 'outbox', index: { name: 'delivered_ttl', expireAfterSeconds: 1 } }),
  ],
  ['the profiler', (db: Db) => db.setProfilingLevel('all').then(() => db.collection('users').findOne())],
])('a database with %s is dropped, and no later test gets it', async (_, change) => {
  const db = await takeDatabase(mongo, mongodbUri, uniqueName());
  await change(db);
  await giveBackDatabase(mongo, mongodbUri, db);
  expect(await isThere(db)).toBe(false);
});

test('a database as it was made is kept for a later test', async () => {
  const db = await takeDatabase(mongo, mongodbUri, uniqueName());
  await collectionsOf(db).users.insertOne({ _id: 'somebody' } as never);
  expect(await giveBackDatabase(mongo, mongodbUri, db)).toBe(true);
});
