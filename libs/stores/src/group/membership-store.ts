import type { ClientSession } from 'mongodb';
import type { UserStore } from '../account/user-store.ts';
import type { GroupDocument } from '../documents.ts';
import type { GroupStore } from './group-store.ts';
import type { InviteStore } from './invite-store.ts';

/** A member who has left the group. The user's document already shows this, or has been deleted. */
export interface FormerMember {
  readonly userId: string;
  readonly groupId: string;
  readonly at: Date;
  /** Checks the group that was left, in the transaction. Throws if the change is not allowed. */
  readonly assertAllowed?: ((left: GroupDocument) => Promise<void>) | undefined;
}

/** State of the group that was left. */
export interface LeftGroup {
  readonly isClosed: boolean;
  /** The group's new owner, if the old one has left. */
  readonly heir: string | undefined;
}

/** Operations that concern users, groups and invites together. */
export interface MembershipStore {
  /**
   * Subtracts the member from the group's count. If the owner left, the longest-standing member becomes the owner. If
   * the last member left, the group closes and its invites end. Writes the group's document, like every join and leave.
   */
  end(member: FormerMember, session: ClientSession): Promise<LeftGroup>;
}

export interface MembershipStoreDeps {
  readonly users: Pick<UserStore, 'promoteEldest'>;
  readonly groups: Pick<GroupStore, 'removeMember' | 'setOwner'>;
  readonly invites: Pick<InviteStore, 'revokeOfGroup'>;
}

export function createMembershipStore({ users, groups, invites }: MembershipStoreDeps): MembershipStore {
  return {
    async end({ userId, groupId, at, assertAllowed }, session) {
      const left = await groups.removeMember(groupId, at, session);
      if (left === undefined) throw new Error(`there is no group ${groupId}`);
      await assertAllowed?.(left);
      if (left.closed_at !== null) {
        await invites.revokeOfGroup(groupId, at, session);
        return { isClosed: true, heir: undefined };
      }
      if (left.owner_id !== userId) return { isClosed: false, heir: undefined };
      const heir = await users.promoteEldest(groupId, session);
      if (heir === undefined) throw new Error(`the group ${groupId} has no members, but counts ${left.member_count}`);
      await groups.setOwner(groupId, heir, session);
      return { isClosed: false, heir };
    },
  };
}
