import type { SignedOutReason } from '../events.ts';
import type { Reaction } from '../generated/reactions.ts';
import { AuthError, isCatalogueCode } from '../http/auth-error.ts';

/** The client's own reaction to an error. `none` leaves the reaction to the app. */
export type OwnReaction = 'end_session' | 'refresh' | 'none';

/** The reactions that the app carries out. As a type, the list adds nothing to the bundle. */
type AppsReaction =
  | 'ABORT_JOB_AND_ALERT'
  | 'ADD_WAY_TO_SIGN_IN'
  | 'ASK_CODE'
  | 'ASK_GROUP_OWNER'
  | 'ASK_PASSWORD'
  | 'ASK_SECOND_FACTOR'
  | 'AUDIT_AND_RESET_CACHE'
  | 'BLOCK_BATCH'
  | 'BLOCK_PANTRY_AND_WAIT'
  | 'BLOCK_WRITE_OFF'
  | 'ASK_PROVIDER_AGAIN'
  | 'CHECK_CREDENTIALS'
  | 'CHECK_INVITE'
  | 'CHECK_PASSKEY'
  | 'CHOOSE_ALLOWED_REASON'
  | 'CLOSE_STREAM_AND_CLEAR_BUFFER'
  | 'CONTACT_SUPPORT'
  | 'CUT_STREAM'
  | 'DISABLE_LIVE_LOGS'
  | 'FIX_INPUT'
  | 'FIX_REQUEST'
  | 'FORCE_LOGOUT'
  | 'HIDE_HINTS'
  | 'HIDE_MAP_AND_ALERT'
  | 'HIGHLIGHT_EMAIL_FIELD'
  | 'HIGHLIGHT_SCAN_ERROR'
  | 'INJECT_TRACE_ID'
  | 'LEAVE_GROUP_MODAL'
  | 'LOCK_AND_REPORT'
  | 'LOG_AND_ABORT'
  | 'MANUAL_MODERATION'
  | 'OFFER_OTHER_WAY'
  | 'OFFER_RESTORE'
  | 'PROVE_ACCOUNT'
  | 'RECONNECT_WITH_OWN_SESSION'
  | 'REFRESH_SCREEN_AND_RESELECT'
  | 'REGISTER_WITH_ADDRESS'
  | 'REPEAT_DICTATION'
  | 'REPORT'
  | 'REQUEST_NEW_CODE'
  | 'REQUEST_NEW_INVITE'
  | 'REQUEUE_WITH_BACKOFF'
  | 'RESET_WEIGHTS'
  | 'RETRY_WITH_BACKOFF'
  | 'RETURN_EMPTY_LIST'
  | 'RETURN_TO_COOKBOOK'
  | 'REVOKE_INVITE'
  | 'SHOW_LOADER_WITH_RETRY'
  | 'SHOW_REGISTRATION'
  | 'SHOW_ZERO_STOCK'
  | 'START_BARCODE_PROCESSING'
  | 'STEP_UP'
  | 'SWITCH_TO_PHOTO_MODE'
  | 'USE_NEW_IDEMPOTENCY_KEY';

/**
 * Returns the client's own reaction. The check is exhaustive: a new reaction in the catalogue does not compile until it
 * is assigned here to the client or the app.
 */
export function ownReactionTo(reaction: Reaction['type']): OwnReaction {
  switch (reaction) {
    case 'CLEAR_STORAGE_AND_LOGIN':
    case 'LOGIN':
      return 'end_session';
    case 'REFRESH_AND_RETRY':
      return 'refresh';
    default: {
      reaction satisfies AppsReaction;
      return 'none';
    }
  }
}

/**
 * Returns the reason why the session ended, if the error of a refresh shows that the session ended, and undefined for
 * every other error. Only a code of the catalogue with status 401 shows this. A time-out, a 429, a 5xx or a captive
 * portal does not.
 */
export function endReasonOf(error: unknown): SignedOutReason | undefined {
  if (!(error instanceof AuthError) || error.status !== 401 || !isCatalogueCode(error.code)) return undefined;
  if (ownReactionTo(error.reaction.type) !== 'end_session') return undefined;
  if (error.code === 'IAD_JWT_REFRESH_EXPIRED') return 'expired';
  const { reason } = error.details as { readonly reason?: string };
  return isRecordedReason(reason) ? reason : 'revoked';
}

const recordedReasons: ReadonlySet<string> = new Set<SignedOutReason>([
  'logged_out',
  'revoked',
  'replaced',
  'session_limit',
  'forced',
  'password_changed',
  'account_disabled',
  'account_deleted',
  'reused',
]);

/** Returns true if this version knows the reason. A newer service may send other reasons. */
function isRecordedReason(reason: string | undefined): reason is SignedOutReason {
  return reason !== undefined && recordedReasons.has(reason);
}
