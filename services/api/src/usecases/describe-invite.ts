import type { Invite, InvitePreviewResponse } from '@auth-account/contracts/http/invites';
import { type InviteDocument, type InviteState, inviteState } from '@auth-account/stores';

type Preview = Omit<InvitePreviewResponse['data'], 'timestamp'>;

/** The part that anybody with the token may know: no name, no address, no group. `state`: what the invite is worth to them. */
export function previewInvite(invite: InviteDocument, state: InviteState): Preview {
  return {
    account_type: invite.account_type,
    expires_at: invite.expires_at.toISOString(),
    valid: state === 'good',
    reason: state === 'good' ? null : state,
  };
}

/** The part for the owner of the group: the invite by itself, even if the group is full. */
export function describeInvite(invite: InviteDocument, now: Date): Invite {
  return {
    invite_token: invite._id,
    ...previewInvite(invite, inviteState(invite, now)),
    max_uses: invite.max_uses,
    uses: invite.uses,
    created_by: invite.created_by,
    created_at: invite.created_at.toISOString(),
    revoked_at: invite.revoked_at?.toISOString() ?? null,
  };
}
