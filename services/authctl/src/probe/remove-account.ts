import type { Mongo } from '@auth-account/operations';
import { firstIdOf, type UserDocument } from '@auth-account/stores/documents';
import type { ClientSession } from 'mongodb';
import { deleteEvents, findEvents } from './probe-events.ts';

/** Result of a removal. `shared`: the group has another user, so the account is not a probe's and is left alone. */
export type Removal = 'removed' | 'gone' | 'shared';

export type ProbedUser = Pick<UserDocument, '_id' | 'home_group_id' | 'created_at' | 'last_login_at'>;

/** Tolerated difference between the clocks of two servers, in ms. */
const clockSlackMs = 5_000;

class GroupShared extends Error {
  override readonly name = 'GroupShared';
}

/**
 * Removes an account that a probe created, in one transaction: user, group, invites, codes, sessions, and its events if
 * no subscriber waits for them. An undelivered event stays until `removeOldEvents` finds it.
 */
export async function removeAccount(mongo: Mongo, user: ProbedUser): Promise<Removal> {
  const isCommitted = async () => !(await mongo.stores.users.exists(user._id));
  try {
    return await mongo.transaction((session) => remove(mongo, user, session), { isCommitted });
  } catch (error) {
    if (error instanceof GroupShared) return 'shared';
    throw error;
  }
}

async function remove({ collections }: Mongo, user: ProbedUser, session: ClientSession): Promise<Removal> {
  const { users, groups, invites, sessions, challenges } = collections;
  const { _id, home_group_id } = user;
  const { deletedCount } = await users.deleteOne({ _id, home_group_id }, { session });
  if (deletedCount === 0) return 'gone';
  const own = await groups.deleteOne({ _id: home_group_id, owner_id: _id, member_count: 1 }, { session });
  if (own.deletedCount === 0) throw new GroupShared(`group ${home_group_id} is not this user's alone`);
  await invites.deleteMany({ home_group_id }, { session });
  await challenges.deleteMany({ user_id: _id }, { session });
  await sessions.deleteMany({ user_id: _id, _id: idsOf(user) }, { session });
  const events = await findEvents(collections, { 'event.subject': _id }, session);
  await deleteEvents(
    collections,
    events.map(({ id }) => id),
    session,
  );
  return 'removed';
}

/**
 * Returns the range of ids of the account's sessions, because no index finds revoked sessions by user. A session's id
 * contains the time of its creation.
 */
function idsOf({ created_at, last_login_at = created_at }: ProbedUser) {
  const shifted = (at: Date, ms: number) => firstIdOf(new Date(at.getTime() + ms));
  return { $gte: shifted(created_at, -clockSlackMs), $lt: shifted(last_login_at, clockSlackMs) };
}
