import { AppError } from '@auth-account/errors';
import type { InviteState } from '@auth-account/stores';

/** 404: the string never named an invite; 410: it did, and is over (decisions, "Invite token"). */
export function inviteInvalid(token: string, state: InviteState | undefined): AppError {
  return new AppError('ERR-INVITE-TOKEN-INVALID', {
    status: state === undefined ? 404 : 410,
    canonical: state === 'expired' ? 'IAD_GROUP_INVITE_EXPIRED' : undefined,
    details: { provided_token: token },
  });
}
