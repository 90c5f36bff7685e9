import { newSession, password } from '../api/accounts.ts';
import { type ApiDriver, bearer, type Caller, dataOf } from '../api/api-driver.ts';
import { startTestApi, type TestApi } from '../api/test-api.ts';
import { testEnvironment } from '../test-environment.ts';

/**
 * An api whose accounts are due for erasure as soon as their deletion is ordered, and the environment of its workers.
 */
export type ErasureFixture = Awaited<ReturnType<typeof openErasureFixture>>;

/** `appName`: name of the workers' connections to MongoDB, for fail points. */
export async function openErasureFixture(appName: string, logger?: Parameters<typeof startTestApi>[2]) {
  const api = await startTestApi({ ACCOUNT_DELETION_GRACE_DAYS: '0' }, {}, logger);
  const uri = new URL(testEnvironment().mongodbUri);
  uri.searchParams.set('appName', appName);
  const env = { ...api.env, MONGODB_URI: String(uri), EVENT_SUBSCRIBERS: '[]' };
  return { api, env, close: api.close };
}

/** Orders the deletion of the account. Throws if the answer is not 202. */
export async function orderDeletion(api: ApiDriver, caller: Caller) {
  await dataOf(api.scheduleDeletion({ current_password: password }, bearer(caller)), 202);
}

/** Creates an account that is due for erasure. */
export async function newDueAccount(api: TestApi) {
  const session = await newSession(api);
  await orderDeletion(api, session);
  return session;
}

/** Returns the documents with the ids of this user and group, from all collections but the outbox. */
export async function storedOf({ collections }: Pick<TestApi, 'collections'>, userId: string, groupId: string) {
  const { users, groups, sessions, challenges, idempotency, invites } = collections;
  const [user, ...others] = await Promise.all([
    users.findOne({ _id: userId }, { projection: { erasure: 0 } }),
    groups.find({ _id: groupId }).toArray(),
    sessions.find({ user_id: userId }).sort({ _id: 1 }).toArray(),
    challenges.find({ user_id: userId }).toArray(),
    idempotency.find({ user_id: userId }).toArray(),
    invites.find({ home_group_id: groupId }).toArray(),
  ]);
  return { user, others };
}

/** Ends the lease of the account's erasure, as if its time had passed. */
export async function endErasureLease({ collections }: Pick<TestApi, 'collections'>, userId: string): Promise<void> {
  await collections.users.updateOne(
    { _id: userId, erasure: { $exists: true } },
    { $set: { 'erasure.until': new Date(0) } },
  );
}
