import type { InviteResponse } from '@auth-account/contracts/http/invites';
import type { GroupStore, InviteStore, UserStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { type Commit, none } from '../../announcements/commit.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { nonOwnerError } from '../groups/non-owner-error.ts';
import { describeInvite, inviteInvalid } from './invite-validity.ts';

export interface RevokeInviteDeps {
  readonly users: Pick<UserStore, 'isMember'>;
  readonly groups: Pick<GroupStore, 'isOwnedBy'>;
  readonly invites: Pick<InviteStore, 'find' | 'revoke'>;
  readonly commit: Commit;
  readonly now: () => Date;
}

/**
 * Revokes an invite of the group that the caller owns. An invite that is over already stays as it is. After the answer
 * nobody can join with the invite, because every join writes the invite's document and so comes before the revocation
 * or is refused.
 *
 * Raises the errors of {@link nonOwnerError}, and `ERR-INVITE-TOKEN-INVALID` (404) for a token that names no invite of
 * the group.
 */
export function createRevokeInvite({ users, groups, invites, commit, now }: RevokeInviteDeps) {
  return async (token: string, caller: VerifiedAccessToken, origin: RequestOrigin): Promise<InviteResponse['data']> => {
    const { user_id, home_group_id, sid: session_id } = caller;
    if (!(await groups.isOwnedBy(home_group_id, user_id))) throw await nonOwnerError(users, caller);
    const at = now();
    await commit(
      {
        at,
        lockKey: home_group_id,
        isUrgent: true,
        isCommitted: 'by event',
        ifClientLeft: 'commit',
        async work(session) {
          const isRevoked = await invites.revoke(token, home_group_id, at, session);
          const audit = { event: 'invite.revoked', user_id, session_id, home_group_id } as const;
          return { events: none, audit: isRevoked ? [audit] : none, sessions: none };
        },
      },
      origin,
    );
    const invite = await invites.find(token);
    if (invite?.home_group_id !== home_group_id) throw inviteInvalid(token, undefined);
    return { ...describeInvite(invite, at), timestamp: at.toISOString() };
  };
}
