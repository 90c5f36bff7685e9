import { randomUUID } from 'node:crypto';
import { type Collections, collectionsOf, type Stores } from '@auth-account/stores';
import { credentialsVersion } from '@auth-account/stores/credentials';
import type { RevocationReason, SessionDocument } from '@auth-account/stores/documents';
import { trustedDevicesOf } from '@auth-account/stores/second-factors';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ClientSession, MongoClient } from 'mongodb';
import { newUserDocument } from '../../support/api/seed-accounts.ts';
import { newSessionDocument } from '../../support/api/session-document.ts';
import { withFailPoint } from '../../support/stores/fail-point.ts';
import { storesOf } from '../../support/stores/stores-of.ts';
import { testEnvironment, uniqueName } from '../../support/test-environment.ts';

/** Names the connections of this file in the fail point. */
const appName = uniqueName();
let mongo: MongoClient;
let collections: Collections;
let sessions: Stores['sessions'];
beforeAll(() => {
  mongo = new MongoClient(testEnvironment().mongodbUri, { appName });
  collections = collectionsOf(mongo.db(uniqueName()));
  sessions = storesOf(collections).sessions;
});
afterAll(async () => {
  await mongo.db(collections.users.dbName).dropDatabase();
  await mongo.close();
});

const at = new Date();
const revocationBy = <R extends RevocationReason>(reason: R) => ({ reason, at, requestId: 'request-1' }) as const;
const inTransaction = <T>(work: (session: ClientSession) => Promise<T>) =>
  mongo.withSession((session) => session.withTransaction(() => work(session)));

type Name = 'phone' | 'tablet' | 'drawer';

/** An account that trusts two devices with a live session, and one without. */
async function household() {
  const user = newUserDocument(at);
  const devices = { phone: randomUUID(), tablet: randomUUID(), drawer: randomUUID() };
  const trust = { token: 'hash', version: credentialsVersion(user), trusted_at: at };
  const until = new Date(at.getTime() + 86_400_000);
  const trusted_devices = Object.values(devices).map((device_id) => ({ ...trust, device_id, until }));
  await collections.users.insertOne({ ...user, trusted_devices });
  const logIn = async (device_id: string): Promise<SessionDocument> => {
    const document = { ...newSessionDocument(), user_id: user._id, device_id };
    await collections.sessions.insertOne(document);
    return document;
  };
  const [phone, tablet] = [await logIn(devices.phone), await logIn(devices.tablet)];
  async function trusted(): Promise<Name[]> {
    const stored = await collections.users.findOne({ _id: user._id });
    const ids = stored === null ? [] : trustedDevicesOf(stored, at).map(({ device_id }) => device_id);
    return (Object.keys(devices) as Name[]).filter((name) => ids.includes(devices[name]));
  }
  return { userId: user._id, phone, tablet, trusted };
}

const all: readonly Name[] = ['phone', 'tablet', 'drawer'];

/** The decision for each reason of an end: true if the trust stays. */
const keeps: Readonly<Record<RevocationReason, boolean>> = {
  logout: true,
  replaced: true,
  session_limit: true,
  refresh_token_reuse: false,
  revoked_by_user: false,
  revoked_by_provider: false,
  forced: false,
  password_changed: false,
  account_disabled: false,
  account_deleted: false,
};
const reasons = Object.entries(keeps) as [RevocationReason, boolean][];

describe.each(reasons)('the trust in devices whose sessions end by %s', (reason, isKept) => {
  const revocation = revocationBy(reason);

  // guarantees: trust-ends-with-session
  test('the end of one session decides by its reason over the trust in its device, in a transaction or not', async () => {
    const homes = [await household(), await household(), await household()] as const;
    await sessions.revokeAll([homes[0].phone._id], revocation);
    await inTransaction((session) => sessions.revokeAll([homes[1].phone._id], revocation, session));
    const { phone, userId } = homes[2];
    expect(await sessions.revokeOwn({ sessionId: phone._id, userId }, revocation)).toBe(true);
    for (const { trusted } of homes) expect(await trusted()).toEqual(isKept ? all : ['tablet', 'drawer']);
  });

  // guarantees: trust-ends-with-session
  test('the end of all sessions decides by its reason over the trust in all devices, also without a session', async () => {
    const homes = [await household(), await household(), await household()] as const;
    const [one, two, other] = homes;
    await inTransaction((session) => sessions.revokeOf(one.userId, revocation, session));
    await inTransaction((session) => sessions.revokeOfUsers([two.userId], revocation, session));
    for (const { trusted } of [one, two]) expect(await trusted()).toEqual(isKept ? all : []);
    expect(await other.trusted()).toEqual(all);
  });

  test('the end of all other sessions leaves the trust in the device of the one that stays, live or over', async () => {
    const homes = [await household(), await household()] as const;
    await collections.sessions.updateOne({ _id: homes[1].phone._id }, { $set: { is_revoked: true } });
    for (const { userId, phone, trusted } of homes) {
      await inTransaction((session) => sessions.revokeOf(userId, revocation, session, phone._id));
      expect(await trusted()).toEqual(isKept ? all : ['phone']);
    }
  });
});

test('the trust in a device stays if the revocation finds no live session of it', async () => {
  const { phone, userId, trusted } = await household();
  await sessions.revokeAll([phone._id], revocationBy('logout'));
  await sessions.revokeAll([phone._id], revocationBy('forced'));
  expect(await sessions.revokeOwn({ sessionId: phone._id, userId }, revocationBy('forced'))).toBe(false);
  expect(await trusted()).toEqual(all);
});

test('the trust in a device stays after a logout by its newest token', async () => {
  const { userId, phone, trusted } = await household();
  const newest = { sessionId: phone._id, userId, tokenHash: phone.token };
  expect(await sessions.revokeNewest(newest, revocationBy('logout'))).toBe(true);
  expect(await trusted()).toEqual(all);
});

// guarantees: trust-ends-with-session
test('the trust in a device ends with its session or not at all in a transaction, and before it outside one', async () => {
  const [within, without] = [await household(), await household()];
  const revoke = ({ phone }: typeof within, session?: ClientSession) =>
    sessions.revokeAll([phone._id], revocationBy('refresh_token_reuse'), session);
  const namespace = `${collections.sessions.dbName}.${collections.sessions.collectionName}`;
  const fault = { failCommands: ['update'], errorCode: 8000, namespace, appName };
  await withFailPoint(mongo, { times: 2 }, fault, async () => {
    await expect(inTransaction((session) => revoke(within, session))).rejects.toMatchObject({ code: 8000 });
    await expect(revoke(without)).rejects.toMatchObject({ code: 8000 });
  });
  expect(await within.trusted()).toEqual(all);
  expect(await without.trusted()).toEqual(['tablet', 'drawer']);
  for (const { phone } of [within, without]) expect((await sessions.find(phone._id))?.is_revoked).toBe(false);
  await revoke(without);
  expect((await sessions.find(without.phone._id))?.is_revoked).toBe(true);
});
