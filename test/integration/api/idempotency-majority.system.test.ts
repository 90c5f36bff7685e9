import { randomUUID } from 'node:crypto';
import { type LocalMongo, startMongo, waitUntil } from '@auth-account/local-stack';
import { type InboxDocument, openMongoInbox } from '@auth-account/messaging/mongo-inbox';
import { type Collections, collectionsOf, createTransactionRunner, isStoreUnavailable } from '@auth-account/stores';
import type { UserDocument } from '@auth-account/stores/documents';
import { createEmailChangeTokens, createEmailCodes, loadKeyFile } from '@auth-account/tokens';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ClientSession, MongoClient } from 'mongodb';
import { createReadMail } from '../../../services/worker/src/mail/read-mail.ts';
import { type Account, newEmail, newSession, password, type TokenPair } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import { askForCode } from '../../support/api/code-request.ts';
import { confirmReset, requestReset } from '../../support/api/codes.ts';
import { insertInvite } from '../../support/api/groups.ts';
import { openTokenFixture, type TokenApi, type TokenFixture } from '../../support/api/token-api.ts';
import type { Answer } from '../../support/http-client.ts';
import { authctl } from '../../support/processes/authctl.ts';
import { type GuardedFolder, openGuardedFolder } from '../../support/processes/guarded-folder.ts';
import { serviceEnvironment } from '../../support/service-environment.ts';
import { keepPrimary } from '../../support/stores/stop-replication.ts';
import { storesOf } from '../../support/stores/stores-of.ts';

/** Two members, so a majority lacks every write that the secondary has not applied. */
let mongo: LocalMongo;
let folder: GuardedFolder;
let fixture: TokenFixture;
let api: TokenApi;
/**
 * Another pod of the same deployment. In one process, two invitations into a group would wait for each other anyway.
 */
let other: TokenApi;
let owner: Account & TokenPair;
/** Each client connects to one member directly. */
let [primary, secondary]: MongoClient[] = [];

