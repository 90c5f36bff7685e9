import type { Invite } from '@auth-account/contracts/http/invites';
import { AppError } from '@auth-account/errors';
import { type GroupStore, type InviteState, inviteState } from '@auth-account/stores';
import type { InviteDocument } from '@auth-account/stores/documents';

export interface JudgeInviteDeps {
  readonly groups: Pick<GroupStore, 'isFull'>;
  readonly maxGroupMembers: number;
  readonly now: () => Date;
}

/** Returns the state of the invite for a user who wants to join with it. */
export type JudgeInvite = (invite: InviteDocument) => Promise<InviteState>;

/** Finds an invite's state. A valid invite counts as used up while its group is full. */
export function createJudgeInvite({ groups, maxGroupMembers, now }: JudgeInviteDeps): JudgeInvite {
  return async (invite) => {
    const state = inviteState(invite, now());
    if (state !== 'good') return state;
    return (await groups.isFull(invite.home_group_id, maxGroupMembers)) ? 'used_up' : 'good';
  };
}

/**
 * Returns the error for an invalid invite: 404 if the string never named an invite, 410 if the invite is over
 * (docs/specification/groups-and-invites.md, "Which answer an invite gets").
 */
export function inviteInvalid(token: string, state: InviteState | undefined): AppError {
  return new AppError('ERR-INVITE-TOKEN-INVALID', {
    status: state === undefined ? 404 : 410,
    canonical: state === 'expired' ? 'IAD_GROUP_INVITE_EXPIRED' : undefined,
    details: { provided_token: token },
  });
}

type Preview = Pick<Invite, 'account_type' | 'expires_at' | 'valid' | 'reason'>;

/** Returns the part of the preview that follows from the invite and from `state`, the invite's state for the reader. */
export function previewInvite(invite: InviteDocument, state: InviteState): Preview {
  return {
    account_type: invite.account_type,
    expires_at: invite.expires_at.toISOString(),
    valid: state === 'good',
    reason: state === 'good' ? null : state,
  };
}

/**
 * Describes the invite for the owner of the group. The state is that of the invite alone, even if the group is full.
 */
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
