import type { InvitePreviewResponse } from '@auth-account/contracts/http/invites';
import type { GroupStore, InviteStore } from '@auth-account/stores';
import type { Limits } from '../limits/limits.ts';
import type { RequestOrigin } from '../request/request-origin.ts';
import { createJudgeInvite, inviteInvalid, previewInvite } from './invite-validity.ts';

export interface FindInviteDeps {
  readonly invites: Pick<InviteStore, 'find'>;
  readonly groups: Pick<GroupStore, 'isFull'>;
  readonly maxGroupMembers: number;
  readonly limits: Pick<Limits, 'findInvite'>;
  readonly now: () => Date;
}

/**
 * Previews an invite for the holder of its token. Raises `ERR-RATE-LIMITED`, and `ERR-INVITE-TOKEN-INVALID` (404) if
 * the token names no invite.
 */
export function createFindInvite(deps: FindInviteDeps) {
  const { invites, limits, now } = deps;
  const judgeInvite = createJudgeInvite(deps);

  return async (token: string, origin: RequestOrigin): Promise<InvitePreviewResponse['data']> => {
    await limits.findInvite(origin);
    const invite = await invites.find(token);
    if (invite === undefined) throw inviteInvalid(token, undefined);
    return { ...previewInvite(invite, await judgeInvite(invite)), timestamp: now().toISOString() };
  };
}
