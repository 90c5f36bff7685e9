import { join } from 'node:path';
import { createLimitKeys } from '@auth-account/redis';
import { emailKey } from '@auth-account/stores';
import { loadKeyFile, readSecret } from '@auth-account/tokens';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { newEmail, newSession, registerAccount } from '../../support/accounts.ts';
import { changeEmail, requestChange, undoTokenOf } from '../../support/codes.ts';
import { type ErasureScene, openErasureScene } from '../../support/erasure-scene.ts';
import { testEnvironment, uniqueName } from '../../support/test-api.ts';
import { eventually } from '../../support/worker-scene.ts';
import { startTestWorker } from '../../support/worker-service.ts';

let scene: ErasureScene;
let redis: Redis;
/** Returns true if the limits know from where the account with this address has logged in. */
let hasPlaces: (email: string) => Promise<boolean>;
beforeAll(async () => {
  scene = await openErasureScene(uniqueName());
  redis = new Redis(testEnvironment().redisUrl);
  const { keys } = await loadKeyFile(join(testEnvironment().keysDir, 'server-keys.json'));
  const names = keys.map((key) => createLimitKeys(scene.api.keyPrefix, () => readSecret(key)));
  hasPlaces = async (email) =>
    (await redis.exists(...names.map((limits) => limits.knownOf(limits.tagOf('account', emailKey(email)))))) > 0;
});
afterAll(async () => {
  redis.disconnect();
  await scene.close();
});

type Session = Awaited<ReturnType<typeof newSession>>;

const userOf = ({ user_id }: Pick<Session, 'user_id'>) => scene.api.collections.users.findOne({ _id: user_id });
const formerOf = async (session: Session) => (await userOf(session))?.former_emails?.map(({ email }) => email);

/** Makes the account's former addresses lapse an hour ago. */
async function lapse({ user_id }: Session): Promise<void> {
  const until = new Date(Date.now() - 3_600_000);
  await scene.api.collections.users.updateOne({ _id: user_id }, { $set: { 'former_emails.$[].until': until } });
}

/** Runs a worker until it has removed the account's former addresses, or for as long as `work` lasts. */
async function sweep(session: Session, work?: () => Promise<void>): Promise<void> {
  const worker = await startTestWorker(scene.env);
  try {
    await work?.();
    await eventually('they are removed', async () => (await formerOf(session)) === undefined);
  } finally {
    await worker.close();
  }
}

/** Creates an account that has changed its address. */
async function newChanged() {
  const session = await newSession(scene.api);
  const new_email = newEmail();
  await changeEmail(scene.api, session, new_email);
  return { session, new_email };
}

describe('a former address', () => {
  test('a former address is removed when it has lapsed, and its known devices and networks are forgotten', async () => {
    const [{ session, new_email }, other] = [await newChanged(), await newChanged()];
    expect([await hasPlaces(session.email), await hasPlaces(new_email)]).toEqual([true, true]);
    await lapse(session);
    await sweep(session);
    expect([await hasPlaces(session.email), await hasPlaces(new_email)]).toEqual([false, true]);
    expect([await formerOf(other.session), await hasPlaces(other.session.email)]).toEqual([
      [other.session.email],
      true,
    ]);
  });

  test('a former address that the next change drops loses its known devices and networks too', async () => {
    const { session } = await newChanged();
    await lapse(session);
    await changeEmail(scene.api, session, newEmail());
    expect(await formerOf(session)).toContain(session.email);
    await lapse(session);
    await sweep(session);
    expect(await hasPlaces(session.email)).toBe(false);
  });

  test('a former address keeps its known devices and networks if the account has it again', async () => {
    const { session, new_email } = await newChanged();
    await changeEmail(scene.api, session, session.email);
    await lapse(session);
    await sweep(session);
    expect([await hasPlaces(session.email), await hasPlaces(new_email)]).toEqual([true, false]);
  });

  test('a former address keeps the known devices and networks of an account that has registered with it since', async () => {
    const { session } = await newChanged();
    await lapse(session);
    await registerAccount(scene.api, session.email);
    await sweep(session);
    expect(await hasPlaces(session.email)).toBe(true);
  });
});

test('an address that an undo took away is removed, and its known devices and networks are forgotten', async () => {
  const { session, new_email } = await newChanged();
  const last = newEmail();
  const undo_token = await undoTokenOf(scene.api, session.user_id);
  await changeEmail(scene.api, session, last);
  expect((await scene.api.post('/api/v1/auth/email-change/undo', { undo_token })).status).toBe(200);
  expect(await formerOf(session)).toEqual([new_email, last]);
  await lapse(session);
  await sweep(session);
  expect(await Promise.all([session.email, new_email, last].map(hasPlaces))).toEqual([true, false, false]);
});

test('a worker that fails between the two steps leaves the address to the next round', async () => {
  const { session } = await newChanged();
  const { mongo, database, collections } = scene.api;
  // The store itself refuses this one update, because the order of a worker's updates depends on the machine.
  const refuse = (validator: object) =>
    mongo.db(database).command({ collMod: collections.users.collectionName, validator });
  await refuse({ $or: [{ _id: { $ne: session.user_id } }, { former_emails: { $exists: true } }] });
  await lapse(session);
  const worker = await startTestWorker(scene.env);
  try {
    await eventually('its places are forgotten', async () => !(await hasPlaces(session.email)));
    expect(await formerOf(session)).toEqual([session.email]);
    await refuse({});
    await eventually('it is removed', async () => (await formerOf(session)) === undefined);
  } finally {
    await refuse({});
    await worker.close();
  }
});

test('the address of an unconfirmed change is removed when it has lapsed', async () => {
  const [lapsed, open] = [await newSession(scene.api), await newSession(scene.api)];
  const new_email = newEmail();
  for (const session of [lapsed, open]) await requestChange(scene.api, session, new_email);
  const pending_email_until = new Date(Date.now() - 3_600_000);
  await scene.api.collections.users.updateOne({ _id: lapsed.user_id }, { $set: { pending_email_until } });
  await sweep(lapsed, () =>
    eventually('it is removed', async () => (await userOf(lapsed))?.pending_email === undefined),
  );
  expect(await userOf(lapsed)).not.toHaveProperty('pending_email_until');
  expect(await userOf(open)).toMatchObject({ pending_email: new_email, pending_email_until: expect.any(Date) });
});
