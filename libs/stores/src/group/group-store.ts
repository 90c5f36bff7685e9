import type { ClientSession } from 'mongodb';
import type { GroupDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';

/** Groups: the tenants, that is households and offices. */
export interface GroupStore {
  insert(group: GroupDocument, session: ClientSession): Promise<void>;
  find(groupId: string): Promise<GroupDocument | undefined>;
  /** Returns true if the group has at least `maxMembers` members. */
  isFull(groupId: string, maxMembers: number): Promise<boolean>;
  /** Increments the number of members; false if the group is full, closed or unknown. */
  addMember(groupId: string, maxMembers: number, session: ClientSession): Promise<boolean>;
  /**
   * Decrements the number of members, closes the group if the last member left, and returns the group after the change.
   */
  removeMember(groupId: string, at: Date, session: ClientSession): Promise<GroupDocument | undefined>;
  setOwner(groupId: string, userId: string, session: ClientSession): Promise<void>;
  /**
   * Sets the group's name, or removes it if `name` is null; false if the user does not own the group or the group is
   * closed.
   */
  rename(groupId: string, ownerId: string, name: string | null, session: ClientSession): Promise<boolean>;
  /** Makes `to` the owner instead of `from`; false if `from` does not own the group or the group is closed. */
  handOver(groupId: string, from: string, to: string, session: ClientSession): Promise<boolean>;
  /** Reads with majority concern, so the result can't be rolled back. */
  hasOwner(groupId: string, userId: string): Promise<boolean>;
  isOwnedBy(groupId: string, userId: string): Promise<boolean>;
  /**
   * Counts one created invite, and returns the group; undefined if the user does not own the group or the group is
   * closed. This write makes the transaction conflict with other creations of invites in the group, and with the
   * group's closing or a change of its owner.
   */
  countInvite(groupId: string, ownerId: string, session: ClientSession): Promise<GroupDocument | undefined>;
}

export function createGroupStore({ groups }: Collections): GroupStore {
  return {
    async insert(group, session) {
      await groups.insertOne(group, { session });
    },
    async isFull(groupId, maxMembers) {
      const full = { _id: groupId, member_count: { $gte: maxMembers } };
      return (await groups.findOne(full, { projection: { _id: 1 } })) !== null;
    },
    async addMember(groupId, maxMembers, session) {
      const open = { _id: groupId, closed_at: null, member_count: { $lt: maxMembers } };
      const { matchedCount } = await groups.updateOne(open, { $inc: { member_count: 1 } }, { session });
      return matchedCount === 1;
    },
    async find(groupId) {
      return (await groups.findOne({ _id: groupId })) ?? undefined;
    },
    async removeMember(groupId, at, session) {
      const isLast = { $lte: ['$member_count', 1] };
      const left = {
        member_count: { $subtract: ['$member_count', 1] },
        closed_at: { $cond: [isLast, at, '$closed_at'] },
      };
      // A closed group has no members, so its name is removed.
      const update = [{ $set: { ...left, name: { $cond: [isLast, '$$REMOVE', '$name'] } } }];
      const options = { session, returnDocument: 'after' } as const;
      return (await groups.findOneAndUpdate({ _id: groupId }, update, options)) ?? undefined;
    },
    async setOwner(groupId, userId, session) {
      await groups.updateOne({ _id: groupId }, { $set: { owner_id: userId } }, { session });
    },
    async rename(groupId, ownerId, name, session) {
      const owned = { _id: groupId, owner_id: ownerId, closed_at: null };
      const update = name === null ? { $unset: { name: true as const } } : { $set: { name } };
      return (await groups.updateOne(owned, update, { session })).matchedCount === 1;
    },
    async handOver(groupId, from, to, session) {
      const owned = { _id: groupId, owner_id: from, closed_at: null };
      return (await groups.updateOne(owned, { $set: { owner_id: to } }, { session })).matchedCount === 1;
    },
    async hasOwner(groupId, userId) {
      const options = { projection: { _id: 1 }, readConcern: { level: 'majority' } } as const;
      return (await groups.findOne({ _id: groupId, owner_id: userId }, options)) !== null;
    },
    async isOwnedBy(groupId, userId) {
      const owned = { _id: groupId, owner_id: userId, closed_at: null };
      return (await groups.findOne(owned, { projection: { _id: 1 } })) !== null;
    },
    async countInvite(groupId, ownerId, session) {
      const owned = { _id: groupId, owner_id: ownerId, closed_at: null };
      const options = { session, returnDocument: 'after' } as const;
      return (await groups.findOneAndUpdate(owned, { $inc: { invites_made: 1 } }, options)) ?? undefined;
    },
  };
}
