import type { GroupRole } from '@auth-account/contracts';
import type { ClientSession } from 'mongodb';
import type { UserDocument } from '../documents.ts';
import type { Collections } from '../mongo/collections.ts';

/** Fields that a change of group writes into the user's document. */
export type Membership = Pick<UserDocument, 'home_group_id' | 'account_type' | 'role' | 'joined_at' | 'joined_by'>;

export type Moved = Pick<UserDocument, '_id' | 'joined_by'>;

/** A member as the other members of the group see it. */
export type GroupMember = Pick<UserDocument, '_id' | 'email' | 'display_name' | 'role' | 'joined_at'>;

/** Sorts members by the time at which they joined, then by the age of their accounts, oldest first. */
const eldestFirst = { joined_at: 1, _id: 1 } as const;

/** Update that always changes the document, so that every other transaction that writes it conflicts. */
export const touch = (fields: Partial<UserDocument>) => ({ $set: fields, $inc: { touches: 1 } });

/** The group's part of the accounts. */
export interface UserMemberships {
  /** Returns true if the user is in that group now. */
  isMember(groupId: string, userId: string): Promise<boolean>;
  /** Marks every user of the group in the same way, and returns their ids. */
  touchGroupSessions(groupId: string, at: Date, session: ClientSession): Promise<string[]>;
  /**
   * Moves the user out of the group `from`, and returns how they had joined that group; undefined if the user is not in
   * it. Logins write the same document, so a concurrent login conflicts and can't keep the claims of the old group.
   */
  move(userId: string, from: string, to: Membership, session: ClientSession): Promise<Moved | undefined>;
  /** Returns true if exactly this move took effect. Reads with majority concern, so the result can't be rolled back. */
  hasMoved(userId: string, to: Pick<Membership, 'home_group_id' | 'joined_at'>): Promise<boolean>;
  /** Makes the group's longest-standing member its owner, and returns that member; undefined if the group has none. */
  promoteEldest(groupId: string, session: ClientSession): Promise<string | undefined>;
  /** Sets the role of a member of the group; false if the user is not in it. */
  setRole(userId: string, groupId: string, role: GroupRole, session: ClientSession): Promise<boolean>;
  /** Returns the group's members, longest-standing first. */
  listGroup(groupId: string): Promise<GroupMember[]>;
}

export function createUserMemberships(users: Collections['users']): UserMemberships {
  return {
    async isMember(groupId, userId) {
      const member = { _id: userId, home_group_id: groupId };
      return (await users.findOne(member, { projection: { _id: 1 } })) !== null;
    },
    async hasMoved(userId, { home_group_id, joined_at }) {
      const options = { projection: { _id: 1 }, readConcern: { level: 'majority' } } as const;
      return (await users.findOne({ _id: userId, home_group_id, joined_at }, options)) !== null;
    },
    listGroup(groupId) {
      const projection = { email: 1, display_name: 1, role: 1, joined_at: 1 };
      return users.find<GroupMember>({ home_group_id: groupId }, { projection }).sort(eldestFirst).toArray();
    },
    async touchGroupSessions(groupId, at, session) {
      const members = { home_group_id: groupId };
      // Written first, so that a concurrent login or leave conflicts with this write.
      await users.updateMany(members, touch({ sessions_changed_at: at }), { session });
      const found = await users.find(members, { session, projection: { _id: 1 } }).toArray();
      return found.map(({ _id }) => _id);
    },
    async move(userId, from, to, session) {
      const fields = touch({ ...to, sessions_changed_at: to.joined_at });
      const update = to.joined_by === undefined ? { ...fields, $unset: { joined_by: true as const } } : fields;
      const options = { session, returnDocument: 'before', projection: { joined_by: 1 } } as const;
      return (await users.findOneAndUpdate({ _id: userId, home_group_id: from }, update, options)) ?? undefined;
    },
    async promoteEldest(groupId, session) {
      const options = { session, sort: eldestFirst, projection: { _id: 1 } } as const;
      return (await users.findOneAndUpdate({ home_group_id: groupId }, { $set: { role: 'owner' } }, options))?._id;
    },
    async setRole(userId, groupId, role, session) {
      const member = { _id: userId, home_group_id: groupId };
      return (await users.updateOne(member, touch({ role }), { session })).matchedCount === 1;
    },
  };
}
