import { AppError, type DetailsOf } from '@auth-account/errors';
import type { RevocationReason } from '@auth-account/stores';

type ToldReason = NonNullable<DetailsOf<'IAD_JWT_REFRESH_STOLEN'>['reason']>;

/** The reason for the end of a session, as an app is told it. */
const toldReasons: Readonly<Record<RevocationReason, ToldReason>> = {
  logout: 'logged_out',
  revoked_by_user: 'revoked',
  replaced: 'replaced',
  session_limit: 'session_limit',
  forced: 'forced',
  refresh_token_reuse: 'reused',
};

/**
 * Makes the refusal of a refresh token whose session was revoked for that reason. For the holder of a genuine token only:
 * nobody else is to hear how a session ended. Without a reason, or with one of a newer version's, none is told.
 */
export function sessionEnded(reason: RevocationReason | undefined): AppError<'IAD_JWT_REFRESH_STOLEN'> {
  const told: ToldReason | undefined = reason && toldReasons[reason];
  return new AppError('IAD_JWT_REFRESH_STOLEN', { details: told === undefined ? {} : { reason: told } });
}
