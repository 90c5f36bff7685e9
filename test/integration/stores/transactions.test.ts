import { randomUUID } from 'node:crypto';
import { type Collections, collectionsOf, createTransactionRunner } from '@auth-account/stores';
import type { SessionDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type ClientSession,
  type CommandFailedEvent,
  type CommandStartedEvent,
  type Document,
  MongoClient,
  MongoError,
  Timestamp,
} from 'mongodb';
import { newSessionDocument } from '../../support/api/session-document.ts';
import { withFailPoint } from '../../support/stores/fail-point.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';

const appName = uniqueName();
let outside: MongoClient;
let mongo: MongoClient;
let collections: Collections;

beforeAll(async () => {
  outside = new MongoClient(testEnvironment().mongodbUri);
  mongo = new MongoClient(testEnvironment().mongodbUri, { appName, monitorCommands: true });
  collections = collectionsOf(mongo.db(uniqueName()));
  await mongo.db(collections.users.dbName).createCollection(collections.sessions.collectionName);
});
afterAll(async () => {
  await mongo.db(collections.users.dbName).dropDatabase();
  await mongo.close();
  await outside.close();
});

const never = async () => false;

async function newSession() {
  const document = newSessionDocument();
  await collections.sessions.insertOne(document);
  return document;
}

/** Writes the session, as a refresh does. */
const write = (_id: string, session?: ClientSession) =>
  collections.sessions.updateOne({ _id }, { $inc: { gen: 1 } }, session ? { session } : {});

/**
 * Expects that no transaction has left locks on the session: the server would keep them for a minute, and the write
 * would wait. Another client writes, because the same client's next transaction may end the first.
 */
async function expectNoLock(_id: string): Promise<void> {
  const { dbName, collectionName } = collections.sessions;
  const sessions = outside.db(dbName).collection<SessionDocument>(collectionName);
  expect(await sessions.findOneAndUpdate({ _id }, { $inc: { gen: 1 } }, { maxTimeMS: 10_000 })).toMatchObject({ _id });
}

test('a hold is taken only when the work runs again, before each such run, and released in the end', async () => {
  const { _id, user_id } = await newSession();
  const steps: string[] = [];
  const retries: string[] = [];
  const hooks = { onHold: (step: string) => steps.push(step), onRetry: (kind: string) => retries.push(kind) };
  const transaction = createTransactionRunner(mongo, hooks);
  const hold = storesOf(collections).sessions.holdOf([user_id]);
  await transaction((session) => write(_id, session), { isCommitted: never, hold });
  expect(steps).toEqual([]);
  let runs = 0;
  const conflicting = async (session: ClientSession) => {
    await collections.sessions.findOne({ _id }, { session });
    runs += 1;
    if (runs < 3) await write(_id);
    await write(_id, session);
    steps.push('written');
    const seen = await collections.sessions.findOne({ _id }, { session });
    expect(seen?.hold?.until).toBeInstanceOf(Date);
  };
  await transaction(conflicting, { isCommitted: never, hold });
  expect(retries.length).toBeGreaterThanOrEqual(2);
  expect(steps).toEqual([...retries.map(() => 'taken'), 'written', 'released']);
  expect((await collections.sessions.findOne({ _id }))?.hold).toBeUndefined();
});

test('a hold is released also if the work is refused, and one that fails is reported and hinders nothing', async () => {
  const { _id } = await newSession();
  const steps: unknown[] = [];
  const transaction = createTransactionRunner(mongo, { onHold: (...step) => steps.push(step) });
  const failure = new Error('no');
  const hold = { take: async () => Promise.reject(failure), release: async () => Promise.reject(failure) };
  let runs = 0;
  const work = async (session: ClientSession) => {
    await collections.sessions.findOne({ _id }, { session });
    runs += 1;
    if (runs === 1) await write(_id);
    await write(_id, session);
    throw new Error('refused');
  };
  await expect(transaction(work, { isCommitted: never, hold })).rejects.toThrow('refused');
  expect(runs).toBeGreaterThanOrEqual(2);
  expect(steps).toEqual([...Array(runs - 1).fill(['taken', failure]), ['released', failure]]);
});

test('the snapshot of a run comes after its hold', async () => {
  const { _id, user_id } = await newSession();
  const snapshots: Document[] = [];
  const keep = ({ command }: CommandStartedEvent) => {
    if (command.startTransaction === true) snapshots.push(command.readConcern);
  };
  const hold = storesOf(collections).sessions.holdOf([user_id]);
  const work = async (session: ClientSession) => {
    await collections.sessions.findOne({ _id }, { session });
    if (snapshots.length === 1) await write(_id);
    await write(_id, session);
  };
  mongo.on('commandStarted', keep);
  const transaction = createTransactionRunner(mongo);
  await transaction(work, { isCommitted: never, hold }).finally(() => mongo.off('commandStarted', keep));
  const [first, ...later] = snapshots;
  expect(first).toEqual({ level: 'snapshot' });
  expect(later.length).toBeGreaterThanOrEqual(1);
  for (const one of later) expect(one).toEqual({ level: 'snapshot', afterClusterTime: expect.any(Timestamp) });
});

