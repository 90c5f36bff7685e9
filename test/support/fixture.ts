import { redisKeys } from '@auth-account/redis';
import { collectionsOf } from '@auth-account/stores';
import { createLogger } from '@auth-account/telemetry';
import { MongoClient } from 'mongodb';
import { openParts } from './closing.ts';
import { type Environment, serviceEnvironment } from './service-environment.ts';
import { giveBackDatabase, takeDatabase } from './stores/pooled-database.ts';
import { cheapHashes, testEnvironment, uniqueName } from './test-environment.ts';

export type Fixture = Awaited<ReturnType<typeof openFixture>>;

/**
 * Opens an empty database with its indexes, and a separate key prefix, for the services that a test starts with `env`.
 * `settings` override the environment, and may name a database that another fixture ends. The fixture itself uses
 * `mongodbUri`.
 */
export async function openFixture(settings: Environment = {}, mongodbUri = testEnvironment().mongodbUri) {
  const name = uniqueName();
  const { closing, closeAll } = openParts();
  const mongo = new MongoClient(mongodbUri);
  const { MONGODB_DATABASE: shared } = settings;
  const db = shared === undefined ? await takeDatabase(mongo, mongodbUri, name) : mongo.db(shared);
  closing({
    async close() {
      if (shared === undefined) await giveBackDatabase(mongo, mongodbUri, db);
      await mongo.close();
    },
  });
  const own = { MONGODB_URI: mongodbUri, MONGODB_DATABASE: db.databaseName };
  const env: Environment = { ...serviceEnvironment(name), ...cheapHashes, ...own, ...settings };
  return {
    env,
    /** Name of the database. */
    database: db.databaseName,
    keyPrefix: env.KEY_PREFIX ?? '',
    mongo,
    db,
    collections: collectionsOf(db),
    keys: redisKeys(env.KEY_PREFIX ?? ''),
    /** Registers a part that ends with the fixture, before those that were registered earlier. */
    closing,
    /** Ends what was started, and gives the database back. */
    close: closeAll,
  };
}

/** Creates the logger of a service in a test, which writes only if TEST_LOG_LEVEL says so. */
export const quietLogger = (service: string) =>
  createLogger({ service, level: process.env.TEST_LOG_LEVEL ?? 'silent' });
