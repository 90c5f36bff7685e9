import type { MemberRemovedResponse } from '@auth-account/contracts/http/groups';
import { AppError } from '@auth-account/errors';
import type { GroupStore, UserStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/tokens';
import type { Ids } from '../request/ids.ts';
import type { RequestOrigin } from '../request/request-origin.ts';
import { type ChangeGroup, newHome } from './change-group.ts';
import type { LeaveGroup } from './leave-group.ts';
import { nonOwnerError } from './non-owner-error.ts';

export interface RemoveMemberDeps {
  readonly users: Pick<UserStore, 'isMember'>;
  readonly groups: Pick<GroupStore, 'find' | 'insert'>;
  readonly changeGroup: ChangeGroup;
  readonly leaveGroup: LeaveGroup;
  readonly ids: Pick<Ids, 'groupId'>;
  readonly now: () => Date;
}

/**
 * Removes a member from the caller's group, as if that member had left. The owner's own id means leaving.
 *
 * Raises the errors of {@link nonOwnerError} if the caller does not own the group, or no longer,
 * `ERR-GROUP-MEMBER-NOT-FOUND`, and for the owner's own id `ERR-RATE-LIMITED`. Removing others has no limit: each must
 * have joined first, and joins are limited.
 */
export function createRemoveMember(deps: RemoveMemberDeps) {
  const { users, groups, changeGroup, leaveGroup, now } = deps;

  return async (
    memberId: string,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<MemberRemovedResponse['data']> => {
    const { user_id: removed_by, sid: session_id, home_group_id: from } = caller;
    const assertOwner = async (group: { readonly owner_id: string } | undefined) => {
      if (group?.owner_id !== removed_by) throw await nonOwnerError(users, caller);
    };
    // A closed group keeps the id of its last owner.
    const group = await groups.find(from);
    await assertOwner(group?.closed_at === null ? group : undefined);
    if (memberId === removed_by) await leaveGroup(caller, origin);
    else {
      const notThere = () => new AppError('ERR-GROUP-MEMBER-NOT-FOUND');
      const home = newHome(deps, memberId, now());
      const events = [
        { event: 'group.removed', user_id: memberId, session_id, home_group_id: from, removed_by },
      ] as const;
      await changeGroup({ userId: memberId, from, ...home, notThere, assertAllowed: assertOwner, events }, origin);
    }
    return { message: 'MEMBER_REMOVED', user_id: memberId, timestamp: now().toISOString() };
  };
}
