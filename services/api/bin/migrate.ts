import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig, logConfig, mongoConfig } from '@auth-account/config';
import * as Type from '@auth-account/contracts/type';
import { thisBuild } from '@auth-account/lifecycle/this-build';
import { findNewerData, findTooOld, type RunningProcess } from '@auth-account/lifecycle/upgrade';
import { readProcessReports } from '@auth-account/messaging/process-reports';
import { explainRedisError, failFastOptions, openRedis, redisKeys } from '@auth-account/redis';
import { collectionsOf, ensureIndexes, mongoOptions } from '@auth-account/stores';
import { mongoChecks } from '@auth-account/stores/mongo-checks';
import { createUpgradeStore } from '@auth-account/stores/upgrades';
import { createLogger } from '@auth-account/telemetry';
import { MongoClient } from 'mongodb';
import { migrateConfig, migrateRedisConfig } from '../src/config.ts';

const schema = { ...mongoConfig(mongoChecks), ...migrateRedisConfig, ...logConfig, ...migrateConfig.properties };

/** Milliseconds for which Redis may be away. */
const redisLimitMs = 5_000;
/** Exit code that the chart's Job does not try again (sysexits.h: EX_CONFIG). */
const refused = 78;

// Creates the missing collections and indexes, and exits. It must run before a new version of the services starts.
const config = loadConfig(Type.Object(schema));
const logger = createLogger({ service: 'migrate', level: config.LOG_LEVEL, pretty: config.LOG_PRETTY });
const mongo = new MongoClient(config.MONGODB_URI, mongoOptions('auth-api', config.MONGODB_URI));
try {
  const db = mongo.db(config.MONGODB_DATABASE);
  const fault =
    findNewerData(thisBuild, await createUpgradeStore(collectionsOf(db)).list()) ??
    findTooOld(thisBuild, await readRunning());
  if (fault !== undefined) logger.error({ mode: config.VERSION_CHECKS }, fault);
  if (fault !== undefined && config.VERSION_CHECKS === 'enforce') {
    process.exitCode = refused;
  } else {
    await ensureIndexes(db, { outboxRetentionSeconds: config.OUTBOX_RETENTION_SECONDS });
    logger.info({ database: config.MONGODB_DATABASE }, 'collections and indexes are in place');
  }
} catch (error) {
  logger.fatal({ err: error }, 'collections and indexes are not in place');
  process.exitCode = 1;
} finally {
  await mongo.close();
}

/** Returns the running processes. If Redis does not name them, they are not compared, so that no upgrade needs Redis. */
async function readRunning(): Promise<readonly RunningProcess[]> {
  const { REDIS_URL, ...settings } = config;
  const unchecked = 'the versions of the running processes are not checked';
  if (REDIS_URL === undefined) {
    logger.warn(`REDIS_URL is not set: ${unchecked}`);
    return [];
  }
  const redis = openRedis({ ...settings, REDIS_URL }, failFastOptions());
  redis.on('error', (error) =>
    logger.debug({ err: explainRedisError(error, { REDIS_URL }) }, 'Redis connection failed'),
  );
  try {
    for (const began = performance.now(); ; await delay(100)) {
      try {
        return await readProcessReports(redis, redisKeys(config.KEY_PREFIX));
      } catch (error) {
        if (performance.now() - began < redisLimitMs) continue;
        logger.warn({ err: error }, `Redis is away: ${unchecked}`);
        return [];
      }
    }
  } finally {
    redis.disconnect();
  }
}
