import { loadConfig, logConfig, mongoConfig } from '@auth-account/config';
import { ensureIndexes } from '@auth-account/stores';
import { createLogger } from '@auth-account/telemetry';
import { Type } from 'typebox';
import { openMongo } from '../src/compose.ts';
import { migrateConfig } from '../src/config.ts';

// Creates the missing collections and indexes, and exits. It must run before a new version of the services starts.
const config = loadConfig(Type.Object({ ...mongoConfig, ...logConfig, ...migrateConfig.properties }));
const logger = createLogger({ service: 'migrate', level: config.LOG_LEVEL, pretty: config.LOG_PRETTY });
const mongo = openMongo(config);
try {
  const outboxRetentionSeconds = config.OUTBOX_RETENTION_SECONDS;
  await ensureIndexes(mongo.db(config.MONGODB_DATABASE), { outboxRetentionSeconds });
  logger.info({ database: config.MONGODB_DATABASE }, 'collections and indexes are in place');
} finally {
  await mongo.close();
}
