import { loadConfig, logConfig, mongoConfig } from '@auth-account/config';
import * as Type from '@auth-account/contracts/type';
import { ensureIndexes, mongoOptions } from '@auth-account/stores';
import { mongoChecks } from '@auth-account/stores/mongo-checks';
import { createLogger } from '@auth-account/telemetry';
import { MongoClient } from 'mongodb';
import { migrateConfig } from '../src/config.ts';

// Creates the missing collections and indexes, and exits. It must run before a new version of the services starts.
const config = loadConfig(Type.Object({ ...mongoConfig(mongoChecks), ...logConfig, ...migrateConfig.properties }));
const logger = createLogger({ service: 'migrate', level: config.LOG_LEVEL, pretty: config.LOG_PRETTY });
const mongo = new MongoClient(config.MONGODB_URI, mongoOptions('auth-api', config.MONGODB_URI));
try {
  const outboxRetentionSeconds = config.OUTBOX_RETENTION_SECONDS;
  await ensureIndexes(mongo.db(config.MONGODB_DATABASE), { outboxRetentionSeconds });
  logger.info({ database: config.MONGODB_DATABASE }, 'collections and indexes are in place');
} catch (error) {
  logger.fatal({ err: error }, 'collections and indexes are not in place');
  process.exitCode = 1;
} finally {
  await mongo.close();
}
