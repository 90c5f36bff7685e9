import type { InviteListResponse } from '@auth-account/contracts';
import { AppError } from '@auth-account/errors';
import type { GroupStore, InviteStore } from '@auth-account/stores';
import type { VerifiedAccessToken } from '@auth-account/tokens';
import { describeInvite } from './describe-invite.ts';

export interface ListInvitesDeps {
  readonly groups: Pick<GroupStore, 'isOwnedBy'>;
  readonly invites: Pick<InviteStore, 'list'>;
  readonly now: () => Date;
}

/** Invites that are over, in one list; the valid ones are bounded by themselves. */
const tombstoneLimit = 100;

/** The invites of the group that the caller owns, the newest first. Raises `ERR-GROUP-OWNER-REQUIRED`. */
export function createListInvites({ groups, invites, now }: ListInvitesDeps) {
  return async ({ user_id, home_group_id }: VerifiedAccessToken): Promise<InviteListResponse['data']> => {
    if (!(await groups.isOwnedBy(home_group_id, user_id))) throw new AppError('ERR-GROUP-OWNER-REQUIRED');
    const at = now();
    const { invites: found, hasMore } = await invites.list(home_group_id, at, tombstoneLimit);
    return {
      invites: found.map((invite) => describeInvite(invite, at)),
      has_more: hasMore,
      timestamp: at.toISOString(),
    };
  };
}
