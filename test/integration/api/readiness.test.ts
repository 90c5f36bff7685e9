import { collectionsOf, ensureIndexes } from '@auth-account/stores';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { type Db, MongoClient } from 'mongodb';
import { readinessChecks } from '../../../services/api/src/runtime/readiness.ts';
import { newUserDocument } from '../../support/api/seed-accounts.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';

const mongo = new MongoClient(testEnvironment().mongodbUri, { monitorCommands: true });
const name = uniqueName();
const db: Db = mongo.db(name);
const minute = 60_000;
let looks = 0;
mongo.on('commandStarted', ({ commandName }) => {
  if (commandName === 'listIndexes') looks += 1;
});

beforeEach(() => db.dropDatabase());
afterAll(async () => {
  await db.dropDatabase();
  await mongo.close();
});

/** Returns the answers of the probes of an api, and what it logs. */
function probes(to = mongo) {
  const logged: unknown[] = [];
  let time = 0;
  const ready = { status: 'ready' } as never;
  const checks = readinessChecks({
    connections: { mongo: to, redis: ready, limitRedis: ready, queueRedis: ready },
    config: { MONGODB_DATABASE: name },
    logger: { error: (facts: object) => void logged.push(facts) } as never,
    elapsed: () => time,
  });
  return {
    logged,
    async after(ms: number) {
      time += ms;
      for (const { run } of checks) {
        const { ok, reason } = await run();
        if (!ok) return reason;
      }
      return;
    },
  };
}

// guarantees: no-requests-without-indexes
test('an api is not ready while a unique index is missing, and says which, until the migration has made it', async () => {
  const { after, logged } = probes();
  const all = /users.email_key_unique missing.*users.passkey_unique missing.*sessions.live_device_unique missing/;
  expect(await after(0)).toMatch(all);
  expect(await after(5_000)).toMatch(all);
  expect(logged).toEqual([{ indexes: expect.stringMatching(all) }]);
  await ensureIndexes(db);
  expect(await after(5_000)).toBeUndefined();
});

test('an api that reaches mongos in place of a replica set is not ready, and names the setting', async () => {
  await ensureIndexes(db);
  // No registry of packages has a mongos. Its answer to `hello` has no `setName`.
  const routed = Object.assign(Object.create(db), { command: async () => ({ msg: 'isdbgrid' }) });
  const { after } = probes(Object.assign(Object.create(mongo), { db: () => routed }));
  expect(await after(0)).toBe('MONGODB_URI must name the members of a replica set');
});

// guarantees: no-requests-without-indexes
test('an api notices within a minute that a unique index is gone, and looks no more often', async () => {
  await ensureIndexes(db);
  const { after } = probes();
  expect(await after(0)).toBeUndefined();
  await collectionsOf(db).users.dropIndex('identity_unique');
  looks = 0;
  expect([await after(1), await after(minute - 2), looks]).toEqual([undefined, undefined, 0]);
  expect(await after(1)).toBe('users.identity_unique missing: run the migration');
});

// guarantees: no-requests-without-indexes
test('a migration that meets duplicates makes the other indexes, names the one, and the api stays not ready', async () => {
  const user = newUserDocument(new Date());
  const { users } = collectionsOf(db);
  await users.insertMany([user, { ...user, _id: 'other' }]);
  const failed = ensureIndexes(db);
  const reason = 'is not made: documents share a key';
  await expect(failed).rejects.toThrow(new RegExp(`^index ${users.collectionName}.email_key_unique ${reason}$`));
  const { after } = probes();
  expect(await after(0)).toBe('users.email_key_unique missing: run the migration');
  await users.deleteOne({ _id: 'other' });
  await ensureIndexes(db);
  expect(await after(5_000)).toBeUndefined();
});
