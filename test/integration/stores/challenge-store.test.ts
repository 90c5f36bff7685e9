import { randomUUID } from 'node:crypto';
import { collectionsOf, createTransactionRunner, ensureIndexes } from '@auth-account/stores';
import { challengeState, codeEmail } from '@auth-account/stores/challenges';
import type { ChallengeDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ClientSession, type CommandStartedEvent, type Db, type Document, MongoClient } from 'mongodb';
import { newChallengeDocument } from '../../support/api/challenge-document.ts';
import { serviceEnvironment } from '../../support/service-environment.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { uniqueName } from '../../support/test-environment.ts';

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

test.each([
  ['has ended', { ended_at: now }, 'dead'],
  ['has no tries left', { tries_left: 0 }, 'dead'],
  ['has expired', { expires_at: now }, 'expired'],
  ['had ended before it expired', { ended_at: now, expires_at: now }, 'dead'],
] as const)('a challenge that %s takes no try and no resend', async (_, fields, state) => {
  expect([
    challengeState(newChallengeDocument(now), now),
    challengeState(newChallengeDocument(now, fields), now),
  ]).toEqual(['open', state]);
  const challenge = await insert({ resend_at: now, ...fields });
  expect(await store().takeTry(challenge, now)).toBeUndefined();
  const resend = { resent_by: randomUUID(), resend_at: after(60) };
  expect(await transaction((session) => store().takeResend(challenge, resend, now, session))).toBeUndefined();
  expect(await store().findOpen(challenge.user_id, purpose, now)).toBeUndefined();
  expect(await store().find(challenge)).toEqual(challenge);
});

test('the id alone opens no challenge of another purpose, or of another caller', async () => {
  const challenge = await insert();
  const { _id, user_id } = challenge;
  const other = { _id, purpose: 'account_deletion' } as const;
  expect([await store().takeTry(other, now), await store().find(other)]).toEqual([undefined, undefined]);
  expect(await store().find({ _id, purpose, user_id: randomUUID() })).toBeUndefined();
  expect(await store().find({ _id, purpose, user_id })).toEqual(challenge);
  expect(await store().find({ _id, purpose })).toEqual(challenge);
});

test('a code for a change of the email address goes to the new one, and any other to the present one', () => {
  const [email, pending_email] = ['Old@example.com', 'New@example.com'];
  const old = { email, emailKey: 'old@example.com' };
  expect(codeEmail({ email, pending_email }, 'email_change')).toEqual({
    email: pending_email,
    emailKey: 'new@example.com',
  });
  expect(codeEmail({ email, pending_email }, purpose)).toEqual(old);
  expect(codeEmail({ email }, purpose)).toEqual(old);
  expect(codeEmail({ email }, 'email_change')).toBeUndefined();
});

test('each try counts, and the last one too', async () => {
  const challenge = await insert({ tries_left: 2 });
  expect(await store().takeTry(challenge, now)).toEqual({ ...challenge, tries_left: 1 });
  expect(await store().takeTry(challenge, now)).toEqual({ ...challenge, tries_left: 0 });
  expect(await store().takeTry(challenge, now)).toBeUndefined();
});

test('every write of a challenge is undone with its transaction', async () => {
  const [made, waiting] = [newChallengeDocument(now), await insert({ resend_at: now })];
  const inVain = transaction(async (session) => {
    await store().insert(made, session);
    expect(await store().use(waiting._id, randomUUID(), now, session)).toBe(true);
    throw new Error('in vain');
  });
  await expect(inVain).rejects.toThrow('in vain');
  expect([await store().exists(made._id), await store().exists(waiting._id)]).toEqual([false, true]);
  const ended = transaction(async (session) => {
    await store().endAll(waiting.user_id, now, session);
    throw new Error('in vain');
  });
  await expect(ended).rejects.toThrow('in vain');
  const resend = { resent_by: randomUUID(), resend_at: after(60) };
  const resent = transaction(async (session) => {
    expect(await store().takeResend(waiting, resend, now, session)).toMatchObject(resend);
    throw new Error('in vain');
  });
  await expect(resent).rejects.toThrow('in vain');
  expect(await store().find(waiting)).toEqual(waiting);
});

describe('a resend', () => {
  const take = (challenge: ChallengeDocument, at: Date, resent_by = randomUUID()) =>
    transaction((session) => {
      const resend = { resent_by, resend_at: new Date(at.getTime() + 60_000) };
      return store().takeResend(challenge, resend, at, session);
    });

  test('a resend is due after its time, and as often as the challenge allows', async () => {
    const challenge = await insert({ resends_left: 2 });
    expect(await take(challenge, after(59))).toBeUndefined();
    expect(await take(challenge, after(60))).toMatchObject({ resends_left: 1, resend_at: after(120) });
    expect(await take(challenge, after(119))).toBeUndefined();
    expect(await take(challenge, after(120))).toMatchObject({ resends_left: 0 });
    expect(await take(challenge, after(180))).toBeUndefined();
  });

  test('a resend is known by its id', async () => {
    const [challenge, id] = [await insert(), randomUUID()];
    await take(challenge, after(60), id);
    expect(await store().wasResent(challenge._id, id)).toBe(true);
    expect(await store().wasResent(challenge._id, randomUUID())).toBe(false);
  });
});

describe('a challenge', () => {
  const use = (challengeId: string, by: string) => transaction((session) => store().use(challengeId, by, now, session));

  test('a challenge is used once, by one of many at the same time', async () => {
    const { _id } = await insert();
    const ids = Array.from({ length: 10 }, () => randomUUID());
    const used = await Promise.all(ids.map((id) => use(_id, id)));
    expect(used.filter(Boolean)).toHaveLength(1);
    const known = await Promise.all(ids.map((id) => store().wasUsed(_id, id)));
    expect(known).toEqual(used);
  });

  test('a challenge is used with its last try, and not after that was taken', async () => {
    const [last, none] = [await insert({ tries_left: 1 }), await insert({ tries_left: 0 })];
    expect([await use(last._id, randomUUID()), await use(none._id, randomUUID())]).toEqual([true, false]);
  });

  test('a challenge is not used after it was invalidated', async () => {
    const [one, other] = [await insert(), await insert()];
    await transaction((session) => store().endAll(one.user_id, now, session));
    expect([await use(one._id, randomUUID()), await use(other._id, randomUUID())]).toEqual([false, true]);
  });

  test('a challenge stays if only those of another purpose are invalidated', async () => {
    const { _id, user_id } = await insert();
    const other = await insert({ user_id, purpose: 'email_change' });
    await transaction((session) => store().endAll(user_id, now, session, 'email_change'));
    expect([await use(_id, randomUUID()), await use(other._id, randomUUID())]).toEqual([true, false]);
  });

  test('the challenges are shown to their user, the newest first, with no more than purpose and times', async () => {
    const { user_id } = await insert({ ended_at: now });
    for (const seconds of [2, 1]) await insert({ user_id, purpose: 'email_change', created_at: after(seconds) });
    await insert();
    const expires_at = after(600);
    expect(await store().listOf(user_id)).toEqual([
      { purpose: 'email_change', created_at: after(2), expires_at },
      { purpose: 'email_change', created_at: after(1), expires_at },
      { purpose, created_at: now, expires_at },
    ]);
  });

  test('a challenge is found by user and purpose while it is open, the newest first', async () => {
    const { user_id } = await insert();
    const newer = await insert({ user_id, created_at: after(1) });
    expect(await store().findOpen(user_id, purpose, now)).toEqual(newer);
    expect(await store().findOpen(user_id, 'email_verification', now)).toBeUndefined();
  });
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
