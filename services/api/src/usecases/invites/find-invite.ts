import type { InvitePreviewResponse } from '@auth-account/contracts/http/invites';
import type { GroupStore, InviteStore, UserStore } from '@auth-account/stores';
import type { Limits } from '../../limits/limits.ts';
import type { RequestOrigin } from '../../request/request-origin.ts';
import { createJudgeInvite, inviteInvalid, previewInvite } from './invite-validity.ts';

export interface FindInviteDeps {
  readonly invites: Pick<InviteStore, 'find'>;
  readonly groups: Pick<GroupStore, 'isFull' | 'find'>;
  readonly users: Pick<UserStore, 'findDisplayName'>;
  readonly maxGroupMembers: number;
  readonly limits: Pick<Limits, 'findInvite'>;
  readonly now: () => Date;
}

/**
 * Previews an invite for the holder of its token. The preview names the inviter and the group, but contains no id and
 * no email address. Raises `ERR-RATE-LIMITED`, and `ERR-INVITE-TOKEN-INVALID` (404) if the token names no invite.
 */
export function createFindInvite(deps: FindInviteDeps) {
  const { invites, groups, users, limits, now } = deps;
  const judgeInvite = createJudgeInvite(deps);

  return async (token: string, origin: RequestOrigin): Promise<InvitePreviewResponse['data']> => {
    await limits.findInvite(origin);
    const invite = await invites.find(token);
    if (invite === undefined) throw inviteInvalid(token, undefined);
    const [state, group, inviter] = await Promise.all([
      judgeInvite(invite),
      groups.find(invite.home_group_id),
      invite.created_by === null ? undefined : users.findDisplayName(invite.created_by),
    ]);
    return {
      ...previewInvite(invite, state),
      group_name: group?.name ?? null,
      invited_by: inviter ?? null,
      timestamp: now().toISOString(),
    };
  };
}