beforeAll(async () => {
  folder = await openGuardedFolder('majority');
  mongo = await startMongo({ dir: folder.dir, members: 2, log: () => undefined, onSpawn: folder.watch });
  await keepPrimary(mongo.uri);
  const members = mongo.ports.map((port) => new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`));
  const roles = await Promise.all(members.map((member) => member.db('admin').command({ hello: 1 })));
  const writable = roles.findIndex(({ isWritablePrimary }) => isWritablePrimary);
  [primary, secondary] = [members[writable], members[1 - writable]];
  fixture = await openTokenFixture({ mongodbUri: mongo.uri });
  [api, other] = [await fixture.start(), await fixture.start()];
  owner = await newSession(api);
});
afterAll(async () => {
  try {
    // No member stands for election by itself.
    const stepUp = () => admin(secondary).command({ replSetStepUp: 1 });
    await waitUntil(() => stepUp().then(Boolean, () => false), { what: 'a primary', ...patience });
    await mongo?.waitForPrimary();
    await fixture?.close();
  } finally {
    await Promise.all([primary?.close(), secondary?.close()]);
    await mongo?.kill();
    await folder?.close();
  }
});

const admin = (member: MongoClient | undefined) => {
  if (member === undefined) throw new Error('the replica set has not started');
  return member.db('admin');
};

const patience = { timeoutMs: 60_000, intervalMs: 10 };

type Sending = (on: TokenApi) => Promise<Answer>;

/** Returns true if a read of the collection, a fence, or the end of a refused transaction waits for the majority. */
async function isWaiting(collection: string): Promise<boolean> {
  const reading = { 'command.find': collection, 'command.readConcern.level': 'linearizable' };
  const end = collection === 'fence' ? 'command.commitTransaction' : 'command.abortTransaction';
  const waiting = { $or: [reading, { [end]: { $exists: true } }] };
  const found = admin(primary).aggregate([{ $currentOp: {} }, { $match: waiting }]);
  return (await found.toArray()).length > 0;
}

/** Answers to two requests. The second request could see a write of the first that no majority had. */
interface Pair {
  readonly first: Answer;
  readonly again: Answer;
  /** True if the second request was still unanswered when the majority came back. */
  readonly hasWaited: boolean;
}

/**
 * Sends the request while no majority applies writes. Sends it again, to another pod, when the first has taken effect
 * on the primary. The secondary continues when the second request was answered, or waits for the majority: in a read of
 * the collection, or at the end of its transaction.
 */
async function sendTwice(send: Sending, collection: string, hasTakenEffect: () => Promise<boolean>): Promise<Pair> {
  await admin(secondary).command({ fsync: 1, lock: true });
  const first = send(api);
  let again: Promise<Answer>;
  let hasWaited: boolean;
  try {
    await waitUntil(hasTakenEffect, { what: 'the effect of the first', ...patience });
    again = send(other);
    const waiting = waitUntil(() => isWaiting(collection), { what: 'the wait of the second', ...patience });
    hasWaited = await Promise.race([again.then(() => false), waiting.then(() => true)]);
  } finally {
    await admin(secondary).command({ fsyncUnlock: 1 });
  }
  return { first: await first, again: await again, hasWaited };
}

const register = (body: object, key: string): Sending => {
  return (on) => on.registerAccount(body, { 'Idempotency-Key': key });
};
const records = 'idempotency';
const isRegistered = (email: string) => async () => (await fixture.collections.users.findOne({ email })) !== null;

describe('a retry while a majority lags behind', () => {
  const expectReplayed = ({ first, again, hasWaited }: Pair) => {
    expect([first.status, again.status, hasWaited]).toEqual([201, 201, true]);
    expect(again.text).toBe(first.text);
    expect(again.headers['idempotency-replayed']).toBe('true');
  };

  // guarantees: idempotency-key
  test('a retry of an unanswered registration gets its answer while a majority lags, not that its email address is taken', async () => {
    const email = newEmail();
    const send = register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' }, randomUUID());
    expectReplayed(await sendTwice(send, records, isRegistered(email)));
  });

  test('a retry of an unanswered registration that has used up its invite gets its answer while a majority lags', async () => {
    const email = newEmail();
    const invite_token = await insertInvite(fixture, owner.home_group_id, { max_uses: 1 });
    const send = register({ email, password, space_creation_mode: 'JOIN_EXISTING', invite_token }, randomUUID());
    expectReplayed(await sendTwice(send, records, isRegistered(email)));
  });

  test('a retry of an unanswered invitation gets its answer while a majority lags', async () => {
    const headers = { ...bearer(owner), 'Idempotency-Key': randomUUID() };
    const { home_group_id } = owner;
    const before = await fixture.collections.invites.countDocuments({ home_group_id });
    const isThere = async () => (await fixture.collections.invites.countDocuments({ home_group_id })) > before;
    expectReplayed(await sendTwice((on) => on.createInvite({ max_uses: 7 }, headers), records, isThere));
    expect(await fixture.collections.invites.countDocuments({ home_group_id })).toBe(before + 1);
  });
});

/** Opens a session at the end of a block of hashes, so that its next refresh reads before it writes. */
async function readingSession() {
  let { refresh_token, session_id: _id } = await newSession(api);
  for (let generation = 1; generation < 7; generation += 1) {
    ({ refresh_token } = (await api.refresh(refresh_token)).json.data);
  }
  return { refresh_token, _id };
}

// guarantees: refresh-not-rolled-back
test('a refresh that converges hands nothing out before a majority has what the first one wrote', async () => {
  // The first refresh waits while it writes, the second while it reads.
  const { refresh_token, _id } = await readingSession();
  const hasRotated = async () => (await fixture.collections.sessions.findOne({ _id }))?.gen === 8;
  const { first, again, hasWaited } = await sendTwice((on) => on.refresh(refresh_token), 'user_sessions', hasRotated);
  expect([first.status, again.status, hasWaited]).toEqual([200, 200, true]);
  expect(again.json.data.refresh_token).toBe(first.json.data.refresh_token);
});

test('a restore that finds nothing to cancel is not answered before a majority has the one that did', async () => {
  const { email, user_id, ...session } = await newSession(api);
  const ordered = await api.scheduleDeletion({ current_password: password }, bearer(session));
  expect(ordered.status).toBe(202);
  const restore: Sending = (on) => on.restoreAccount({ email, password });
  const { users } = fixture.collections;
  const isRestored = async () => (await users.findOne({ _id: user_id }))?.deletes_at === undefined;
  await admin(secondary).command({ fsync: 1, lock: true });
  const answered: string[] = [];
  const first = restore(api).finally(() => answered.push('first'));
  try {
    await waitUntil(isRestored, { what: 'the effect of the first', ...patience });
    const again = restore(other).finally(() => answered.push('second'));
    const isCommitting = { 'command.commitTransaction': { $exists: true } };
    const committing = () =>
      admin(primary)
        .aggregate([{ $currentOp: {} }, { $match: isCommitting }])
        .toArray();
    await waitUntil(async () => answered.length > 0 || (await committing()).length === 2, {
      what: 'both wait for the majority',
      ...patience,
    });
    expect(answered).toEqual([]);
    await admin(secondary).command({ fsyncUnlock: 1 });
    expect([(await first).status, (await again).status]).toEqual([200, 200]);
  } finally {
    await admin(secondary)
      .command({ fsyncUnlock: 1 })
      .catch(() => undefined);
  }
});

describe('refusals because of what only the primary has', () => {
  /**
   * Writes while no majority applies writes, and sends the request. Returns the answer, and whether it had to wait for
   * the majority.
   */
  async function ask<T>(write: (on: Collections) => Promise<unknown>, send: () => Promise<T>, collection: string) {
    const { dbName } = fixture.collections.users;
    await admin(secondary).command({ fsync: 1, lock: true });
    let answer: Promise<T>;
    let hasWaited: boolean;
    try {
      await write(collectionsOf((primary as MongoClient).db(dbName, { writeConcern: { w: 1 } })));
      answer = send();
      const waiting = waitUntil(() => isWaiting(collection), { what: 'the wait of the answer', ...patience });
      hasWaited = await Promise.race([answer.then(() => false), waiting.then(() => true)]);
    } finally {
      await admin(secondary).command({ fsyncUnlock: 1 });
    }
    return { answer: await answer, hasWaited };
  }

  // guarantees: answers-not-rolled-back
  test.each<[string, (on: Collections, _id: string) => Promise<unknown>]>([
    ['the end of its session', ({ sessions }, _id) => sessions.deleteOne({ _id })],
    [
      'its expiry',
      ({ sessions }, _id) => sessions.updateOne({ _id }, { $set: { expires_at: new Date(fixture.clock.now()) } }),
    ],
  ])('a refresh is not refused for good before a majority has %s', async (_, write) => {
    const { refresh_token, _id } = await readingSession();
    const { answer, hasWaited } = await ask(
      (on) => write(on, _id),
      () => api.refresh(refresh_token),
      'user_sessions',
    );
    expect([answer.json.error_code, hasWaited]).toEqual(['IAD_JWT_REFRESH_EXPIRED', true]);
  });

  test('a code is not refused for good before a majority has its use', async () => {
    const on = { ...api, collections: fixture.collections };
    const { email } = await newSession(api);
    const challenge_id = await requestReset(on, email);
    const { answer, hasWaited } = await ask(
      ({ challenges }) => challenges.updateOne({ _id: challenge_id }, { $set: { ended_at: new Date() } }),
      () => confirmReset(on, challenge_id),
      'fence',
    );
    expect([answer.json.error_code, hasWaited]).toEqual(['ERR-CODE-INVALID', true]);
  });

  test.each<[string, (on: Collections, asked: Awaited<ReturnType<typeof askForCode>>) => Promise<unknown>]>([
    ['the erasure of its account', ({ users }, { user }) => users.deleteOne({ _id: user._id })],
    [
      'the use of its code',
      ({ challenges }, { event }) =>
        challenges.updateOne({ _id: event.data.challenge_id }, { $set: { ended_at: new Date() } }),
    ],
  ])('a mail is not dropped for good before a majority has %s', async (_, write) => {
    const { users, challenges } = storesOf(fixture.collections);
    const keys = await loadKeyFile(`${process.env.TEST_KEYS_DIR}/server-keys.json`);
    const emailChangeTokens = createEmailChangeTokens(keys);
    const secrets = { emailCodes: createEmailCodes(keys), emailChangeTokens, removalStopTokens: emailChangeTokens };
    const readMail = createReadMail({ users, challenges, ...secrets, now: () => new Date() });
    const asked = await askForCode(fixture);
    expect(await readMail(asked.event)).toMatchObject({ to: asked.to });
    const { answer, hasWaited } = await ask(
      (on) => write(on, asked),
      () => readMail(asked.event),
      'users',
    );
    expect([answer, hasWaited]).toEqual([undefined, true]);
  });
});

// guarantees: final-answers
test.each<[string, (on: Collections, _id: string, session: ClientSession) => Promise<unknown>]>([
  ['of what it has read', ({ users }, _id, session) => users.findOne({ _id }, { session })],
  ['of a unique index', ({ users }, _id, session) => users.insertOne({ _id } as UserDocument, { session })],
])(
  'work that refuses a transaction because %s gets an error of the store while no majority has that',
  async (_, read) => {
    const { collections, mongo } = fixture;
    const refuse = async (session: ClientSession) => {
      await read(collections, 'unconfirmed', session);
      throw new Error('refused');
    };
    const run = () =>
      createTransactionRunner(mongo)(refuse, { isCommitted: async () => false }).catch((error: unknown) => error);
    await admin(secondary).command({ fsync: 1, lock: true });
    try {
      const unconfirmed = { _id: 'unconfirmed', email_key: randomUUID() } as UserDocument;
      await collections.users.replaceOne({ _id: unconfirmed._id }, unconfirmed, {
        upsert: true,
        writeConcern: { w: 1 },
      });
      expect(isStoreUnavailable(await run())).toBe(true);
    } finally {
      await admin(secondary).command({ fsyncUnlock: 1 });
    }
    expect(isStoreUnavailable(await run())).toBe(false);
  },
);

test('authctl calls no account disabled already before a majority has that', async () => {
  const { email, user_id: _id } = await newSession(api);
  const env = { ...serviceEnvironment(fixture.collections.users.dbName), MONGODB_URI: mongo.uri };
  const disable = () => authctl(['user', 'disable', email, '--reason', 'spam'], { env });
  await admin(secondary).command({ fsync: 1, lock: true });
  try {
    const disabled = { $set: { disabled_at: new Date() } };
    await fixture.collections.users.updateOne({ _id }, disabled, { writeConcern: { w: 1 } });
    const { exitCode, stdout, stderr } = await disable();
    expect([exitCode === 0, `${stdout}${stderr}`.includes('already')]).toEqual([false, false]);
  } finally {
    await admin(secondary).command({ fsyncUnlock: 1 });
  }
  expect((await disable()).stderr).toContain('disabled already');
});

// guarantees: event-id
test('a consumer calls no event a duplicate before a majority has its effect', async () => {
  const db = fixture.mongo.db(`${fixture.collections.users.dbName}-kitchen`);
  const [inbox, effects] = [db.collection<InboxDocument>('inbox'), db.collection('effects')];
  await db.createCollection('effects');
  const { once } = await openMongoInbox({ client: fixture.mongo, collection: inbox });
  const entry = { subscriber: 'kitchen', eventId: randomUUID() };
  const handle = () =>
    once(entry, async (session) => {
      await effects.insertOne({ event: entry.eventId }, { session });
    });
  await admin(secondary).command({ fsync: 1, lock: true });
  const first = handle();
  try {
    await waitUntil(async () => (await effects.countDocuments()) === 1, { what: 'the effect', ...patience });
    // The second delivery fails, so the event will be delivered again.
    await expect(handle()).rejects.toThrow();
  } finally {
    await admin(secondary).command({ fsyncUnlock: 1 });
  }
  expect([await first, await handle(), await effects.countDocuments()]).toEqual(['processed', 'duplicate', 1]);
  await db.dropDatabase();
});

// Must be the last test, because afterwards another member is the primary, or for a while no member.
test('a retry whose primary is lost meanwhile gets 503', async () => {
  const email = newEmail();
  const send = register({ email, password, space_creation_mode: 'CREATE_NEW_HOME' }, randomUUID());
  await admin(secondary).command({ fsync: 1, lock: true });
  const first = send(api);
  let [status, json]: [number?, Answer['json']?] = [];
  try {
    await waitUntil(isRegistered(email), { what: 'the account', ...patience });
    const again = send(other);
    await waitUntil(() => isWaiting(records), { what: 'the wait of the retry', ...patience });
    await admin(primary).command({ replSetStepDown: 60, secondaryCatchUpPeriodSecs: 0, force: true });
    ({ status, json } = await again);
  } finally {
    await admin(secondary).command({ fsyncUnlock: 1 });
  }
  expect([status, json.error_code]).toEqual([503, 'ERR-DEPENDENCY-UNAVAILABLE']);
  expect([201, 503]).toContain((await first).status);
});
