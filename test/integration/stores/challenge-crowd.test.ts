import { randomUUID } from 'node:crypto';
import { collectionsOf, createTransactionRunner, ensureIndexes } from '@auth-account/stores';
import type { ChallengeDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ClientSession, type CommandStartedEvent, type Db, type Document, MongoClient } from 'mongodb';
import { newChallengeDocument } from '../../support/challenge-document.ts';
import { storesOf } from '../../support/stores-of.ts';
import { serviceEnvironment, uniqueName } from '../../support/test-api.ts';

let mongo: MongoClient;
let db: Db;
const now = new Date();
const purpose = 'password_reset';
const after = (seconds: number) => new Date(now.getTime() + seconds * 1_000);
const store = () => storesOf(collectionsOf(db)).challenges;
const transaction: <T>(work: (session: ClientSession) => Promise<T>) => Promise<T> = (work) =>
  createTransactionRunner(mongo)(work, { isCommitted: async () => false });

beforeAll(async () => {
  const name = uniqueName();
  mongo = new MongoClient(serviceEnvironment(name).MONGODB_URI ?? '', { monitorCommands: true });
  db = mongo.db(name);
  await ensureIndexes(db);
});
afterAll(async () => {
  await db.dropDatabase();
  await mongo.close();
});

async function insert(fields: Partial<ChallengeDocument> = {}): Promise<ChallengeDocument> {
  const challenge = newChallengeDocument(now, fields);
  await transaction((session) => store().insert(challenge, session));
  return challenge;
}

test('no more than five of 200 simultaneous tries are counted', async () => {
  const challenge = await insert();
  const tries = await Promise.all(Array.from({ length: 200 }, () => store().takeTry(challenge, now)));
  const left = tries.flatMap((one) => (one === undefined ? [] : [one.tries_left]));
  expect(left.toSorted()).toEqual([0, 1, 2, 3, 4]);
});

test('every query and update looks at the challenges of one user at most', async () => {
  const [user_id, others] = [randomUUID(), Array.from({ length: 500 }, () => newChallengeDocument(now))];
  await collectionsOf(db).challenges.insertMany(others);
  const own = await insert({ user_id });
  const commands: Document[] = [];
  const keep = ({ command, commandName }: CommandStartedEvent) => {
    if (['find', 'update', 'findAndModify'].includes(commandName)) commands.push(command);
  };
  mongo.on('commandStarted', keep);
  await store().exists(own._id);
  await store().find(own);
  await store().findOpen(user_id, purpose, now);
  await store().takeTry(own, now);
  await store().wasUsed(own._id, own._id);
  await store().wasResent(own._id, own._id);
  await transaction(async (session) => {
    await store().takeResend(own, { resent_by: own._id, resend_at: now }, after(61), session);
    await store().use(own._id, own._id, now, session);
    await store().endAll(user_id, now, session);
  });
  mongo.off('commandStarted', keep);
  expect(commands).toHaveLength(9);
  for (const command of commands) {
    const { lsid, txnNumber, startTransaction, autocommit, readConcern, writeConcern, $clusterTime, $db, ...bare } =
      command;
    const plan = await db.command({ explain: bare, verbosity: 'executionStats' });
    expect(JSON.stringify(plan)).not.toContain('COLLSCAN');
    expect(plan.executionStats.totalDocsExamined).toBeLessThanOrEqual(1);
  }
});
