import type { MemberRemovedResponse } from '@auth-account/contracts/http/groups';
import { AppError } from '@auth-account/errors';
import type { GroupStore, UserStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { Ids } from '../../request/ids.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
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
 * Removes a member from the caller's group, as if that member had left. It also revokes the invite that brought the
 * member there, because the member could come back with it. If the id is the owner's own, the owner leaves and no
 * invite is revoked.
 *
 * Raises the errors of {@link nonOwnerError} if the caller does not own the group (any more), and
 * `ERR-GROUP-MEMBER-NOT-FOUND`. For the owner's own id it may raise `ERR-RATE-LIMITED`, because only leaving, not the
 * removal of others, counts as a move.
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
    // A closed group keeps its last owner's id.
    const group = await groups.find(from);
    await assertOwner(group?.closed_at === null ? group : undefined);
    const answer = (invites_revoked: number) => {
      const message = 'MEMBER_REMOVED' as const;
      return { message, user_id: memberId, invites_revoked, timestamp: now().toISOString() };
    };
    if (memberId === removed_by) {
      await leaveGroup(caller, origin);
      return answer(0);
    }
    const ids = { session_id, home_group_id: from };
    const change = {
      userId: memberId,
      from,
      ...newHome(deps, memberId, now()),
      notThere: () => new AppError('ERR-GROUP-MEMBER-NOT-FOUND'),
      assertAllowed: assertOwner,
      audit: [{ event: 'group.removed', user_id: memberId, ...ids, removed_by }],
      endsInvite: { event: 'invite.revoked', user_id: removed_by, ...ids },
    } as const;
    const { isInviteEnded } = await changeGroup(change, origin);
    return answer(isInviteEnded ? 1 : 0);
  };
}
