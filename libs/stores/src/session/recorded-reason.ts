import type { DetailsOf } from '@auth-account/errors';
import type { RevocationReason } from '../documents.ts';

type RecordedReason = NonNullable<DetailsOf<'IAD_JWT_REFRESH_STOLEN'>['reason']>;

/** The reason that apps see for each reason of a session's end. */
const recordedReasons: Readonly<Record<RevocationReason, RecordedReason>> = {
  logout: 'logged_out',
  revoked_by_user: 'revoked',
  revoked_by_provider: 'revoked',
  replaced: 'replaced',
  session_limit: 'session_limit',
  forced: 'forced',
  password_changed: 'password_changed',
  account_disabled: 'account_disabled',
  account_deleted: 'account_deleted',
  refresh_token_reuse: 'reused',
};

/**
 * Returns the reason for the end of a session as the session's user may know it; undefined if the reason comes from a
 * newer version.
 */
export function recordedReasonOf(reason: RevocationReason | undefined): RecordedReason | undefined {
  return reason && recordedReasons[reason];
}
