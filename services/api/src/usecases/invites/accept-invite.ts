import type { AcceptInviteRequest, MembershipResponse } from '@auth-account/contracts/http/groups';
import { AppError } from '@auth-account/errors';
import { type GroupStore, type InviteState, type InviteStore, inviteState, type UserStore } from '@auth-account/stores';
import type { InviteDocument } from '@auth-account/stores/documents';
import type { Membership } from '@auth-account/stores/user-memberships';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import type { ClientSession } from 'mongodb';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import type { ChangeGroup } from '../groups/change-group.ts';
import { createJudgeInvite, inviteInvalid } from './invite-validity.ts';

export interface AcceptInviteDeps {
  readonly invites: Pick<InviteStore, 'find' | 'use'>;
  readonly users: Pick<UserStore, 'isMember'>;
  readonly groups: Pick<GroupStore, 'isFull' | 'addMember'>;
  readonly changeGroup: ChangeGroup;
  readonly limits: Pick<Limits, 'move'>;
  readonly maxGroupMembers: number;
  readonly now: () => Date;
}

/**
 * Moves the caller into the group of an invite, as a member.
 *
 * Raises the first error whose condition is met:
 * - `ERR-INVITE-TOKEN-INVALID` (404): the token never named an invite.
 * - `IAD_GROUP_ALREADY_MEMBER`: the invite is into the caller's own group.
 * - `IAD_GROUP_INVITE_EXPIRED`: the invite has expired.
 * - `ERR-INVITE-TOKEN-INVALID` (410): the invite was revoked or is used up, or its group is full.
 * - `IAD_GROUP_ALREADY_MEMBER`: the caller did not pass `leave_current_group`.
 * - `ERR-RATE-LIMITED`: the caller has changed groups too often.
 * - `IAD_JWT_ACCESS_INVALID`: another change of the caller's group came first, so the app must refresh.
 */
export function createAcceptInvite(deps: AcceptInviteDeps) {
  const { users, invites, groups, changeGroup, limits, maxGroupMembers, now } = deps;
  const judgeInvite = createJudgeInvite(deps);

  async function goodInvite(
    token: string,
    { user_id, home_group_id: ownGroup }: VerifiedAccessToken,
  ): Promise<InviteDocument> {
    const invite = await invites.find(token);
    if (invite === undefined) throw inviteInvalid(token, undefined);
    const isMember = () => users.isMember(ownGroup, user_id);
    if (invite.home_group_id === ownGroup) {
      throw (await isMember()) ? new AppError('IAD_GROUP_ALREADY_MEMBER') : moved();
    }
    const state = await judgeInvite(invite);
    if (state === 'good') return invite;
    // If the caller tapped twice, their other request may already have used up the invite or filled the group.
    throw (await isMember()) ? refused(token, state) : moved();
  }

  /** Uses the invite and adds the member. Fails if the invite was revoked or used up after it was read. */
  async function enter(token: string, groupId: string, session: ClientSession): Promise<void> {
    if ((await invites.use(token, now(), session)) === undefined) {
      const invite = await invites.find(token);
      throw refused(token, invite && inviteState(invite, now()));
    }
    // After the invite was read, somebody filled the group, or the group was closed.
    if (!(await groups.addMember(groupId, maxGroupMembers, session))) throw refused(token, 'used_up');
  }

  return async (
    token: string,
    { leave_current_group = false }: AcceptInviteRequest,
    caller: VerifiedAccessToken,
    origin: RequestOrigin,
  ): Promise<MembershipResponse['data']> => {
    const { user_id, sid: session_id, home_group_id: from } = caller;
    const { _id: joined_by, home_group_id, account_type } = await goodInvite(token, caller);
    if (!leave_current_group) throw new AppError('IAD_GROUP_ALREADY_MEMBER');
    await limits.move(user_id, origin);
    const to: Membership = { home_group_id, account_type, role: 'member', joined_at: now(), joined_by };
    await changeGroup(
      {
        userId: user_id,
        from,
        to,
        enter: (session) => enter(token, home_group_id, session),
        notThere: moved,
        audit: [
          { event: 'group.left', user_id, session_id, home_group_id: from },
          { event: 'group.joined', user_id, session_id, home_group_id },
        ],
      },
      origin,
    );
    return { home_group_id, account_type, role: to.role, timestamp: now().toISOString() };
  };
}

/** Creates the error for an access token that names a group which the user has left. */
const moved = () => new AppError('IAD_JWT_ACCESS_INVALID');

function refused(token: string, state: InviteState | undefined): Error {
  return state === 'expired' ? new AppError('IAD_GROUP_INVITE_EXPIRED') : inviteInvalid(token, state);
}
