import type { ClientSession } from 'mongodb';
import type { Collections } from './collections.ts';
import type { GroupDocument } from './documents.ts';

/** Groups: the tenants, households and offices. */
export interface GroupStore {
  insert(group: GroupDocument, session: ClientSession): Promise<void>;
  /** Counts one member more; false where the group is closed or was never there. */
  addMember(groupId: string, session: ClientSession): Promise<boolean>;
}

export function createGroupStore({ groups }: Collections): GroupStore {
  return {
    async insert(group, session) {
      await groups.insertOne(group, { session });
    },
    async addMember(groupId, session) {
      const update = { $inc: { member_count: 1 } };
      const { matchedCount } = await groups.updateOne({ _id: groupId, closed_at: null }, update, { session });
      return matchedCount === 1;
    },
  };
}
