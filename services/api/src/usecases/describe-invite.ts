import type { Invite, InvitePreviewResponse } from '@auth-account/contracts';
import { type InviteDocument, inviteState } from '@auth-account/stores';

type Preview = Omit<InvitePreviewResponse['data'], 'timestamp'>;

/** What anybody may know who has the token: no name, no address, no group. */
export function previewInvite(invite: InviteDocument, now: Date): Preview {
  const state = inviteState(invite, now);
  return {
    account_type: invite.account_type,
    expires_at: invite.expires_at.toISOString(),
    valid: state === 'good',
    reason: state === 'good' ? null : state,
  };
}

/** What the owner of the group may know. */
export function describeInvite(invite: InviteDocument, now: Date): Invite {
  return {
    invite_token: invite._id,
    ...previewInvite(invite, now),
    max_uses: invite.max_uses,
    uses: invite.uses,
    created_by: invite.created_by,
    created_at: invite.created_at.toISOString(),
    revoked_at: invite.revoked_at?.toISOString() ?? null,
  };
}
