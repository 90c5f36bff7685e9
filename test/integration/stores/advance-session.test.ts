import { randomUUID } from 'node:crypto';
import { type Collections, collectionsOf, type SessionStore } from '@auth-account/stores';
import type { SessionDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type CommandStartedEvent, MongoClient } from 'mongodb';
import { newSessionDocument } from '../../support/api/session-document.ts';
import { type FailCommand, withFailPoint } from '../../support/stores/fail-point.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';

const appName = uniqueName();

/** Sets the fail point, which applies to the connections of the other client. */
let outside: MongoClient;
let mongo: MongoClient;
let collections: Collections;
let store: SessionStore;

beforeAll(async () => {
  outside = new MongoClient(testEnvironment().mongodbUri);
  mongo = new MongoClient(testEnvironment().mongodbUri, { appName, monitorCommands: true });
  collections = collectionsOf(mongo.db(uniqueName()));
  store = storesOf(collections).sessions;
});
afterAll(async () => {
  await mongo.db(collections.users.dbName).dropDatabase();
  await mongo.close();
  await outside.close();
});

const at = (ms: number) => new Date(1_800_000_000_000 + ms);
const ahead = { kid: 'key-1', block: 2, hashes: 'firstothernext.last.' };
const generations = { gen: 19, parent: 17, floor: 18 };
const ends = { expires_at: at(1), absolute_expires_at: at(99) };

/** Stores a session whose next hash is `next.`. */
async function stored(fields: Partial<SessionDocument> = {}): Promise<SessionDocument> {
  const document = { ...newSessionDocument(), ...generations, ...ends, ahead, ...fields };
  await collections.sessions.insertOne(document);
  return document;
}

const asStored = ({ _id }: SessionDocument) => collections.sessions.findOne({ _id });

/** Returns the refresh by the session's newest token at time 0. */
const advanceOf = ({ _id: sessionId, token, gen: generation }: SessionDocument) => ({
  ...{ sessionId, token, generation, kid: 'key-1', jkt: undefined, at: at(0), expiresAt: at(50) },
  next: { block: 2, start: 10, length: 5 },
});

const advanced = {
  ...{ token: 'next.', gen: 20, parent: 19, floor: 19 },
  ...{ handed_out_at: at(0), last_used_at: at(0), expires_at: at(50) },
};

/** Returns the commands that the work has sent. */
async function sentBy(work: () => Promise<unknown>): Promise<CommandStartedEvent['command'][]> {
  const sent: CommandStartedEvent['command'][] = [];
  const keep = ({ command }: CommandStartedEvent) => sent.push(command);
  mongo.on('commandStarted', keep);
  await work().finally(() => mongo.off('commandStarted', keep));
  return sent;
}

describe('an advance', () => {
  test('an advance returns the session as it is afterwards, without the precomputed hashes', async () => {
    const seen = await stored();
    const given = await store.advance(advanceOf(seen));
    expect({ ...given, ahead }).toEqual({ ...seen, ...advanced });
    expect(given).not.toHaveProperty('ahead');
    expect(await asStored(seen)).toEqual({ ...seen, ...advanced });
  });

  test('an advance is one command, which neither the driver repeats nor the server remembers, and waits for a majority', async () => {
    const seen = await stored();
    const sent = await sentBy(() => store.advance(advanceOf(seen)));
    expect(sent).toEqual([expect.objectContaining({ writeConcern: { w: 'majority', wtimeout: 2_000 } })]);
    expect(sent[0]).not.toHaveProperty('txnNumber');
  });

  test('an advance does not move the end of the session past its absolute one', async () => {
    const seen = await stored({ absolute_expires_at: at(49) });
    expect(await store.advance(advanceOf(seen))).toMatchObject({ ...advanced, expires_at: at(49) });
  });

  test.each<[string, object, Partial<SessionDocument>]>([
    ['another session', { sessionId: randomUUID() }, {}],
    ['another token', { token: 'x' }, {}],
    ['a session that has ended', {}, { is_revoked: true }],
    ['one that expires at that moment', {}, { expires_at: at(0) }],
    ['hashes of another key', { kid: 'key-2' }, {}],
    ['hashes of another block', { next: { block: 3, start: 10, length: 5 } }, {}],
  ])('an advance for %s changes nothing', async (_, change, fields) => {
    const seen = await stored(fields);
    expect(await store.advance({ ...advanceOf(seen), ...change })).toBeUndefined();
    expect(await asStored(seen)).toEqual(seen);
  });
});

describe('advances whose answer by MongoDB is lost', () => {
  const majorityIsLate = { code: 64, errmsg: 'waiting for replication timed out' };
  const withFault = (data: Partial<FailCommand>, work: () => Promise<unknown>) =>
    withFailPoint(outside, 'alwaysOn', { failCommands: ['findAndModify', 'update'], appName, ...data }, () =>
      sentBy(work),
    );

  test.each<[string, Partial<FailCommand>, boolean]>([
    ['the connection breaks', { closeConnection: true }, false],
    ['the server is no longer the primary', { errorCode: 10_107 }, false],
    ['no majority has it in time', { writeConcernError: majorityIsLate }, true],
  ])(
    'an advance whose answer is lost is to be read by the caller, and nothing is sent again: %s',
    async (_, data, isWritten) => {
      const [seen, ending] = [await stored(), await stored()];
      let answer: unknown = 'none';
      const sent = await withFault(data, async () => {
        answer = await store.advance(advanceOf(seen));
      });
      expect(answer).toBeUndefined();
      expect(sent.length).toBe(1);
      expect(await asStored(seen)).toEqual(isWritten ? { ...seen, ...advanced } : seen);

      const own = { sessionId: ending._id, userId: ending.user_id, tokenHash: ending.token };
      answer = 'none';
      await withFault(data, async () => {
        answer = await store.revokeNewest(own, { reason: 'logout', at: at(0), requestId: 'request-1' });
      });
      expect(answer).toBeUndefined();
      expect(await asStored(ending)).toMatchObject({ is_revoked: isWritten });
    },
  );

  test('an advance passes any other error on to the caller', async () => {
    const seen = await stored();
    const wrong = { ...advanceOf(seen), next: { block: 2, start: -1, length: 5 } };
    await expect(store.advance(wrong)).rejects.toThrow('$substrBytes');
    expect(await asStored(seen)).toEqual(seen);
  });
});
