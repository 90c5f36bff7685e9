import type { SignedOutReason } from '../events.ts';
import type { Reaction } from '../generated/reactions.ts';
import { AuthError, isCatalogueCode } from '../http/auth-error.ts';

/** What the client itself does about an error; every other reaction is the app's. */
export type OwnReaction = 'end_session' | 'refresh' | 'none';

/** Exhaustive: a reaction that is new in the catalogue does not compile until it is decided here whose it is. */
export function ownReactionTo(type: Reaction['type']): OwnReaction {
  switch (type) {
    case 'CLEAR_STORAGE_AND_LOGIN':
    case 'LOGIN':
      return 'end_session';
    case 'REFRESH_AND_RETRY':
      return 'refresh';
    case 'ABORT_JOB_AND_ALERT':
    case 'ASK_CODE':
    case 'ASK_GROUP_OWNER':
    case 'ASK_PASSWORD':
    case 'AUDIT_AND_RESET_CACHE':
    case 'BLOCK_BATCH':
    case 'BLOCK_PANTRY_AND_WAIT':
    case 'BLOCK_WRITE_OFF':
    case 'CHECK_CREDENTIALS':
    case 'CHECK_INVITE':
    case 'CHOOSE_ALLOWED_REASON':
    case 'CLOSE_STREAM_AND_CLEAR_BUFFER':
    case 'CONTACT_SUPPORT':
    case 'CUT_STREAM':
    case 'DISABLE_LIVE_LOGS':
    case 'FIX_INPUT':
    case 'FIX_REQUEST':
    case 'FORCE_LOGOUT':
    case 'HIDE_HINTS':
    case 'HIDE_MAP_AND_ALERT':
    case 'HIGHLIGHT_EMAIL_FIELD':
    case 'HIGHLIGHT_SCAN_ERROR':
    case 'INJECT_TRACE_ID':
    case 'LEAVE_GROUP_MODAL':
    case 'LOCK_AND_REPORT':
    case 'LOG_AND_ABORT':
    case 'MANUAL_MODERATION':
    case 'OFFER_RESTORE':
    case 'RECONNECT_WITH_OWN_SESSION':
    case 'REFRESH_SCREEN_AND_RESELECT':
    case 'REPEAT_DICTATION':
    case 'REPORT':
    case 'REQUEST_NEW_CODE':
    case 'REQUEST_NEW_INVITE':
    case 'REQUEUE_WITH_BACKOFF':
    case 'RESET_WEIGHTS':
    case 'RETRY_WITH_BACKOFF':
    case 'RETURN_EMPTY_LIST':
    case 'RETURN_TO_COOKBOOK':
    case 'REVOKE_INVITE':
    case 'SHOW_LOADER_WITH_RETRY':
    case 'SHOW_ZERO_STOCK':
    case 'START_BARCODE_PROCESSING':
    case 'SWITCH_TO_PHOTO_MODE':
    case 'USE_NEW_IDEMPOTENCY_KEY':
      return 'none';
    default:
      return type satisfies never;
  }
}

/**
 * Returns what ended the session, if the error of a refresh says that it has ended; undefined for every other error.
 * Only a code of the catalogue with its own status does: no time-out, no 429, no 5xx, no captive portal.
 */
export function endReasonOf(error: unknown): SignedOutReason | undefined {
  if (!(error instanceof AuthError) || error.status !== 401 || !isCatalogueCode(error.code)) return undefined;
  if (ownReactionTo(error.reaction.type) !== 'end_session') return undefined;
  if (error.code === 'IAD_JWT_REFRESH_EXPIRED') return 'expired';
  const { reason } = error.details as { readonly reason?: string };
  return isToldReason(reason) ? reason : 'revoked';
}

const toldReasons: ReadonlySet<string> = new Set<SignedOutReason>([
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

/** A newer service may tell a word that this version does not know. */
function isToldReason(reason: string | undefined): reason is SignedOutReason {
  return reason !== undefined && toldReasons.has(reason);
}
