import { isDeepStrictEqual } from 'node:util';
import { collectionsOf, ensureIndexes } from '@auth-account/stores';
import type { Db, MongoClient } from 'mongodb';

/** False for mutants, which may make other indexes, and for servers that a test has started for itself. */
const isPooled = (uri: string) => process.env.TEST_DATABASE_POOL === '1' && uri === process.env.TEST_MONGODB_URI;

/** Database with the names of cleared databases. All workers of a test run share it, and use the oldest first. */
const poolName = 'test-pool';

/** The collections and indexes of a new database. */
interface Shape {
  readonly _id: 'new';
  readonly shape: readonly unknown[];
}

const collectionNames = (db: Db) => Object.values(collectionsOf(db)).map(({ collectionName }) => collectionName);

/**
 * Returns an empty database with all collections and indexes: a cleared one of an earlier test, otherwise a new one. To
 * make 58 indexes takes 105 ms of MongoDB's CPU, to clear a database 12.
 */
export async function takeDatabase(mongo: MongoClient, uri: string, newName: string): Promise<Db> {
  while (isPooled(uri)) {
    const pool = mongo.db(poolName).collection('cleared');
    const free = await pool.findOneAndDelete({}, { sort: { _id: 1 } });
    if (free === null) break;
    const db = mongo.db(free.name);
    // Something that outlived its test may have written to it since.
    const { objects } = await db.command({ dbStats: 1 });
    if (objects === 0) return db;
    await db.dropDatabase();
  }
  const db = mongo.db(newName);
  await ensureIndexes(db);
  if (isPooled(uri)) await noteShape(mongo, await shapeOf(mongo, db));
  return db;
}

/**
 * Clears the database for a later test, or drops it if the test has changed its collections or indexes. Returns true if
 * it is kept.
 */
export async function giveBackDatabase(mongo: MongoClient, uri: string, db: Db): Promise<boolean> {
  const pool = mongo.db(poolName);
  const isAsNew =
    isPooled(uri) &&
    isDeepStrictEqual((await pool.collection<Shape>('shapes').findOne())?.shape, await shapeOf(mongo, db));
  if (!isAsNew) {
    await db.dropDatabase();
    return false;
  }
  // A majority must have it, so that no later read with majority concern finds anything of this test.
  const confirmed = { writeConcern: { w: 'majority' } } as const;
  await Promise.all(collectionNames(db).map((name) => db.collection(name).deleteMany({}, confirmed)));
  await pool.collection('cleared').insertOne({ name: db.databaseName });
  return true;
}

async function noteShape(mongo: MongoClient, shape: Shape['shape']): Promise<void> {
  const shapes = mongo.db(poolName).collection<Shape>('shapes');
  await shapes.updateOne({ _id: 'new' }, { $setOnInsert: { shape } }, { upsert: true });
}

async function shapeOf(mongo: MongoClient, { databaseName }: Db) {
  const stages = [
    { $listCatalog: {} },
    { $match: { db: databaseName } },
    { $sort: { name: 1 } },
    { $project: { _id: 0, name: 1, indexes: '$md.indexes.spec', validator: '$md.options.validator' } },
  ];
  return await mongo.db('admin').aggregate(stages).toArray();
}
