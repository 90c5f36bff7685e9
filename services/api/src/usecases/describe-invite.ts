import type { Invite, InvitePreviewResponse } from '@auth-account/contracts';
import { type InviteDocument, type InviteState, inviteState } from '@auth-account/stores';

type Preview = Omit<InvitePreviewResponse['data'], 'timestamp'>;

/** What anybody may know who has the token: no name, no address, no group. `state`: what the invite is worth to them. */
export function previewInvite(invite: InviteDocument, state: InviteState): Preview {
  return {
    account_type: invite.account_type,
    expires_at: invite.expires_at.toISOString(),
    valid: state === 'good',
    reason: state === 'good' ? null : state,
  };
}

/** What the owner of the group may know: what the invite is by itself, full as the group may be. */
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
