import type { InviteListResponse } from '@auth-account/contracts/http/invites';
import type { GroupStore, InviteStore, UserStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/verifier/access-token';
import { nonOwnerError } from '../groups/non-owner-error.ts';
import { describeInvite } from './invite-validity.ts';

export interface ListInvitesDeps {
  readonly users: Pick<UserStore, 'isMember'>;
  readonly groups: Pick<GroupStore, 'isOwnedBy'>;
  readonly invites: Pick<InviteStore, 'list'>;
  readonly now: () => Date;
}

/** Limit for the ended invites in one list. The number of valid invites is limited elsewhere. */
const tombstoneLimit = 100;

/** Lists the invites of the group that the caller owns, newest first. Raises the errors of {@link nonOwnerError}. */
export function createListInvites({ users, groups, invites, now }: ListInvitesDeps) {
  return async (caller: VerifiedAccessToken): Promise<InviteListResponse['data']> => {
    const { user_id, home_group_id } = caller;
    if (!(await groups.isOwnedBy(home_group_id, user_id))) throw await nonOwnerError(users, caller);
    const at = now();
    const { invites: found, hasMore } = await invites.list(home_group_id, at, tombstoneLimit);
    return {
      invites: found.map((invite) => describeInvite(invite, at)),
      has_more: hasMore,
      timestamp: at.toISOString(),
    };
  };
}