test('a commit is refused with its own error, also if the abort after it fails', async () => {
  const { _id } = await newSession();
  const failures = new Map<string, unknown>();
  const keep = ({ commandName, failure }: CommandFailedEvent) => failures.set(commandName, failure);
  mongo.on('commandFailed', keep);
  const failing = { failCommands: ['commitTransaction', 'abortTransaction'], errorCode: 96, appName };
  const transaction = createTransactionRunner(mongo);
  const refusal = await withFailPoint(outside, 'alwaysOn', failing, () =>
    transaction((session) => write(_id, session), { isCommitted: never }).catch((error: unknown) => error),
  ).finally(() => mongo.off('commandFailed', keep));
  expect([...failures.keys()]).toEqual(['commitTransaction', 'abortTransaction']);
  expect(refusal).toBe(failures.get('commitTransaction'));
});

test.each([
  ['fails', { errorCode: 96 }],
  ['no majority confirms', { writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' } }],
])('work is refused with an error of MongoDB if its abort %s', async (_, failure) => {
  const { _id } = await newSession();
  const transaction = createTransactionRunner(mongo);
  const refused = async (session: ClientSession) => {
    await collections.sessions.findOne({ _id }, { session });
    throw new Error('refused');
  };
  const failing = { failCommands: ['abortTransaction'], appName, ...failure };
  const error = await withFailPoint(outside, 'alwaysOn', failing, () =>
    transaction(refused, { isCommitted: never }).catch((error: unknown) => error),
  );
  expect(error).toBeInstanceOf(MongoError);
  await expect(transaction(refused, { isCommitted: never })).rejects.toThrow('refused');
});

test('work that is refused before its first command is refused with its own error', async () => {
  const transaction = createTransactionRunner(mongo);
  const failing = { failCommands: ['abortTransaction'], errorCode: 96, appName };
  const refused = () => Promise.reject(new Error('refused'));
  await withFailPoint(outside, 'alwaysOn', failing, () =>
    expect(transaction(refused, { isCommitted: never })).rejects.toThrow('refused'),
  );
});

test('a commit that the server refuses for good leaves no locks', async () => {
  const { _id } = await newSession();
  const transaction = createTransactionRunner(mongo);
  const operationFailed = 96;
  const failing = { failCommands: ['commitTransaction'], errorCode: operationFailed, appName };
  await withFailPoint(outside, 'alwaysOn', failing, () =>
    expect(transaction((session) => write(_id, session), { isCommitted: never })).rejects.toMatchObject({
      code: operationFailed,
    }),
  );
  await expectNoLock(_id);
});

test('the work reads one snapshot, and a majority has what it commits', async () => {
  const { _id } = await newSession();
  const sent: CommandStartedEvent['command'][] = [];
  const keep = ({ command }: CommandStartedEvent) => sent.push(command);
  mongo.on('commandStarted', keep);
  const transaction = createTransactionRunner(mongo);
  await transaction((session) => write(_id, session), { isCommitted: never }).finally(() =>
    mongo.off('commandStarted', keep),
  );
  expect(sent).toMatchObject([
    { update: collections.sessions.collectionName, readConcern: { level: 'snapshot' } },
    { commitTransaction: 1, writeConcern: { w: 'majority' } },
  ]);
});

describe('outcomes of transactions', () => {
  const outcomeOf = async (work: (session: ClientSession) => Promise<unknown>): Promise<string[]> => {
    const ends: string[] = [];
    const transaction = createTransactionRunner(mongo, { onEnd: (outcome) => ends.push(outcome) });
    await transaction(work, { isCommitted: never }).catch(() => undefined);
    return ends;
  };

  test('the outcome is "committed", or "refused" by the work itself or a unique index', async () => {
    const document = await newSession();
    expect(await outcomeOf((session) => write(document._id, session))).toEqual(['committed']);
    expect(await outcomeOf(() => Promise.reject(new Error('no')))).toEqual(['refused']);
    const twice = (session: ClientSession) => collections.sessions.insertOne(document, { session });
    expect(await outcomeOf(twice)).toEqual(['refused']);
  });

  test('the outcome is "failed" if MongoDB failed', async () => {
    const { _id } = await newSession();
    const failing = { failCommands: ['update'], errorCode: 96, appName };
    const ends = await withFailPoint(outside, 'alwaysOn', failing, () => outcomeOf((session) => write(_id, session)));
    expect(ends).toEqual(['failed']);
  });
});

describe('a commit whose reply is lost', () => {
  const lost = { failCommands: ['commitTransaction'], closeConnection: true, appName };
  const deadlineMs = 200;

  test('a commit whose reply is lost is repeated, and the work does not run again', async () => {
    const { _id } = await newSession();
    const retries: string[] = [];
    const transaction = createTransactionRunner(mongo, { onRetry: (kind) => retries.push(kind) });
    await withFailPoint(outside, { times: 3 }, lost, () =>
      transaction((session) => write(_id, session), { isCommitted: never }),
    );
    expect(new Set(retries)).toEqual(new Set(['commit']));
    expect(await collections.sessions.findOne({ _id })).toMatchObject({ gen: 2 });
  });

  const goingDown = { writeConcernError: { code: 91, errmsg: 'the server goes down' } };
  test.each([
    ['is reported if the store has it', true, { failCommands: ['commitTransaction'], ...goingDown, appName }],
    ['is an error if it has not, and leaves no locks', false, lost],
  ])('a commit whose reply is lost %s', async (_, isThere, failing) => {
    const { _id: id } = await newSession();
    const asked: boolean[] = [];
    const isCommitted = async () => {
      asked.push((await collections.sessions.findOne({ _id: id }))?.gen === 2);
      return asked.includes(true);
    };
    const work = async (session: ClientSession) => (await write(id, session)).matchedCount;
    const done = withFailPoint(outside, 'alwaysOn', failing, () =>
      createTransactionRunner(mongo)(work, { isCommitted, deadlineMs }).catch((error: Error) => error.name),
    );
    expect(await done).toBe(isThere ? 1 : 'MongoNetworkError');
    expect(asked).toEqual([isThere]);
    await expectNoLock(id);
  });

  test('a transaction asks for no state of a commit that the work itself has refused', async () => {
    const isCommitted = () => Promise.reject(new Error('asked'));
    const refused = createTransactionRunner(mongo)(() => Promise.reject(new Error('no')), { isCommitted });
    await expect(refused).rejects.toThrow('no');
  });
});

test('work that conflicts is given up at the deadline, and leaves nothing', async () => {
  const { _id } = await newSession();
  const retries: string[] = [];
  const work = async (session: ClientSession) => {
    await collections.sessions.findOne({ _id }, { session });
    await write(_id);
    await write(_id, session);
  };
  const hold = { take: () => Promise.reject(new Error('no')), release: () => Promise.reject(new Error('no')) };
  const transaction = createTransactionRunner(mongo, { onRetry: (kind) => retries.push(kind) });
  await expect(transaction(work, { isCommitted: never, hold, deadlineMs: 300 })).rejects.toMatchObject({
    codeName: 'WriteConflict',
  });
  // On a slow machine the first try may outlast the deadline.
  expect(retries.filter((kind) => kind !== 'work')).toEqual([]);
  expect(await collections.sessions.findOne({ _id })).toMatchObject({ gen: retries.length + 2 });
});

test('a hold finds its users when it is taken, and does nothing without users', async () => {
  const [{ _id, user_id }, other] = [await newSession(), await newSession()];
  const { holdOf } = storesOf(collections).sessions;
  const heldBy = async (id: string) => (await collections.sessions.findOne({ _id: id }))?.hold !== undefined;
  const found = holdOf(async () => [user_id]);
  await found.release();
  await found.take();
  expect([await heldBy(_id), await heldBy(other._id)]).toEqual([true, false]);
  const none = holdOf(() => []);
  await none.take();
  await none.release();
  expect(await heldBy(_id)).toBe(true);
  await collections.sessions.updateOne({ _id }, { $set: { is_revoked: true } });
  await found.release();
  expect(await heldBy(_id)).toBe(true);
});

test('a deadline bounds the wait for a turn too', async () => {
  const transaction = createTransactionRunner(mongo);
  const lockKey = randomUUID();
  const { promise: gate, resolve } = Promise.withResolvers<void>();
  const first = transaction(() => gate, { isCommitted: never, lockKey });
  const late = transaction(() => Promise.reject(new Error('ran')), { isCommitted: never, lockKey, deadlineMs: 50 });
  await expect(late).rejects.toMatchObject({ code: 'ERR-DEPENDENCY-UNAVAILABLE' });
  resolve();
  await first;
});

test('urgent work of a key goes before all other waiting work, however much that is', async () => {
  const transaction = createTransactionRunner(mongo);
  const lockKey = randomUUID();
  const order: string[] = [];
  const { promise: gate, resolve } = Promise.withResolvers<void>();
  const run = (name: string, isUrgent: boolean) =>
    transaction(async () => void order.push(name), { isCommitted: never, lockKey, isUrgent });
  const first = transaction(() => gate, { isCommitted: never, lockKey });
  const waiting = [run('one', false), run('two', false)];
  const urgent = run('urgent', true);
  resolve();
  await Promise.all([first, ...waiting, urgent]);
  expect(order).toEqual(['urgent', 'one', 'two']);
});

test('work without a hold runs again after a conflict', async () => {
  const { _id } = await newSession();
  let runs = 0;
  await createTransactionRunner(mongo)(
    async (session) => {
      await collections.sessions.findOne({ _id }, { session });
      if (runs++ === 0) await write(_id);
      await write(_id, session);
    },
    { isCommitted: never },
  );
  expect(runs).toBe(2);
  expect(await collections.sessions.findOne({ _id })).toMatchObject({ gen: 3 });
});

test('work without a key waits for nobody', async () => {
  const transaction = createTransactionRunner(mongo);
  const { promise: gate, resolve } = Promise.withResolvers<void>();
  const first = transaction(() => gate, { isCommitted: never });
  await transaction(async () => resolve(), { isCommitted: never });
  await first;
});
