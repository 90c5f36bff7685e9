import { createRegisteredEvent } from '@auth-account/messaging';
import type { Mongo } from '@auth-account/operations';
import { isDuplicateKey } from '@auth-account/stores';
import type { GroupDocument, UserDocument } from '@auth-account/stores/documents';
import type { ClientSession } from 'mongodb';
import { v7 } from 'uuid';
import type { ImportRecord } from './parse-import-record.ts';
import { type BatchPlan, type Foreseen, type PlanOptions, planBatch } from './plan-batch.ts';

export interface BatchOptions extends PlanOptions {
  /** Request id of the events; if undefined, no events are written. */
  readonly eventsOf: string | undefined;
}

/**
 * Limit for the plans of one batch. A batch is planned again if one of its email addresses was registered, or one of
 * its groups was closed, in between.
 */
const attempts = 5;

/**
 * Creates the accounts of one batch, and their events, in one transaction. A dry run only adds them to its forecast.
 */
export async function writeBatch(
  mongo: Mongo,
  records: readonly ImportRecord[],
  options: BatchOptions,
): Promise<BatchPlan> {
  for (let attempt = 1; ; attempt++) {
    const plan = await planBatch(mongo.collections, records, options);
    if (options.foreseen) addTo(options.foreseen, plan);
    const [first] = plan.users;
    if (first === undefined || options.foreseen) return plan;
    try {
      const isCommitted = () => mongo.stores.users.exists(first._id);
      await mongo.transaction((session) => write(mongo, plan, options, session), {
        isCommitted,
        deadlineMs,
      });
      return plan;
    } catch (error) {
      if (attempt === attempts || !(isDuplicateKey(error) || error instanceof GroupClosed)) throw error;
    }
  }
}

function addTo(foreseen: Foreseen, { users, newGroups }: BatchPlan): void {
  for (const { email_key } of users) foreseen.emailKeys.add(email_key);
  for (const group of newGroups) if (group.import_key !== undefined) foreseen.groups.set(group.import_key, group);
}

const deadlineMs = 30_000;

class GroupClosed extends Error {
  override readonly name = 'GroupClosed';
}

async function write(
  { collections, stores }: Mongo,
  { users, newGroups, joins }: BatchPlan,
  { eventsOf, now }: BatchOptions,
  session: ClientSession,
): Promise<void> {
  if (newGroups.length > 0) await collections.groups.insertMany(newGroups, { session });
  if (joins.size > 0) {
    const counts = Array.from(joins, ([_id, count]) => ({
      updateOne: { filter: { _id, closed_at: null }, update: { $inc: { member_count: count } } },
    }));
    const { matchedCount } = await collections.groups.bulkWrite(counts, { session });
    if (matchedCount < joins.size) throw new GroupClosed('a group was closed in between');
  }
  await collections.users.insertMany(users, { session });
  if (eventsOf === undefined) return;
  const owners = new Set(newGroups.map(({ owner_id }) => owner_id));
  for (const user of users) await stores.outbox.append(toEvent(user, owners, eventsOf, now), now, session);
}

function toEvent(user: UserDocument, owners: ReadonlySet<GroupDocument['owner_id']>, requestId: string, now: Date) {
  const isNew = owners.has(user._id);
  const data = {
    user_id: user._id,
    home_group_id: user.home_group_id,
    account_type: user.account_type,
    space_creation_mode: isNew ? (`CREATE_NEW_${user.account_type}` as const) : 'JOIN_EXISTING',
    is_new_group: isNew,
    registered_at: now.toISOString(),
  } as const;
  return createRegisteredEvent(data, { id: v7(), requestId });
}
