import { randomUUID } from 'node:crypto';
import { requestLimits } from '../../services/api/src/limits/limits-table.ts';

/** Milliseconds that services in a test wait for a store, unless the test is about that. Only a hang takes longer. */
export const patienceMs = 60_000;

/** Options of clients of MongoDB with which no stall of a machine fails a request. */
export const patientOptions = ['connectTimeoutMS', 'serverSelectionTimeoutMS', 'socketTimeoutMS', 'waitQueueTimeoutMS']
  .map((name) => `${name}=${patienceMs}`)
  .join('&');

/** Returns the URL of a MongoDB behind a proxy. */
export const mongodbAt = (port: number) => `mongodb://127.0.0.1:${port}/?directConnection=true&${patientOptions}`;

/** Returns the URLs of the shared servers of the test run, which the global set-up has set. */
export function testEnvironment(): { mongodbUri: string; redisUrl: string; keysDir: string } {
  const { TEST_MONGODB_URI, TEST_REDIS_URL, TEST_KEYS_DIR } = process.env;
  if (!TEST_MONGODB_URI || !TEST_REDIS_URL || !TEST_KEYS_DIR) throw new Error('the global set-up has not run');
  return { mongodbUri: TEST_MONGODB_URI, redisUrl: TEST_REDIS_URL, keysDir: TEST_KEYS_DIR };
}

/** Returns a name for a test's database and key prefix that no other test has. */
export function uniqueName(): string {
  return `test-${randomUUID().slice(0, 13)}`;
}

/** Hashes as cheap as Argon2 allows, because few tests are about passwords. */
export const cheapHashes = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1' };

/** The hashes of a deployment without settings. */
export const usualHashes = { ARGON2_MEMORY_KIB: '19456', ARGON2_PASSES: '2' };

/** Settings under which no limit on requests is reached. */
export const unlimitedRequests = Object.fromEntries(
  Object.values(requestLimits).map(({ setting }) => [setting, '1000000']),
);
